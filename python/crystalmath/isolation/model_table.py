"""The table of models in a declaration: Python literals, read from the syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from crystalmath.isolation.script_block import DeclarationProblem
from crystalmath.services.ports_forces import ModelDeclaration

PROPERTIES: Final = (
    "energy", "free_energy", "forces", "stress", "energies", "stresses", "magmoms", "charges",
    "dipole",
)  # fmt: skip
_KEYS: Final = frozenset(
    {
        "source", "title", "default", "license", "license_text", "dtype", "properties", "elements",
        "toy_elements", "info_keys", "options", "warm",
    }
)  # fmt: skip
_WARM_KEYS: Final = frozenset({"symbols", "positions", "cell", "pbc", "info"})
_DOWNLOAD_KEYS: Final = frozenset({"url", "sha256", "bytes"})
_MODELS: Final = "MODELS"
_CHECKPOINTS: Final = "CHECKPOINTS"

Source = Literal["builtin", "package", "file", "download"]


def read_models(tree: ast.Module) -> tuple[ModelDeclaration, ...]:
    """Return what ``MODELS`` says, else what Rootstock's ``CHECKPOINTS`` says.

    Raises
    ------
    DeclarationProblem
        It is not made of literals, or says something that is not understood; with its line.
    """
    tables = {name: node for node in tree.body for name in _names(node)}
    if _MODELS in tables:
        models = tuple(
            _Entry(key, value, line).model()
            for key, value, line in _table(tables[_MODELS], _MODELS)
        )
        defaults = [one.id for one in models if one.default]
        if len(defaults) > 1:
            line = tables[_MODELS].lineno
            raise DeclarationProblem(f"line {line}: {' and '.join(defaults)} are both the default")
        return models
    if _CHECKPOINTS in tables:
        return tuple(
            _checkpoint(key, value) for key, value, _ in _table(tables[_CHECKPOINTS], _CHECKPOINTS)
        )
    return ()


def _names(node: ast.stmt) -> list[str]:
    """Names that a statement gives a value."""
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        return [node.target.id]
    return []


def _table(node: ast.stmt, name: str) -> list[tuple[str, Any, int]]:
    """Key, value and line of each entry of a dictionary."""
    assert isinstance(node, (ast.Assign, ast.AnnAssign))
    value = node.value
    if not isinstance(value, ast.Dict):
        raise DeclarationProblem(f"line {node.lineno}: {name} is no dictionary made of literals")
    found: list[tuple[str, Any, int]] = []
    for key_node, value_node in zip(value.keys, value.values, strict=True):
        line = (key_node or value_node).lineno
        key, entry = _literal(key_node, name, line), _literal(value_node, name, line)
        if not isinstance(key, str) or not key or key.startswith("/"):
            raise DeclarationProblem(f"line {line}: {key!r} is no name of a model")
        if any(key == other for other, _, _ in found):
            raise DeclarationProblem(f"line {line}: the model {key!r} is there twice")
        found.append((key, entry, line))
    return found


def _literal(node: ast.expr | None, name: str, line: int) -> Any:
    try:
        if node is None:
            raise ValueError
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise DeclarationProblem(f"line {line}: {name} is not made of literals") from None


def _checkpoint(key: str, value: Any) -> ModelDeclaration:
    """What such a model gives is not told; the worker finds out by trying."""
    return ModelDeclaration(
        id=key,
        source="package",
        properties=("energy", "forces", "stress"),
        title=value if isinstance(value, str) else None,
    )


class _Entry:
    """One entry of ``MODELS``."""

    def __init__(self, key: str, table: Any, line: int) -> None:
        self._key = key
        self._line = line
        if not isinstance(table, dict):
            raise self._problem("is no dictionary")
        self._table: Mapping[str, Any] = table
        for name in table:
            if name not in _KEYS:
                raise self._problem(f"has an unknown key {name!r} ({', '.join(sorted(_KEYS))})")

    def model(self) -> ModelDeclaration:
        """Return it, checked."""
        source, download = self._source()
        return ModelDeclaration(
            id=self._key,
            source=source,
            properties=self._properties(),
            default=self._of_type("default", bool, "neither True nor False") or False,
            title=self._text("title"),
            dtype=self._text("dtype"),
            license_id=self._text("license"),
            license_text=self._text("license_text"),
            elements=self._elements(),
            toy_elements=self._texts("toy_elements"),
            info_keys=self._texts("info_keys"),
            url=download.get("url"),
            sha256=download.get("sha256"),
            size_bytes=download.get("bytes"),
            options=self._named("options") or {},
            warm=self._warm(),
        )

    def _problem(self, why: str) -> DeclarationProblem:
        return DeclarationProblem(f"line {self._line}: the model {self._key!r} {why}")

    def _of_type(self, name: str, kind: type, wrong: str) -> Any:
        value = self._table.get(name)
        if value is None or isinstance(value, kind):
            return value
        raise self._problem(f"has a {name} that is {wrong}")

    def _text(self, name: str) -> str | None:
        text: str | None = self._of_type(name, str, "no text")
        return text

    def _texts(self, name: str) -> tuple[str, ...]:
        value = self._table.get(name, ())
        if isinstance(value, str):
            return tuple(value.split())
        if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise self._problem(f"has {name} that are no list of texts")

    def _named(self, name: str) -> dict[str, Any] | None:
        value: dict[str, Any] | None = self._of_type(name, dict, "no dictionary")
        if value is not None and not all(isinstance(key, str) for key in value):
            raise self._problem(f"has {name} whose keys are no texts")
        return value

    def _properties(self) -> tuple[str, ...]:
        names = self._texts("properties") or ("energy", "forces")
        for name in names:
            if name not in PROPERTIES:
                raise self._problem(f"gives {name!r}, which is none of {', '.join(PROPERTIES)}")
        return names

    def _elements(self) -> tuple[str, ...] | None:
        """Symbols; a bare count names none."""
        value = self._table.get("elements")
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return None
        return self._texts("elements")

    def _warm(self) -> dict[str, Any] | None:
        warm = self._named("warm")
        if warm is not None and not {"symbols", "positions"} <= warm.keys() <= _WARM_KEYS:
            raise self._problem("has a warm structure without symbols and positions, or with more "
                                f"than {', '.join(sorted(_WARM_KEYS))}")  # fmt: skip
        return warm

    def _source(self) -> tuple[Source, dict[str, Any]]:
        value = self._table.get("source", "package")
        if value in ("builtin", "package", "file"):
            return value, {}
        if not isinstance(value, dict) or value.keys() != _DOWNLOAD_KEYS:
            raise self._problem(
                "has a source that is none of builtin, package, file, {url, sha256, bytes}"
            )
        if not re.fullmatch(r"[0-9a-f]{64}", str(value["sha256"])):
            raise self._problem("has a sha256 that is not 64 hexadecimal digits")
        if not re.match(r"https://[^/]+/.*[^/]$", str(value["url"])):
            raise self._problem("has a url that is no https address of a file")
        if not isinstance(value["bytes"], int) or value["bytes"] <= 0:
            raise self._problem("has bytes that are no positive number")
        return "download", value
