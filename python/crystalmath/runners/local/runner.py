"""The local runner: the daemon's side of the runs on this machine.

It starts supervisors and reads what they leave. It holds no state: everything it says comes from
the job directory and the kernel, so every call may be repeated, by this daemon or the next one. It
judges no calculation; the pump and the code adapters do. Called by the pump, built by ``api``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from crystalmath.errors import Conflict, NotImplementedYet
from crystalmath.runners.local import procfs, receipts
from crystalmath.services.ports import EndReceipt, Handle, Launch, Observation

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_RECEIPT_FIELDS = tuple(field.name for field in fields(EndReceipt))
_ALIVE = frozenset({"claimed", "running"})


@dataclass(frozen=True, slots=True)
class Durations:
    """How long the local runner and its supervisors wait.

    Attributes
    ----------
    grace_s
        From TERM to KILL.
    kill_patience_s
        How long killed processes other than the program may take to vanish before the receipt
        is written without them.
    warn_lead_s
        How long before the walltime USR1 is sent, at most; never earlier than three quarters of
        the walltime. 0 sends none. Only programs that have a handler for USR1 get it.
    linger_s
        How long processes may outlive their program before they count as left behind and are
        ended.
    claim_s
        How long ``launch`` waits for the supervisor's word.
    """

    grace_s: float = 10.0
    kill_patience_s: float = 30.0
    warn_lead_s: float = 120.0
    linger_s: float = 2.0
    claim_s: float = 30.0


class LocalRunner:
    """Runs programs on this machine, each under a supervisor that outlives the daemon.

    Parameters
    ----------
    durations
        See ``Durations``.
    environment
        What every program's environment begins with; default: this process's own, so that PATH,
        HOME and the settings of modules are there. It reaches the program through the supervisor
        and is not written to disk; ``Launch.env`` is, and goes on top.
    watch
        Told of each supervisor that is seen alive: its pid and its start in ticks since boot.
    """

    name = "local"

    def __init__(
        self,
        durations: Durations | None = None,
        environment: Mapping[str, str] | None = None,
        watch: Callable[[int, int], None] | None = None,
    ) -> None:
        self._durations = durations if durations is not None else Durations()
        self._watch = watch
        base = os.environ if environment is None else environment
        # A daemon that was started from within a job must not pass that job's key on.
        self._environment = {k: v for k, v in base.items() if k not in procfs.JOB_VARIABLES}

    def launch(self, launch: Launch) -> None:
        """Start the program once: an attempt that is claimed already is left alone.

        Returns when the supervisor has taken the attempt; whether the program itself could be
        started is seen by ``observe``.

        Raises
        ------
        Conflict
            The directory is another job's, or an earlier attempt still runs in it.
        OSError
            Nothing was started, e.g. for want of disk space, or (``TimeoutError``) the supervisor
            has not answered yet. Trying again is safe.
        NotImplementedYet
            This machine does not run Linux.
        """
        if not procfs.available():
            raise NotImplementedYet("local jobs need /proc, which only Linux has")
        launched, claimed = receipts.attempts(launch.directory)
        if claimed and max(claimed) >= launch.attempt:
            _check_owner(launch.directory, max(claimed), launch.key)
            return
        for earlier in launched - claimed:
            if earlier < launch.attempt:
                # Its supervisor may be slow rather than dead; it shall not begin beside this one.
                _withdraw(launch.directory, earlier, launch.key)
        _, claimed = receipts.attempts(launch.directory)
        if claimed and _look(launch.directory, max(claimed), launch.key).phase in _ALIVE:
            raise Conflict(f"attempt {max(claimed)} still runs in {launch.directory.name}")
        self._write_document(launch)
        self._start_supervisor(launch)
        if self._watch is not None:
            self.observe(launch.directory, launch.key)

    def observe(self, directory: Path, key: str) -> Observation:
        """Look at the newest attempt; changes nothing of it.

        A few small reads while the supervisor lives; only without it and without a receipt are
        all processes looked through. A program may have removed what the directory knew of it:
        it still runs as long as a process carries its key.

        Raises
        ------
        Conflict
            The directory was claimed by another job.
        """
        launched, claimed = receipts.attempts(directory)
        if not claimed or max(launched, default=0) > max(claimed):
            return Observation("unclaimed" if procfs.gone(key) else "running")
        seen = _look(directory, max(claimed), key)
        if self._watch is not None and seen.phase in _ALIVE and seen.handle is not None:
            self._watch(seen.handle.pid, seen.handle.pid_start)
        return seen

    def cancel(self, directory: Path, key: str) -> None:
        """Ask the newest attempt to end; returns at once, and may be repeated.

        An attempt that nobody has taken yet is taken here, so that it never starts. A supervisor
        does the rest by itself. Where it is gone and the program lives, this call sends TERM, and
        the first call after the grace KILL; at once where the directory no longer tells of the run.

        Raises
        ------
        Conflict
            The directory was claimed by another job.
        """
        launched, claimed = receipts.attempts(directory)
        newest = max(launched | claimed, default=0)
        if newest == 0:
            _signal_all(key, signal.SIGKILL)
            return
        if newest not in claimed and _withdraw(directory, newest, key):
            return
        seen = _look(directory, newest, key)
        if seen.phase not in _ALIVE:
            return
        if seen.handle is None:
            _signal_all(key, signal.SIGKILL)
            return
        if procfs.alive(seen.handle.pid, seen.handle.pid_start):
            # CONT, because a stopped supervisor could not act.
            for signum in (signal.SIGTERM, signal.SIGCONT):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(seen.handle.pid, signum)
        else:
            self._cancel_orphans(directory, newest, key)

    def _write_document(self, launch: Launch) -> None:
        Path(receipts.path_of(launch.directory)).mkdir(mode=0o700, exist_ok=True)
        document = {
            "version": receipts.FORMAT,
            "key": launch.key,
            "attempt": launch.attempt,
            "argv": list(launch.argv),
            "env": dict(launch.env),
            "stdout": launch.stdout,
            "stderr": launch.stderr,
            "walltime_s": launch.walltime_s,
            "warn_lead_s": self._durations.warn_lead_s,
            "grace_s": self._durations.grace_s,
            "kill_patience_s": self._durations.kill_patience_s,
            "linger_s": self._durations.linger_s,
        }
        name = receipts.launch_name(launch.attempt)
        receipts.save(receipts.path_of(launch.directory, name), document)

    def _start_supervisor(self, launch: Launch) -> None:
        folder = launch.directory.absolute()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        log = os.open(receipts.path_of(launch.directory, "supervisor.log"), flags, 0o600)
        try:
            # The first process detaches its child and ends at once, so it is reaped here and
            # init gets the supervisor.
            first = subprocess.Popen(
                [sys.executable, "-I", "-S", _SUPERVISOR, folder, str(launch.attempt)],
                cwd=folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                close_fds=True,
                start_new_session=True,
            )
        finally:
            os.close(log)
        assert first.stdout is not None
        with first.stdout:
            try:
                said = first.communicate(timeout=self._durations.claim_s)[0]
            except subprocess.TimeoutExpired:
                # Slow is not dead, so it is left alone; a thread reaps it when it ends.
                threading.Thread(target=first.wait, name="late-supervisor", daemon=True).start()
                raise TimeoutError(
                    f"the supervisor gave no word in {self._durations.claim_s:g} s"
                ) from None
        _understand(said.decode("utf-8", "replace").strip())

    def _cancel_orphans(self, directory: Path, attempt: int, key: str) -> None:
        note = receipts.path_of(directory, receipts.claim_name(attempt), "cancelled.json")
        asked = receipts.load(note)
        # The monotonic clock is the same for all processes of one boot, and _look checked the boot.
        now = time.monotonic()
        if asked is None:
            receipts.save(note, {"version": receipts.FORMAT, "monotonic_s": now})
            _signal_all(key, signal.SIGTERM, signal.SIGCONT)
        elif now - asked["monotonic_s"] >= self._durations.grace_s:
            _signal_all(key, signal.SIGKILL)


def _signal_all(key: str, *signals: signal.Signals) -> None:
    for pid in procfs.members(key):
        for signum in signals:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signum)


def _understand(word: str) -> None:
    """Raise what the supervisor's first line means."""
    if word in ("claimed", "taken"):
        return
    kind, _, rest = word.partition(" ")
    number, _, text = rest.partition(" ")
    if kind == "error" and number.isdigit():
        raise OSError(int(number), text)
    raise OSError("the supervisor ended without a word; supervisor.log may say why")


