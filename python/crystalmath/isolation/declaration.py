"""Declaration files: one Python file for each environment, read and never executed.

The PEP 723 block is TOML (``script_block``); ``MODELS`` (or Rootstock's ``CHECKPOINTS``) are Python
literals (``model_table``); that there is a ``setup`` is seen in the syntax tree. What cannot be
used is told with its line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from crystalmath.isolation.model_table import read_models
from crystalmath.isolation.script_block import DeclarationProblem, ScriptBlock
from crystalmath.services.ports_forces import EngineDeclaration, ModelDeclaration

_NAME = re.compile(r"^[a-z][a-z0-9_]{0,39}$", re.ASCII)
_MODULE = re.compile(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$", re.ASCII)
_MOST_BYTES: Final = 1 << 20
_TOP_KEYS: Final = ("requires-python", "dependencies", "tool")
_KEYS: Final = ("kind", "title", "import-first", "python", "host", "additive", "install-mb")


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
        if path.stat().st_size > _MOST_BYTES:
            return Declared(replace(empty, problem=f"{path}: it is larger than 1 MiB"), {})
        return _taken_apart(path.read_text(encoding="utf-8-sig"), empty)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8 text"
        return Declared(replace(empty, problem=f"{path}: {why}"), {})


@lru_cache(maxsize=256)
def _taken_apart(text: str, empty: EngineDeclaration) -> Declared:
    """Kept, since every look at an engine comes here."""
    try:
        return _Reader(text, empty).declared()
    except DeclarationProblem as problem:
        return Declared(replace(empty, problem=f"{empty.path}: {problem}"), {})


class _Reader:
    """Takes one file apart; every method may raise ``DeclarationProblem``."""

    def __init__(self, text: str, empty: EngineDeclaration) -> None:
        if not _NAME.match(empty.name):
            raise DeclarationProblem("a name is lower-case letters, digits and _, at most 40")
        self._empty = empty
        self._block = ScriptBlock(text)
        self._block.check_keys(self._block.table, _TOP_KEYS, "the block")
        self._table = self._block.subtable("tool", "crystalmath")
        self._block.check_keys(self._table, _KEYS, "[tool.crystalmath]")
        self._tree = _parse(text)

    def declared(self) -> Declared:
        uv_tables = self._block.subtable("tool", "uv")
        dependencies = self._block.texts(self._block.table, "dependencies")
        engine = replace(
            self._empty,
            kind=self._kind(),
            title=self._block.text(self._table, "title"),
            requires_python=self._requires_python(),
            dependencies=dependencies,
            external_python=self._external_python(),
            host_interpreter=self._block.flag(self._table, "host"),
            import_first=self._import_first(),
            additive=self._block.flag(self._table, "additive"),
            models=self._models(),
            warnings=tuple(self._warnings(dependencies)),
        )
        ways = (bool(dependencies), engine.external_python is not None, engine.host_interpreter)
        if sum(ways) != 1:
            why = "give exactly one of dependencies, [tool.crystalmath] python, host"
            raise self._block.problem("dependencies", why)
        return Declared(engine, uv_tables, self._install_bytes())

    def _kind(self) -> Literal["engine", "extension"]:
        kind = self._block.text(self._table, "kind")
        if kind in (None, "engine"):
            return "engine"
        if kind == "extension":
            return "extension"
        raise self._block.problem("kind", f"kind is {kind!r}; engine or extension is meant")

    def _requires_python(self) -> str | None:
        text = self._block.text(self._block.table, "requires-python")
        try:
            SpecifierSet(text or "")
        except InvalidSpecifier:
            why = f"requires-python is {text!r}, which is no version specifier"
            raise self._block.problem("requires-python", why) from None
        return text

    def _external_python(self) -> str | None:
        python = self._block.text(self._table, "python")
        if python is not None and not python.startswith("/"):
            raise self._block.problem("python", "python is no absolute path of an interpreter")
        return python

    def _import_first(self) -> tuple[str, ...]:
        if isinstance(self._table.get("import-first"), str):
            names: tuple[str, ...] = (self._table["import-first"],)
        else:
            names = self._block.texts(self._table, "import-first")
        for name in names:
            if not _MODULE.match(name):
                raise self._block.problem("import-first", f"{name!r} is no name of a module")
        return names

    def _install_bytes(self) -> int | None:
        value = self._table.get("install-mb")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e6:
            raise self._block.problem("install-mb", "install-mb is no number of megabytes")
        return int(value * 1e6)

    def _models(self) -> tuple[ModelDeclaration, ...]:
        functions = {
            n.name
            for n in self._tree.body
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        if self._kind() == "engine" and "setup" not in functions:
            raise DeclarationProblem("there is no function setup(model, device=…)")
        return read_models(self._tree)

    def _warnings(self, dependencies: tuple[str, ...]) -> list[str]:
        found = []
        for one in dependencies:
            try:
                requirement = Requirement(one)
            except InvalidRequirement:
                why = f"{one!r} is no requirement, such as ase==3.29.0"
                raise self._block.problem("dependencies", why) from None
            if not _is_exact(requirement):
                found.append(
                    f"{one!r} is no exact pin: another version may be installed on another day"
                )
        return found


def _is_exact(requirement: Requirement) -> bool:
    """Whether it names one version (or one file) only."""
    return requirement.url is not None or any(
        one.operator in ("==", "===") and not one.version.endswith(".*")
        for one in requirement.specifier
    )


def _parse(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise DeclarationProblem(f"line {line or 1}: it is no Python") from None


def package_name(engine: EngineDeclaration) -> str | None:
    """Distribution that gives an engine its version: the first one that it asks for."""
    return Requirement(engine.dependencies[0]).name if engine.dependencies else None
