"""Declaration files: one Python file for each environment, read and never executed.

The PEP 723 block is TOML; ``MODELS`` (or Rootstock's ``CHECKPOINTS``) are Python literals; that
there is a ``setup`` is seen in the syntax tree. What cannot be used is told with its line.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from crystalmath.services.ports_forces import EngineDeclaration, ModelDeclaration

_BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""The expression of the specification of inline script metadata."""
_NAME = re.compile(r"^[a-z][a-z0-9_]{0,39}$", re.ASCII)
_EXACT = re.compile(r"^[A-Za-z0-9._-]+(\[[A-Za-z0-9._,-]+\])?\s*(==\s*[A-Za-z0-9.!+_-]+|@\s*\S+)")
_KEYS: Final = frozenset(
    {"kind", "title", "import-first", "python", "host", "additive", "install-mb", "elements"}
)
_MODEL_KEYS: Final = frozenset(
    {
        "source", "title", "default", "license", "license_text", "dtype", "properties", "elements",
        "toy_elements", "info_keys", "options", "warm",
    }
)  # fmt: skip
PROPERTIES: Final = (
    "energy", "free_energy", "forces", "stress", "energies", "stresses", "magmoms", "charges",
    "dipole",
)  # fmt: skip


class _Problem(Exception):
    """Why a declaration cannot be used."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration with what only this room needs.

    Attributes
    ----------
    uv_tables
        ``[tool.uv]`` of the block: indexes, sources, find-links.
    install_bytes
        About what an installation fetches, as the declaration says.
    """

    engine: EngineDeclaration
    uv_tables: Mapping[str, Any]
    install_bytes: int | None = None


def load_declarations(shipped: Path, user: Path | None) -> list[Declared]:
    """Read every ``NAME.py`` of both folders; unusable ones keep their ``problem``."""
    found = {path.stem: load_declaration(path, "shipped") for path in _files(shipped)}
    for path in _files(user) if user is not None else ():
        declared = load_declaration(path, "user")
        if path.stem in found:
            name = path.stem
            problem = f"{path}: an engine {name} is shipped; give the file another name"
            hidden = replace(declared.engine, name=f"{name} (user)", problem=problem)
            declared = replace(declared, engine=hidden)
        found[declared.engine.name] = declared
    return [found[name] for name in sorted(found)]


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.glob("*.py") if p.is_file() and not p.name.startswith("_"))


def load_declaration(path: Path, origin: Literal["shipped", "user"]) -> Declared:
    """Read one file; never raises, and never executes it."""
    empty = EngineDeclaration(name=path.stem, path=path, kind="engine", origin=origin)
    try:
        text = path.read_text(encoding="utf-8")
        return _read(text, empty)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8 text"
        return Declared(replace(empty, problem=f"{path}: {why}"), {})
    except _Problem as problem:
        return Declared(replace(empty, problem=f"{path}: {problem}"), {})


def _read(text: str, empty: EngineDeclaration) -> Declared:
    if not _NAME.match(empty.name):
        raise _Problem("a name is lower-case letters, digits and _, at most 40")
    block, first_line = _block(text)
    table = block.get("tool", {}).get("crystalmath", {})
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        line = _line_of(text, unknown[0], first_line)
        raise _Problem(f"line {line}: [tool.crystalmath] has no key {unknown[0]!r}")
    kind = table.get("kind", "engine")
    if kind not in ("engine", "extension"):
        raise _Problem(f"kind is {kind!r}; engine or extension is meant")
    dependencies = tuple(block.get("dependencies", ()))
    external, host = table.get("python"), bool(table.get("host", False))
    if sum((bool(dependencies), external is not None, host)) != 1:
        raise _Problem("give exactly one of dependencies, [tool.crystalmath] python, host")
    tree = _parse(text)
    if kind == "engine" and "setup" not in _functions(tree):
        raise _Problem("there is no function setup(model, device=…)")
    first = table.get("import-first", [])
    install_mb = table.get("install-mb")
    engine = replace(
        empty,
        kind=kind,
        title=table.get("title"),
        requires_python=block.get("requires-python"),
        dependencies=dependencies,
        external_python=external,
        host_interpreter=host,
        import_first=(first,) if isinstance(first, str) else tuple(first),
        additive=bool(table.get("additive", False)),
        models=_models(tree),
        warnings=tuple(
            f"{one!r} is no exact pin: another version may be installed on another day"
            for one in dependencies
            if not _EXACT.match(one)
        ),
    )
    install_bytes = None if install_mb is None else int(install_mb * 1e6)
    return Declared(engine, block.get("tool", {}).get("uv", {}), install_bytes)