def _check_owner(directory: Path, attempt: int, key: str) -> dict[str, Any]:
    owner = receipts.owner_of(directory, attempt)
    if owner is None:
        raise OSError(f"the claim of attempt {attempt} in {directory.name} is damaged")
    if owner["key"] != key:
        raise Conflict(f"the directory {directory.name} belongs to another job")
    return owner


def _withdraw(directory: Path, attempt: int, key: str) -> bool:
    """Take an attempt so that no supervisor can; False where one has."""
    pid = os.getpid()
    owner = {
        "version": receipts.FORMAT,
        "key": key,
        "attempt": attempt,
        "host": os.uname().nodename,
        "pid": pid,
        "pid_start": procfs.start_ticks(pid),
        "boot_id": procfs.boot_id(),
    }
    if not receipts.claim(directory, attempt, owner):
        return False
    now = time.time()
    end = EndReceipt(attempt, None, None, "cancel", None, t_start=now, t_end=now)
    document = {name: getattr(end, name) for name in _RECEIPT_FIELDS}
    extra = {"version": receipts.FORMAT, "key": key, "host": owner["host"]}
    receipts.publish(directory, attempt, "end.json", {**extra, **document})
    return True


def _look(directory: Path, attempt: int, key: str) -> Observation:
    """Say where a claimed attempt is."""
    if receipts.owner_of(directory, attempt) is None:
        # The claim is damaged: all that is left to ask are the processes.
        return Observation("vanished" if procfs.gone(key) else "running")
    owner = _check_owner(directory, attempt, key)
    start = receipts.receipt(directory, attempt, "start.json")
    identity = start if start is not None else owner
    handle = Handle(identity["pid"], identity["pid_start"], identity["boot_id"])
    t_start = None if start is None else start["t_start"]
    end = receipts.receipt(directory, attempt, "end.json")
    if end is None:
        same_boot = handle.boot_id == procfs.boot_id()
        if same_boot and procfs.alive(handle.pid, handle.pid_start):
            return Observation("claimed" if start is None else "running", handle, t_start)
        # It may have ended between the two looks; from here on nobody writes any more.
        end = receipts.receipt(directory, attempt, "end.json", unpublished=True)
        if end is None:
            if not same_boot:
                return Observation("other_boot", handle, t_start)
            return Observation(
                "running" if _program_lives(start, key) else "vanished", handle, t_start
            )
    receipt = EndReceipt(**{name: end[name] for name in _RECEIPT_FIELDS if name in end})
    return Observation("ended", handle, receipt.t_start, receipt)


def _program_lives(start: Mapping[str, Any] | None, key: str) -> bool:
    """Tell whether anything of a run lives whose supervisor is dead."""
    if start is not None and procfs.alive(start["program_pid"], start["program_start"]):
        return True
    return not procfs.gone(key)
