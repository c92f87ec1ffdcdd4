"""How a program ended, judged from its exit code and its own words.

The rules that hold for every code; an adapter asks here first and looks at its results only when
nothing is wrong. A reason is given only for which there is evidence: a program that was killed is
not "out of memory" unless something says so.
"""

from __future__ import annotations

import re
import signal as signals
from pathlib import Path
from typing import Final

from crystalmath.codes.tail import last_line, read_tail
from crystalmath.errors import InputRejected
from crystalmath.services.ports import EndReceipt, Verdict

_MEMORY: Final = re.compile(
    r"\bMemoryError\b|std::bad_alloc|Cannot allocate memory|[Oo]ut[ -]of[ -][Mm]emory|\boom[-_]kill"
    r"|insufficient virtual memory|CUDA out of memory|Unable to allocate .* for an array"
)
_DISK: Final = re.compile(r"No space left on device|Disk quota exceeded")
_SHELL: Final = re.compile(
    r"not found|No such file or directory|Permission denied|cannot execute|bad interpreter"
    r"|Is a directory|Exec format error",
    re.IGNORECASE,
)
_START_HINTS: Final = (
    (
        re.compile(r"No such file|ENOENT", re.IGNORECASE),
        "check the program's name and that it is installed",
    ),
    (
        re.compile(r"Permission denied|EACCES", re.IGNORECASE),
        "make the file executable (chmod +x)",
    ),
    (
        re.compile(r"Exec format|ENOEXEC", re.IGNORECASE),
        "a script needs a first line such as #!/bin/sh; a binary must be made for this machine",
    ),
    (re.compile(r"Argument list too long|E2BIG", re.IGNORECASE), "pass long data in a file"),
)


def refuse_unbegun(reason: str | None) -> None:
    """Refuse to go on from a job that failed before its program began.

    Raises
    ------
    InputRejected
    """
    if reason in {"input_rejected", "did_not_start", "dependency_failed", "rejected"}:
        raise InputRejected(
            "the calculation never began, so there is nothing to continue",
            hint="correct what its message names, then submit it anew, or `jobs.rerun` it",
            field="id",
        )


def judge_end(
    directory: Path, end: EndReceipt | None, stderr: str = "stderr.log"
) -> Verdict | None:
    """Judge what can be judged without knowing the code.

    Parameters
    ----------
    directory
        The job directory.
    end
        The supervisor's receipt, or None when it is missing.
    stderr
        Name of the file that holds the program's standard error.

    Returns
    -------
    Verdict or None
        None when the program ended by itself with exit code 0: then its results decide.
    """
    if end is None:
        return _failed(
            "crashed",
            "nothing is left that says how the program ended",
            "the machine or the supervisor went down while it ran; run the job again",
        )
    if end.cause == "not_started":
        return _not_started(end.failure or "the program could not be started")
    words = read_tail(directory / stderr)
    if end.cause == "walltime":
        return _failed(
            "walltime",
            f"stopped at its time limit after {_duration(end)}",
            "`jobs.rerun` starts it again; give it more time: `resources.walltime_s`",
        )
    if end.rc == 0 and end.signal is None:
        return _clean_end(end, words)
    return _by_evidence(end, words) or _by_code(directory, end, words)


def _failed(reason: str, message: str, hint: str) -> Verdict:
    return Verdict(completed=False, reason=reason, message=message, hint=hint)


def _not_started(failure: str) -> Verdict:
    hint = next(
        (text for pattern, text in _START_HINTS if pattern.search(failure)),
        "check the program and its arguments",
    )
    return _failed("did_not_start", f"the program could not be started: {failure}", hint)


def _clean_end(end: EndReceipt, words: str) -> Verdict | None:
    """Exit code 0, yet the program itself says that it could not write: its output is cut off."""
    if end.disk_full and _DISK.search(words):
        return _disk_full(words)
    return None


def _by_evidence(end: EndReceipt, words: str) -> Verdict | None:
    """Judge the causes that leave words: memory and disk."""
    if _DISK.search(words) or end.disk_full or end.signal == signals.SIGXFSZ:
        return _disk_full(words)
    match = _MEMORY.search(words)
    if match is not None:
        return _failed(
            "out_of_memory",
            f"{_line_of(words, match.start())}{_peak(end)}",
            "use fewer processes, a smaller system, or a machine with more memory",
        )
    return None


def _disk_full(words: str) -> Verdict:
    match = _DISK.search(words)
    return _failed(
        "disk_full",
        _line_of(words, match.start()) if match else "the disk of the job directory was full",
        "free space on that disk, then run the job again",
    )


def _by_code(directory: Path, end: EndReceipt, words: str) -> Verdict:
    said = last_line(words) or last_line(read_tail(directory / "stdout.log"))
    tail = f": {said}" if said else ", without a word"
    if end.signal is not None:
        return _killed(end, f"ended by {signal_name(end.signal)}", end.signal, said)
    rc = end.rc if end.rc is not None else -1
    if rc in {126, 127} and _SHELL.search(last_line(words)):
        return _failed(
            "did_not_start",
            f"the shell could not start a program (exit code {rc}){tail}",
            "check the program's name, that it is installed, and that the file is executable",
        )
    if 128 < rc < 160 and signal_name(rc - 128).startswith("SIG"):
        what = f"a program of the script was ended by {signal_name(rc - 128)} (exit code {rc})"
        return _killed(end, what, rc - 128, said)
    return _failed("crashed", f"exit code {rc}{tail}", "read the log; the last lines say why")


def _killed(end: EndReceipt, what: str, number: int, said: str) -> Verdict:
    hints: dict[int, str] = {
        signals.SIGKILL: "often memory: compare its peak with the machine's; or somebody killed it",
        signals.SIGTERM: "somebody or something outside asked it to stop; run it again",
        signals.SIGINT: "somebody interrupted it; run it again",
        signals.SIGHUP: "the session it ran in was closed; run it again",
        signals.SIGXCPU: "it used more processor time than ulimit -t allows",
        signals.SIGILL: "it was built for another processor; rebuild it for this machine",
        signals.SIGABRT: "the program stopped itself; the last lines of the log say why",
    }
    hint = hints.get(
        number,
        "a fault of the program; often a small stack (ulimit -s unlimited) or a bad build",
    )
    return _failed("crashed", f"{what}{_peak(end)}{f': {said}' if said else ''}", hint)


def signal_name(number: int) -> str:
    """``SIGSEGV`` and the like; ``signal 40`` for one without a name."""
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _line_of(text: str, at: int) -> str:
    """Return the whole line of ``text`` around offset ``at``."""
    start = text.rfind("\n", 0, at) + 1
    stop = text.find("\n", at)
    return last_line(text[start : stop if stop >= 0 else len(text)])


def _peak(end: EndReceipt) -> str:
    if not end.max_rss_kib:
        return ""
    return f" (peak memory {end.max_rss_kib / 1024**2:.2f} GiB)"


def _duration(end: EndReceipt) -> str:
    seconds = max(0, round(end.t_end - end.t_start))
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d} h"
