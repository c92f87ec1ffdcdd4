"""What is wrong with a template itself, as opposed to what it is filled in with."""

from __future__ import annotations

from typing import Any

from crystalmath.errors import InputRejected


class TemplateFault(Exception):
    """A template cannot be used.

    Parameters
    ----------
    line
        Of the file, from 1.
    """

    def __init__(self, message: str, *, line: int | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.hint = hint

    def document(self) -> dict[str, Any]:
        """The fields of ``contract.templates.TemplateProblem``."""
        return {"message": self.message, "hint": self.hint, "line": self.line}

    def rejected(self, field: str) -> InputRejected:
        """The same as an error of the request that named or sent the template."""
        where = "the template" if self.line is None else f"line {self.line} of the template"
        return InputRejected(f"{where}: {self.message}", hint=self.hint, field=field)
