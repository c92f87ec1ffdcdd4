"""Real outputs of CRYSTAL, cut off anywhere: none is ever judged completed, however it is asked.

Each piece is judged as a job's output after a good exit code, and read by itself. A file of one
gigabyte, mostly nothing, is read within bounded memory.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Final

from crystalmath.codes.crystal.large import reader
from crystalmath.codes.crystal.output.files import load_run
from crystalmath.codes.crystal.output.verdict import status_of
from crystalmath.domain.states import REASONS
from crystalmath.services.ports import CodeAdapter, EndReceipt
from rig.cases import CASES
from rig.place import RigError
from soak.outcome import Outcome, Progress, Say

_END: Final = b"\n EEEEEEEEEE TERMINATION"
_GOOD: Final = EndReceipt(1, 0, None, "exit", None, 0.0, 1.0)
GIGABYTE: Final = 1024**3
_HEAD: Final = b" EEEEEEEEEE STARTING  DATE 01 01 2024 TIME 12:00:00.0\n title\n"


def folder() -> Path:
    """Where the outputs are.

    Raises
    ------
    RigError
        They are not there: a checkout need not have them.
    """
    found = CASES / "outputs"
    if not any(found.glob("*.out")):
        raise RigError(f"there are no outputs in {found}: CRYSTALMATH_CASES names their folder")
    return found


def run(count: int, seed: int, say: Say, *, size_bytes: int = GIGABYTE) -> Outcome:
    """Cut every output at so many lines, chosen by the seed; at all of them if it has no more."""
    rng = random.Random(seed)
    paths = sorted(path for path in folder().iterdir() if path.suffix in (".out", ".outp"))
    texts = [(path, path.read_bytes()) for path in paths]
    cuts = [(path, data, cut) for path, data in texts for cut in _cuts(data, count, rng)]
    outcome = Outcome(f"{len(cuts)} pieces of {len(paths)} outputs, {size_bytes / 1e6:.0f} MB read")
    progress = Progress(len(cuts), say)
    adapter = reader()
    with tempfile.TemporaryDirectory(prefix="crystalmath-soak-") as place:
        job = Path(place) / "job"
        (job / ".cm").mkdir(parents=True)
        (job / "stderr.log").touch()
        for done, (path, data, cut) in enumerate(cuts):
            progress.at(done)
            piece = job / "stdout.log"
            piece.write_bytes(data[:cut])
            problem = _judged(adapter, job) or _read(adapter, piece)
            if problem is not None:
                outcome.problems.append(f"{path.name}, first {cut} bytes: {problem}")
        if not _reads_large(Path(place) / "large.out", size_bytes):
            outcome.problems.append("a large file that never ends was judged completed")
    return outcome


def _cuts(data: bytes, count: int, rng: random.Random) -> list[int]:
    """Places before the end mark, one in each line that is chosen."""
    end = data.find(_END)
    last = len(data) if end < 0 else end + len(_END) - 1
    starts = [0, *(at + 1 for at in range(last) if data[at : at + 1] == b"\n")]
    chosen = starts if len(starts) <= count else sorted(rng.sample(starts, count))
    return [rng.randint(at, min(last, max(at, data.find(b"\n", at)))) for at in chosen]


def _judged(adapter: CodeAdapter, job: Path) -> str | None:
    verdict = adapter.judge(job, _GOOD)
    if verdict.completed or verdict.energy_ev is not None:
        return "judged completed"
    if verdict.reason not in REASONS:
        return f"the reason {verdict.reason!r} is none"
    return "it has a final energy" if "final_energy_hartree" in verdict.results else None


def _read(adapter: CodeAdapter, piece: Path) -> str | None:
    reading = adapter.read(piece)
    return "read as completed" if reading is not None and reading.verdict.completed else None


def _reads_large(path: Path, size_bytes: int) -> bool:
    with path.open("wb") as stream:
        stream.write(_HEAD)
        stream.truncate(size_bytes)
    return status_of(load_run(path)) == "incomplete"
