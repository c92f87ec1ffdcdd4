"""What is wrong with a shell script, as far as the shell tells without running it."""

from __future__ import annotations

import re
import subprocess
from typing import Any, Final

_SECONDS: Final = 10.0
_LINE: Final = re.compile(r"^[^\n]*?line (\d+): (.+)$")
_FIRST: Final = "#!/"


def lint_script(text: str) -> list[dict[str, Any]]:
    """Find what is wrong with a script; ``bash -n`` reads it and runs nothing.

    Returns
    -------
    list of dict
        The fields of ``contract.codes.LintFinding``.
    """
    found = []
    if not text.startswith(_FIRST):
        found.append(
            _finding(1, "shebang", "the first line does not say what runs it", "#!/bin/bash")
        )
    lines = text.split("\n")
    for i, line in enumerate(lines, 1):
        if "\r" in line:
            found.append(_finding(i, "carriage-return", "a carriage return", "end lines by LF"))
            break
    if lines[-1]:
        found.append(_finding(len(lines), "end", "the last line has no end", "end it by LF"))
    return sorted([*found, *_said_by_bash(text)], key=lambda one: one["line"])


def _said_by_bash(text: str) -> list[dict[str, Any]]:
    try:
        ran = subprocess.run(
            ["bash", "--norc", "--noprofile", "-n"],  # noqa: S607 - whichever the user has
            input=text.encode("utf-8"),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/local/bin"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return [_finding(1, "bash", "not checked: there is no bash that answers", "", "warning")]
    if ran.returncode == 0:
        return []
    said = ran.stderr.decode("utf-8", "replace").splitlines()
    matches = [match for line in said if (match := _LINE.match(line))]
    if not matches:
        return [_finding(1, "bash", "bash refuses the script", "")]
    first = matches[0]
    return [_finding(int(first[1]), "syntax", f"bash says: {first[2][:200]}", "")]


def _finding(
    line: int, code: str, message: str, hint: str, severity: str = "error"
) -> dict[str, Any]:
    return {
        "line": line,
        "column": 1,
        "severity": severity,
        "code": code,
        "message": message,
        "hint": hint,
    }
