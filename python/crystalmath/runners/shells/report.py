"""The report of ``clusters.test``: every part on its own, with what is wrong and what to do."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from crystalmath.errors import SshError
from crystalmath.runners.shells.connection import Opened
from crystalmath.runners.shells.facts import noise_lines, scratch_script
from crystalmath.runners.shells.host_keys import HostKeyOffer
from crystalmath.services.ports_shell import Shell, ShellFacts

if TYPE_CHECKING:
    from crystalmath.runners.shells.authentication import LoggedIn

_PART_S: Final = 10.0
_SKEW_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and what to do about it."""

    stage: str
    message: str
    hint: str | None = None
    kind: str = "ssh"


@dataclass(frozen=True, slots=True)
class Scratch:
    """The directory that jobs would run in."""

    path: str
    writable: bool
    free_bytes: int | None


@dataclass(slots=True)
class ConnectionReport:
    """What was found out about a connection.

    Attributes
    ----------
    config_source
        Who read the ssh configuration; anything but ``ssh -G`` may miss parts of it.
    host_keys, logged_in
        Of each hop that was reached, the host itself last.
    error
        What ended the test before its end.
    """

    config_source: str
    shell: str = "paramiko"
    why_shell: str = "keys and agents are enough for this host"
    reachable: bool = False
    host_keys: list[HostKeyOffer] = field(default_factory=list)
    logged_in: list[LoggedIn] = field(default_factory=list)
    banner: tuple[str, ...] = ()
    facts: ShellFacts | None = None
    scratch: Scratch | None = None
    problems: list[Problem] = field(default_factory=list)
    error: SshError | None = None

    def take_opened(self, opened: Opened) -> None:
        """Note how far the connection came."""
        self.host_keys = list(opened.host_keys)
        self.logged_in = list(opened.logged_in)
        self.banner = noise_lines(opened.banner.encode())
        if self.config_source != "ssh -G":
            self.problem(
                "config",
                "there is no `ssh` here, so `Include` in the ssh configuration was not followed",
                "Install OpenSSH's client.",
            )

    def failed(self, error: SshError) -> None:
        """Note what ended the test; a host that said no was reached."""
        self.error = error
        self.reachable = error.stage not in {"config", "resolve", "connect"}
        self.problems.append(
            Problem(error.stage or "connect", error.message, error.hint, error.kind)
        )

    def problem(self, stage: str, message: str, hint: str | None = None) -> None:
        """Note a problem that ends nothing."""
        self.problems.append(Problem(stage, message, hint))


def examine(shell: Shell, report: ConnectionReport, *, scratch: str | None, until: float) -> None:
    """Look at a host that is connected to; a part that fails leaves the others."""
    report.reachable = True

    def left() -> float:
        return max(0.1, min(_PART_S, until - time.monotonic()))

    try:
        report.facts = facts = shell.probe(deadline_s=left())
    except SshError as err:
        report.failed(err)
        return
    if facts.facts.get("sftp_trouble"):
        report.problem(
            "transfer",
            f"SFTP does not work: {facts.facts['sftp_trouble']}",
            "Files go through the shell instead.",
        )
    if abs(facts.clock_offset_s) > _SKEW_S:
        report.problem(
            "session",
            f"the host's clock is {facts.clock_offset_s:+.0f} s off",
            "Times of jobs will look wrong until one of the clocks is set.",
        )
    if scratch is not None:
        _examine_scratch(shell, report, scratch, left())


def _examine_scratch(
    shell: Shell, report: ConnectionReport, scratch: str, deadline_s: float
) -> None:
    try:
        ran = shell.run(scratch_script(scratch), deadline_s=deadline_s)
    except SshError as err:
        report.problem("transfer", err.message, err.hint)
        return
    said = dict(line.split(" ", 1) for line in ran.out_text().splitlines() if " " in line)
    free = said.get("free", "")
    writable = ran.rc == 0
    report.scratch = Scratch(
        said.get("path", scratch), writable, int(free) * 1024 if free.isdigit() else None
    )
    if not writable:
        lines = ran.err_text().strip().splitlines()
        report.problem(
            "transfer",
            f"{scratch} cannot be written" + (f": {lines[-1]}" if lines else ""),
            "Look at `remote_workdir`.",
        )
