"""One supervised run, from the claim to the receipt.

Runs in a process of its own, started through ``supervisor``; the daemon may come and go meanwhile.
It takes the attempt, starts the program, waits for its end, a SIGTERM (cancel) or the walltime,
ends what is left of the run and writes ``end.json``. It judges nothing: what an exit code means is
for the code adapters. Standard library only, and nothing is imported later than here: the files of
this version may be replaced while a run goes on.

Waiting is ``sigtimedwait`` on blocked signals, so no signal can arrive between two steps unseen.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import time

from . import ending, procfs, program, receipts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SIGNALS = frozenset({signal.SIGCHLD, signal.SIGTERM})
_DISK_FULL_BYTES = 1 << 20
_FAILURE_CHARACTERS = 400
_LONGEST_WAIT_S = 86_400.0


def main(directory: str, attempt: int) -> None:
    """Run an attempt; the first line on standard output says whether it was taken.

    ``claimed``, ``taken`` (somebody else has it; nothing was touched), or ``error`` with errno and
    text (nothing was taken). Afterwards standard output is the log.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    os.chdir(directory)
    launch = receipts.load(receipts.path_of(".", receipts.launch_name(attempt)))
    if launch is None:
        _tell(f"error {errno.ENOENT} no launch document for attempt {attempt}")
        return
    owner = _identity(launch)
    try:
        claimed = receipts.claim(".", attempt, owner)
    except OSError as error:
        _tell(f"error {error.errno} {error.strerror}")
        return
    _tell("claimed" if claimed else "taken")
    if claimed:
        _Run(launch, owner).run()


def _identity(launch: dict[str, Any]) -> dict[str, Any]:
    pid = os.getpid()
    return {
        "version": receipts.FORMAT,
        "key": launch["key"],
        "attempt": launch["attempt"],
        "host": os.uname().nodename,
        "pid": pid,
        "pid_start": procfs.start_ticks(pid),
        "boot_id": procfs.boot_id(),
    }


def _tell(word: str) -> None:
    try:
        os.write(1, f"{word}\n".encode("utf-8", "replace"))
    except BrokenPipeError:
        os.write(2, b"the daemon went away during the launch; the run goes on\n")
    os.dup2(2, 1)


class _Run:
    """The run of one claimed attempt."""

    def __init__(self, launch: dict[str, Any], owner: dict[str, Any]) -> None:
        self.launch = launch
        self.owner = owner
        self.attempt: int = launch["attempt"]
        self.key: str = launch["key"]
        self.warned = False

    def run(self) -> None:
        """Start the program, wait and leave the receipt."""
        if signal.SIGTERM in signal.sigpending():
            self._finish("cancel", time.time())
            return
        environment = {
            **procfs.own_environment(),
            **self.launch["env"],
            procfs.KEY_VARIABLE: self.key,
            procfs.ATTEMPT_VARIABLE: str(self.attempt),
        }
        t_start = time.time()
        try:
            pid = program.start(
                self.launch["argv"], environment, self.launch["stdout"], self.launch["stderr"]
            )
        except (program.NotStarted, OSError) as error:
            self._finish("not_started", t_start, failure=str(error)[:_FAILURE_CHARACTERS])
            return
        self._note_start(pid, t_start)
        cause = self._wait(pid)
        t_end = time.time()
        # A supervisor may meet the document of a daemon that knows of no lingering.
        linger_s = self.launch.get("linger_s", 0.0) if cause == "exit" else 0.0
        left = ending.left_behind(self.key, pid, linger_s)
        unkillable = ending.end_all(
            self.key, pid, self.launch["grace_s"], self.launch["kill_patience_s"]
        )
        _, status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        self._finish(
            cause,
            t_start,
            rc=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            t_end=t_end if cause == "exit" else time.time(),
            max_rss_kib=usage.ru_maxrss,
            cpu_s=round(usage.ru_utime + usage.ru_stime, 3),
            leftover=left if cause == "exit" else 0,
            unkillable=unkillable,
        )

    def _note_start(self, pid: int, t_start: float) -> None:
        document = {
            **self.owner,
            "program_pid": pid,
            "program_start": procfs.start_ticks(pid),
            "t_start": t_start,
        }
        try:
            receipts.publish(".", self.attempt, "start.json", document)
        except OSError as error:
            # The program runs and is to be waited for all the same; it only looks not yet started.
            sys.stderr.write(f"attempt {self.attempt}: start.json: {error}\n")
            sys.stderr.flush()

    def _wait(self, pid: int) -> str:
        """Wait for the end or a reason to end it; an end that is there already wins."""
        begin = time.monotonic()
        walltime_s = self.launch["walltime_s"]
        end_at = begin + walltime_s if walltime_s is not None else None
        warn_at = None
        if walltime_s is not None and self.launch["warn_lead_s"] > 0:
            warn_at = begin + walltime_s - min(self.launch["warn_lead_s"], walltime_s / 4)
        while True:
            now = time.monotonic()
            due = [moment for moment in (warn_at, end_at) if moment is not None]
            wait_s = max(0.0, min(due) - now) if due else _LONGEST_WAIT_S
            got = signal.sigtimedwait(_SIGNALS, wait_s)
            # WNOWAIT leaves it a zombie, so that its pid, the group's number, is not given away.
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return "exit"
            if got is not None and got.si_signo == signal.SIGTERM:
                return "cancel"
            now = time.monotonic()
            if end_at is not None and now >= end_at:
                return "walltime"
            if warn_at is not None and now >= warn_at:
                self.warned = ending.warn(pid)
                warn_at = None

    def _finish(self, cause: str, t_start: float, **facts: Any) -> None:
        space = os.statvfs(".")
        document = {
            "version": receipts.FORMAT,
            "key": self.key,
            "attempt": self.attempt,
            "host": self.owner["host"],
            "cause": cause,
            "rc": None,
            "signal": None,
            "failure": None,
            "t_start": t_start,
            "t_end": time.time(),
            "max_rss_kib": None,
            "cpu_s": None,
            "disk_full": space.f_bavail * space.f_frsize < _DISK_FULL_BYTES,
            "warned": self.warned,
            "leftover": 0,
            "unkillable": 0,
            **facts,
        }
        receipts.publish(".", self.attempt, "end.json", document)
        sys.exit(0)
