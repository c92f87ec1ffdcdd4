"""A setup line that ends the shell is told as what it is; on shells of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from crystalmath.errors import SetupFailed
from crystalmath.runners.shells.local import LocalShell

_S = 60.0


@pytest.mark.parametrize(
    ("lines", "number", "word"),
    [
        (("exit 1",), 1, ""),
        (("export A=1", "exec true"), 2, ""),
        (("true", ". /nowhere/modules.sh", "true"), 2, "modules.sh"),
        (("true", "set -e", "false", "true"), 3, ""),
        (("true", "if true; then", "exit 3", "fi"), 4, ""),
        (("set -u", 'cd "${CM_NOWHERE:?not set}"'), 2, "not set"),
    ],
)
def test_the_line_is_named(lines: tuple[str, ...], number: int, word: str) -> None:
    shell = LocalShell(setup_commands=lines)
    with pytest.raises(SetupFailed) as caught:
        shell.run("echo never", deadline_s=_S)
    assert f"the setup line {number}, `{lines[number - 1]}`" in caught.value.message
    assert word in caught.value.message
    assert caught.value.field == "setup_commands"
    assert not caught.value.retryable


def test_lines_that_fail_and_go_on_are_not_at_fault(tmp_path: Path) -> None:
    lines = ("false", "no-such-command-here", "if true; then", "B=2", "fi", "export A=1")
    ran = LocalShell(setup_commands=lines).run("echo $A", deadline_s=_S)
    assert (ran.out, ran.rc, ran.noise) == (b"1\n", 0, b"")


def test_an_open_quote_is_named() -> None:
    with pytest.raises(SetupFailed, match=r"setup line 2, `echo \"open`.* not a whole command"):
        LocalShell(setup_commands=("true", 'echo "open')).run(":", deadline_s=_S)


def test_a_line_that_takes_too_long_is_unknown() -> None:
    ran = LocalShell(setup_commands=("sleep 60",)).run(":", deadline_s=0.3)
    assert (ran.rc, ran.ended_in_setup) == (None, False)