def _block(text: str) -> tuple[dict[str, Any], int]:
    """Return the ``script`` block and its first line."""
    found = [m for m in _BLOCK.finditer(text) if m["type"] == "script"]
    if len(found) != 1:
        raise _Problem("one block `# /// script` is needed at its beginning (PEP 723)")
    content = "".join(
        line[2:] if line.startswith("# ") else line[1:]
        for line in found[0]["content"].splitlines(keepends=True)
    )
    first_line = text[: found[0].start()].count("\n") + 2
    try:
        return tomllib.loads(content), first_line
    except tomllib.TOMLDecodeError as error:
        raise _Problem(f"its block (from line {first_line}) is no TOML: {error}") from None


def _line_of(text: str, key: str, first_line: int) -> int:
    for number, line in enumerate(text.splitlines(), start=1):
        if number >= first_line and line.lstrip("# ").startswith(key):
            return number
    return first_line


def _parse(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise _Problem(f"line {line}: it is no Python") from None


def _functions(tree: ast.Module) -> set[str]:
    return {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}


def _models(tree: ast.Module) -> tuple[ModelDeclaration, ...]:
    for node in tree.body:
        value, names = _assigned(node)
        if value is None or not names & {"MODELS", "CHECKPOINTS"}:
            continue
        name = "MODELS" if "MODELS" in names else "CHECKPOINTS"
        try:
            table = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise _Problem(f"line {node.lineno}: {name} is not made of literals") from None
        if not isinstance(table, dict) or not all(isinstance(key, str) for key in table):
            raise _Problem(f"line {node.lineno}: {name} is no dictionary with names as keys")
        if name == "CHECKPOINTS":
            return _checkpoints(table)
        return tuple(_model(key, value, node.lineno) for key, value in table.items())
    return ()


def _assigned(node: ast.stmt) -> tuple[ast.expr | None, set[str]]:
    """Value and names of an assignment."""
    if isinstance(node, ast.Assign):
        return node.value, {t.id for t in node.targets if isinstance(t, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.value, {node.target.id}
    return None, set()


def _checkpoints(table: dict[str, Any]) -> tuple[ModelDeclaration, ...]:
    """Rootstock's table: what a model gives is not told, and is found by trying."""
    return tuple(
        ModelDeclaration(
            id=key,
            source="package",
            properties=("energy", "forces", "stress"),
            default=place == 0,
            title=value if isinstance(value, str) else None,
        )
        for place, (key, value) in enumerate(table.items())
    )


def _model(key: str, table: Any, line: int) -> ModelDeclaration:
    where = f"line {line}: model {key!r}"
    if not isinstance(table, dict):
        raise _Problem(f"{where} is no dictionary")
    unknown = sorted(set(table) - _MODEL_KEYS)
    if unknown:
        raise _Problem(f"{where} has an unknown key {unknown[0]!r}")
    properties = tuple(table.get("properties", ("energy", "forces")))
    wrong = sorted(set(properties) - set(PROPERTIES))
    if wrong:
        raise _Problem(f"{where}: {wrong[0]!r} is no property; {', '.join(PROPERTIES)} are")
    source, download = _source(table.get("source", "package"), where)
    return ModelDeclaration(
        id=key,
        source=source,
        properties=properties,
        default=bool(table.get("default", False)),
        title=table.get("title"),
        dtype=table.get("dtype"),
        license_id=table.get("license"),
        license_text=table.get("license_text"),
        elements=_symbols(table.get("elements")),
        toy_elements=_symbols(table.get("toy_elements")) or (),
        info_keys=tuple(table.get("info_keys", ())),
        url=download.get("url"),
        sha256=download.get("sha256"),
        size_bytes=download.get("bytes"),
        options=dict(table.get("options", {})),
        warm=table.get("warm"),
    )


def _source(
    value: Any, where: str
) -> tuple[Literal["builtin", "package", "file", "download"], dict[str, Any]]:
    if value in ("builtin", "package", "file"):
        return value, {}
    if isinstance(value, dict) and set(value) == {"url", "sha256", "bytes"}:
        if not re.fullmatch(r"[0-9a-f]{64}", str(value["sha256"])):
            raise _Problem(f"{where}: its sha256 has not 64 hexadecimal digits")
        if not str(value["url"]).startswith("https://"):
            raise _Problem(f"{where}: its url is no https address")
        return "download", value
    raise _Problem(f"{where}: source is builtin, package, file or {{url, sha256, bytes}}")


def _symbols(value: Any) -> tuple[str, ...] | None:
    """Symbols from a list or a text; a bare count names none."""
    if isinstance(value, str):
        return tuple(value.split())
    if isinstance(value, (list, tuple)):
        return tuple(str(one) for one in value)
    return None
