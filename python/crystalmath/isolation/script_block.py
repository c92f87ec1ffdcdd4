"""The block ``# /// script`` at the head of a declaration (PEP 723), as TOML with its lines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from typing import Any

_BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""The expression of the specification of inline script metadata."""
_TOML_LINE = re.compile(r"\(at line (\d+), column (\d+)\)")


class DeclarationProblem(Exception):
    """Why a declaration cannot be used."""


class ScriptBlock:
    """Metadata of a script.

    Parameters
    ----------
    text
        The whole file.

    Raises
    ------
    DeclarationProblem
    """

    def __init__(self, text: str) -> None:
        found = [m for m in _BLOCK.finditer(text) if m["type"] == "script"]
        if len(found) != 1:
            raise DeclarationProblem("one block `# /// script` is needed (PEP 723)")
        self._lines = [line[2:] for line in found[0]["content"].splitlines()]
        self._first_line = text[: found[0].start()].count("\n") + 2
        try:
            self.table: Mapping[str, Any] = tomllib.loads("\n".join(self._lines) + "\n")
        except tomllib.TOMLDecodeError as error:
            at = _TOML_LINE.search(str(error))
            line = self._first_line + (int(at[1]) - 1 if at else 0)
            why = _TOML_LINE.sub("", str(error)).strip()
            raise DeclarationProblem(f"line {line}: its block is no TOML: {why}") from None

    def line_of(self, key: str) -> int:
        """Line of the file where a key is set, or the first one of the block."""
        pattern = re.compile(
            rf"""\s*["']?{re.escape(key)}["']?\s*[=.]|\s*\[.*\b{re.escape(key)}\b"""
        )
        for number, line in enumerate(self._lines):
            if pattern.match(line):
                return self._first_line + number
        return self._first_line

    def problem(self, key: str, why: str) -> DeclarationProblem:
        """Return the error that something is wrong with a key."""
        return DeclarationProblem(f"line {self.line_of(key)}: {why}")

    def check_keys(self, table: Mapping[str, Any], known: Collection[str], where: str) -> None:
        """Refuse keys that nothing reads."""
        for key in table:
            if key not in known:
                raise self.problem(key, f"{where} has no key {key!r} ({', '.join(sorted(known))})")

    def subtable(self, *names: str) -> Mapping[str, Any]:
        """Return a nested table, empty where it is absent."""
        table: Mapping[str, Any] = self.table
        for name in names:
            found = table.get(name, {})
            if not isinstance(found, dict):
                raise self.problem(name, f"{name} is no table")
            table = found
        return table

    def text(self, table: Mapping[str, Any], key: str) -> str | None:
        """Return a text."""
        value = table.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self.problem(key, f"{key} is no text")

    def flag(self, table: Mapping[str, Any], key: str) -> bool:
        """Return true or false; false where it is absent."""
        value = table.get(key, False)
        if isinstance(value, bool):
            return value
        raise self.problem(key, f"{key} is neither true nor false")

    def texts(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = table.get(key, [])
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise self.problem(key, f"{key} is no list of texts")
