"""A cluster that is a folder: SLURM's commands as scripts that answer from a table.

They prove plumbing, not truth: no job ever runs. Every command writes down when it was asked, and
squeue when it had answered. Without Python, so that what is measured is the daemon and not they.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_SEPARATOR: Final = "\x1f"
SUBMITTED_AT: Final = 1_767_225_600
"""When every job was submitted, by squeue: 2026-01-01."""
_PREFACE: Final = """#!/bin/sh
cd HERE || exit 1
echo "$(date +%s.%N) ${0##*/}" >> asked
"""
_SQUEUE: Final = """
while [ -e hang ]; do sleep 0.2; done
while [ "$1" != -o ]; do shift; done
read -r n < running; read -r more < starting; n=$((n + more)); echo "$n" > running
awk -F '\\t' -v tag="${2%%SEP*}" -v user="$(id -un)" -v running="$n" 'BEGIN { OFS = "SEP" }
NR <= running { print tag, $1, "RUNNING", "None", "n" NR % 40, user, AT, AT + 60,
  "1:02:03", "1-00:00:00", 1, 16, "main", "a", "normal", $2, $3; next }
{ print tag, $1, "PENDING", "Priority", "", user, AT, "N/A",
  "0:00", "1-00:00:00", 1, 16, "main", "a", "normal", $2, $3 }' queue
echo "$(date +%s.%N) $n" >> answered
"""
_SBATCH: Final = """
for word; do case $word in --job-name=*) name=${word#--job-name=} ;; esac; done
id=$(($(wc -l < queue) + FIRST)); printf '%s\\t%s\\t%s\\n' "$id" "$OLDPWD" "$name" >> queue
echo "$id"
"""
_COMMANDS: Final = {"squeue": _SQUEUE, "sbatch": _SBATCH, "sacct": "", "scancel": ""}


class ScriptedScheduler:
    """The folder.

    Parameters
    ----------
    root
        Made here.
    running
        So many of the oldest jobs run, the others wait.
    first_id
        Of the first job.
    """

    def __init__(self, root: Path, *, running: int, first_id: int = 1) -> None:
        self.root = root
        self.first_id = first_id
        (root / "bin").mkdir(parents=True)
        self._write("running", str(running))
        self.let_start(0)
        self._write("queue", "")
        self.forget()
        for name, body in _COMMANDS.items():
            text = (_PREFACE + body).replace("HERE", str(root)).replace("SEP", _SEPARATOR)
            text = text.replace("AT", str(SUBMITTED_AT)).replace("FIRST", str(first_id))
            command = root / "bin" / name
            command.write_text(text, encoding="utf-8")
            command.chmod(0o755)

    @property
    def setup_commands(self) -> tuple[str, ...]:
        """What puts its commands in front."""
        return (f"export PATH={self.root}/bin:$PATH",)

    def take(self, jobs: list[tuple[str, str]]) -> None:
        """Have these jobs, as (directory, name), with the numbers that follow."""
        lines = (f"{self.first_id + n}\t{where}\t{name}" for n, (where, name) in enumerate(jobs))
        self._write("queue", "".join(f"{line}\n" for line in lines))

    def let_start(self, count: int) -> None:
        """From now on so many more jobs run at each question."""
        self._write("starting", str(count))

    def hang(self, *, on: bool) -> None:
        """Let squeue give no answer, or answer again."""
        if on:
            self._write("hang", "")
        else:
            (self.root / "hang").unlink()

    def forget(self) -> None:
        """Begin to write down anew who asks."""
        for name in ("asked", "answered"):
            self._write(name, "")

    def asked(self, *commands: str) -> list[float]:
        """When these commands were asked, in seconds since 1970."""
        lines = [line.split() for line in self._lines("asked")]
        return [float(at) for at, name in lines if name in commands]

    def answered(self) -> list[float]:
        """When squeue had printed its rows."""
        return [float(line.split()[0]) for line in self._lines("answered")]

    def shown_running(self) -> int:
        """How many jobs ran by the last answer of squeue."""
        return int(self._lines("answered")[-1].split()[1])

    def _lines(self, name: str) -> list[str]:
        return (self.root / name).read_text(encoding="utf-8").splitlines()

    def _write(self, name: str, text: str) -> None:
        part = self.root / f"{name}.part"
        part.write_text(f"{text}\n" if text and not text.endswith("\n") else text)
        part.replace(self.root / name)
