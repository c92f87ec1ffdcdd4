"""Reading an output of CRYSTAL of 100 MB: processor time and memory of a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench.measure import US_PER_S, Ledger, Target
from rig.place import RigError

READ: Final = "read an output of 100 MB"
SIZE_BYTES: Final = 100 * 1024**2
MB: Final = 1e6
_HEAD: Final = """ *                               CRYSTAL17                                     *
 *                      public : 1.0.2 - March 1st, 2018                       *
 EEEEEEEEEE STARTING  DATE 01 01 2024 TIME 12:00:00.0
 a large output
 CRYSTAL - SCF - TYPE OF CALCULATION :  RESTRICTED CLOSED SHELL
"""
_CYCLE: Final = """ TTTTTTTTTTTTTTTTTTTTTTTTTTTTTT MONMO3      TELAPSE        1.20 TCPU        0.17
 CYC   1 ETOT(AU) -5.713088424331E+02 DETOT -3.70E-01 tst  0.00E+00 PX  1.00E+00
 TTTTTTTTTTTTTTTTTTTTTTTTTTTTTT DIIS        TELAPSE        1.20 TCPU        0.18
 INSULATING STATE
 TOP OF VALENCE BANDS -    BAND     14; K    1; EIG  1.1931706E-01 AU
 BOTTOM OF VIRTUAL BANDS - BAND     15; K    1; EIG  2.0023144E-01 AU
 DIRECT ENERGY BAND GAP:   2.2018 eV
 CHARGE NORMALIZATION FACTOR   1.00000000
 TOTAL ATOMIC CHARGES:
  14.0000000  14.0000000
 TTTTTTTTTTTTTTTTTTTTTTTTTTTTTT MOQGAD      TELAPSE        1.20 TCPU        0.18
"""
_ROW: Final = "    1   4  0.000  0.000  0.000  1.000  0.000  0.000  0.000  1.000  0.000  0.000\n"
"""Of large outputs most is tables like this one: matrices, populations, neighbours."""
_END: Final = """ == SCF ENDED - CONVERGENCE ON ENERGY      E(AU) -5.7132081224317E+02 CYCLES   6
 EEEEEEEEEE TERMINATION  DATE 01 01 2024 TIME 12:00:01.0
"""
_PROGRAM: Final = """
import json, resource, sys, time
from pathlib import Path
from crystalmath.codes.crystal.output.files import load_run
from crystalmath.codes.crystal.output.verdict import status_of
begin = time.process_time()
run = load_run(Path(sys.argv[1]))
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([time.process_time() - begin, used.ru_maxrss * 1024, status_of(run)]))
"""


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; returns the targets."""
    seconds, peaks = [], []
    with tempfile.TemporaryDirectory(prefix="crystalmath-bench-") as folder:
        path = Path(folder) / "large.out"
        write_large(path)
        for _ in range(rounds):
            cpu_s, peak_bytes = _read(path)
            seconds.append(cpu_s)
            peaks.append(peak_bytes)
            ledger.add(READ, [cpu_s * US_PER_S])
    return [
        Target("an output of 100 MB, processor time, median, s", 3, sorted(seconds)[rounds // 2]),
        Target("an output of 100 MB, peak memory, MB", 200, max(peaks) / MB),
    ]


def write_large(path: Path) -> None:
    """Write an output of 100 MB, mostly tables."""
    block = _CYCLE + _ROW * 40
    with path.open("w", encoding="ascii") as stream:
        stream.write(_HEAD)
        stream.writelines(block for _ in range(SIZE_BYTES // len(block) + 1))
        stream.write(_END)


def _read(path: Path) -> tuple[float, float]:
    command = [sys.executable, "-c", _PROGRAM, str(path)]
    ended = subprocess.run(
        command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if ended.returncode != 0:
        raise RigError(f"the output was not read: {ended.stderr[-300:]}")
    cpu_s, peak_bytes, status = json.loads(ended.stdout)
    if status != "completed":
        raise RigError(f"the output was judged {status}")
    return float(cpu_s), float(peak_bytes)
