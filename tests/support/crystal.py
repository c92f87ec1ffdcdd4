"""Outputs of CRYSTAL, which is commercial, and a stand-in program that calculates nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from crystalmath.codes.crystal.adapter import CrystalAdapter
from crystalmath.codes.crystal.run.writer import WorkerDecks
from rig import cases
from support.workers import run_here

CASES: Final = cases.CASES / "outputs"
"""Real outputs with their right answers, which a checkout need not have."""

END: Final = " EEEEEEEEEE TERMINATION  DATE 01 01 2024 TIME 12:00:01.0\n"

STAND_IN: Final = """#!/bin/sh
# Stand-in for CRYSTAL: no physics. It tells what it was given and leaves what a run leaves.
# Of several processes the first one does it all.
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] || exit 0
TOLD=${TOLD:-$(dirname "$0")/told}
echo run >> "$TOLD/runs"
[ -t 0 ] || cat > stdin
ls > "$TOLD/files"; env > "$TOLD/environment"; cp INPUT stdin "$TOLD" 2>/dev/null
pwd > "$TOLD/scratch"
for one in fort.20 fort.34 fort.9 fort.98 HESSOPT.DAT OPTINFO.DAT BORN.DAT; do
  [ -f $one ] && cp $one "$TOLD/staged.$one"
done
cat "$TOLD/output"
for one in fort.9 fort.98 fort.34 fort.25 HESSOPT.DAT OPTINFO.DAT FREQINFO.DAT SPEC.DAT optc001; do
  echo "new $one" > $one
done
[ -e "$TOLD/quiet" ] || echo " ERROR **** TEST **** kept" > fort.87
sleep "${NAP:-$(cat "$TOLD/nap" 2>/dev/null || echo 0)}" &
wait $!
exit "${CODE:-0}"
"""


def scf_output(title: str = "MgO", *, cycles: int = 2, end: str | None = END) -> str:
    """An output as CRYSTAL prints it, of an SCF that converged; cut before its end without one."""
    lines = [
        " *                               CRYSTAL17                                     *",
        " *                      public : 1.0.2 - March 1st, 2018                       *",
        " EEEEEEEEEE STARTING  DATE 01 01 2024 TIME 12:00:00.0",
        f" {title}",
        " GEOMETRY FOR WAVE FUNCTION - DIMENSIONALITY OF THE SYSTEM    3",
        " PRIMITIVE CELL - CENTRING CODE 5/0 VOLUME=    18.654615 - DENSITY  3.559 g/cm^3",
        "         A              B              C           ALPHA      BETA       GAMMA ",
        "     2.97691955     2.97691955     2.97691955    60.000000  60.000000  60.000000",
        " ATOMS IN THE ASYMMETRIC UNIT    2 - ATOMS IN THE UNIT CELL:    2",
        "     ATOM                 X/A                 Y/B                 Z/C    ",
        "      1 T 212 MG    0.000000000000E+00  0.000000000000E+00  0.000000000000E+00",
        "      2 T   8 O    -5.000000000000E-01 -5.000000000000E-01 -5.000000000000E-01",
        " EEEEEEEEEE INT_CALC TERMINATION  DATE 01 01 2024 TIME 12:00:00.1",
        " CRYSTAL - SCF - TYPE OF CALCULATION :  RESTRICTED CLOSED SHELL",
    ]
    for cycle in range(cycles):
        lines.append(f" CYC {cycle:3} ETOT(AU) -2.71218143{cycle:03}E+02 DETOT -1.0E-0{cycle + 1}")
        lines.append(" DIRECT ENERGY BAND GAP:   7.1237 eV")
    lines.append(" == SCF ENDED - CONVERGENCE ON ENERGY      E(AU) -2.7121814374931E+02 CYCLES   7")
    return "\n".join(lines) + "\n" + (end or "")


def install_stand_in(folder: Path, output: str, *names: str) -> Path:
    """Put the stand-in into a directory of programs, with what it prints.

    Returns
    -------
    Path
        The directory in which it leaves what it was given.
    """
    told = folder / "told"
    told.mkdir(parents=True, exist_ok=True)
    (told / "output").write_text(output, encoding="utf-8")
    for name in names or ("crystalOMP", "PcrystalOMP", "properties"):
        program = folder / name
        program.write_text(STAND_IN, encoding="utf-8")
        program.chmod(0o755)
    return told


def crystal() -> CrystalAdapter:
    """The adapter, with decks that are made in this process."""
    return CrystalAdapter(WorkerDecks(run_here, 60.0))
