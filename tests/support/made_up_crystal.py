"""A stand-in for CRYSTAL whose numbers are made up from the deck that it is given. No physics.

The energy has a minimum at a volume, and an error that shrinks with SHRINK, TOLINTEG and the basis
set; OPTGEOM ends at the minimum of what it may move. Group 225 (rock salt) and 194 (two atoms).

Run by the scripts that :func:`install_made_up` writes, with nothing but the standard library.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Final

V0_A3: Final = {225: 18.60, 194: 46.50}
"""Volumes of the minimum, of the primitive cell."""
RATIO: Final = 1.60
"""c/a of the minimum in group 194."""
B0_GPA: Final = 160.0
"""Bulk modulus of what is made up; its derivative is 4, where Birch-Murnaghan is of third order."""
BASIS_ERRORS: Final = {"STO-3G": 0.5, "POB-DZVP-REV2": 3e-5, "POB-TZVP-REV2": 1e-6}
HARTREE_A3_GPA: Final = 4359.744722
HEAD: Final = (
    " *                               CRYSTAL17                                     *\n"
    " *                      public : 1.0.2 - March 1st, 2018                       *\n"
    " EEEEEEEEEE STARTING  DATE 01 01 2024 TIME 12:00:00.0\n made up\n"
)
END: Final = " EEEEEEEEEE TERMINATION  DATE 01 01 2024 TIME 12:00:01.0\n"
PBE: Final = "(PERDEW-BURKE-ERNZERHOF)[PERDEW-BURKE-ERNZERHOF]"
SYMBOLS: Final = {8: "O", 12: "MG"}


class Deck:
    """What the stand-in understands of a deck."""

    def __init__(self, text: str) -> None:
        self.lines = [line.strip() for line in text.splitlines()]
        self.group = int(self.lines[3])
        self.cell = [float(word) for word in self.lines[4].split()]
        n_sites = int(self.lines[5])
        self.labels = [int(line.split()[0]) for line in self.lines[6 : 6 + n_sites]]

    def behind(self, keyword: str) -> list[str]:
        """The words of the line below a keyword."""
        return self.lines[self.lines.index(keyword) + 1].split()

    def optimisation(self) -> str | None:
        """What OPTGEOM may move."""
        return self.behind("OPTGEOM")[0] if "OPTGEOM" in self.lines else None


def volume_of(group: int, cell: list[float]) -> float:
    """Of the primitive cell, Å³."""
    return cell[0] ** 3 / 4 if group == 225 else math.sqrt(3) / 2 * cell[0] ** 2 * cell[1]


def energy_of(deck: Deck, cell: list[float]) -> float:
    """The made-up energy, hartree."""
    v0 = V0_A3[deck.group]
    eta = (v0 / volume_of(deck.group, cell)) ** (2 / 3) - 1
    energy = -271.0 + 9 / 8 * v0 * B0_GPA / HARTREE_A3_GPA * eta**2
    if deck.group == 194:
        energy += 0.05 * (cell[1] / cell[0] - RATIO) ** 2
    mesh = int(deck.behind("SHRINK")[0])
    energy += 0.01 * 4.0**-mesh + 10.0 ** -int(deck.behind("TOLINTEG")[0])
    return energy + BASIS_ERRORS[deck.behind("BASISSET")[0]]


def optimised(deck: Deck) -> list[float]:
    """The cell at the end."""
    moves = deck.optimisation()
    if moves not in ("FULLOPTG", "CVOLOPT"):
        return deck.cell
    v = V0_A3[deck.group] if moves == "FULLOPTG" else volume_of(deck.group, deck.cell)
    if deck.group == 225:
        return [(4 * v) ** (1 / 3)]
    a = (v / RATIO * 2 / math.sqrt(3)) ** (1 / 3)
    return [a, RATIO * a]


def geometry(deck: Deck, cell: list[float], heading: str) -> str:
    """A geometry as CRYSTAL prints it: the primitive cell, its atoms, its vectors."""
    if deck.group == 225:
        h = cell[0] / 2
        rows = [[0.0, h, h], [h, 0.0, h], [h, h, 0.0]]
        lengths, angles, code = [h * math.sqrt(2)] * 3, [60.0] * 3, "5/0"
        places = [[0.0] * 3, [-0.5] * 3]
    else:
        a, c = cell
        rows = [[a * math.sqrt(3) / 2, -a / 2, 0.0], [0.0, a, 0.0], [0.0, 0.0, c]]
        lengths, angles, code = [a, a, c], [90.0, 90.0, 120.0], "1/0"
        places = [[1 / 3, -1 / 3, 0.25], [-1 / 3, 1 / 3, -0.25]]
    volume = volume_of(deck.group, cell)
    labels = deck.labels if len(deck.labels) == 2 else deck.labels * 2
    lines = [
        f" {heading} - DIMENSIONALITY OF THE SYSTEM    3",
        f" PRIMITIVE CELL - CENTRING CODE {code} VOLUME={volume:13.6f} - DENSITY  3.559 g/cm^3",
        "         A              B              C           ALPHA      BETA       GAMMA ",
        " " + "".join(f"{x:15.8f}" for x in lengths) + "".join(f"{x:11.6f}" for x in angles),
        " ATOMS IN THE ASYMMETRIC UNIT    2 - ATOMS IN THE UNIT CELL:    2",
        "     ATOM                 X/A                 Y/B                 Z/C    ",
    ]
    for i, (label, place) in enumerate(zip(labels, places, strict=True)):
        at = "".join(f" {x:19.12E}" for x in place)
        lines.append(f" {i + 1:6} T {label:3} {SYMBOLS[label % 100]:<2}   {at}")
    lines += [
        "",
        " DIRECT LATTICE VECTORS CARTESIAN COMPONENTS (ANGSTROM)",
        "          X                    Y                    Z",
        *(" " + "".join(f"{x:21.12E}" for x in row) for row in rows),
    ]
    return "\n".join(lines) + "\n"


def output(text: str, least_cycles: int = 0) -> str:
    """What the stand-in prints for a deck.

    Parameters
    ----------
    least_cycles
        An optimisation whose MAXCYCLE is smaller fails.
    """
    deck = Deck(text)
    first = energy_of(deck, deck.cell)
    said = [HEAD]
    if deck.optimisation() is not None:
        said.append(" INFORMATION **** OPTGEOM ****  PRINT INFO ON OPTIMIZATION\n")
    said += [
        geometry(deck, deck.cell, "GEOMETRY FOR WAVE FUNCTION"),
        f" KOHN-SHAM HAMILTONIAN\n (EXCHANGE)[CORRELATION] FUNCTIONAL:{PBE}\n",
        " CRYSTAL - SCF - TYPE OF CALCULATION :  RESTRICTED CLOSED SHELL\n",
        f" CYC   0 ETOT(AU) {first:.12E} DETOT -1.0E-09\n DIRECT ENERGY BAND GAP:   7.1237 eV\n",
        f" == SCF ENDED - CONVERGENCE ON ENERGY      E(AU) {first:.13E} CYCLES   7\n",
    ]
    if deck.optimisation() is not None:
        ended = "FAILED   " if int(deck.behind("MAXCYCLE")[0]) < least_cycles else "CONVERGED"
        limit, last = 1.5 * float(deck.behind("TOLDEG")[0]), energy_of(deck, optimised(deck))
        said += [
            " COORDINATE AND CELL OPTIMIZATION - POINT    1\n",
            f" MAX GRADIENT      0.000000  THRESHOLD              {limit:.9f} CONVERGED YES\n",
            f" * OPT END - {ended} * E(AU):  {last:.12E}  POINTS    1 *\n",
            geometry(deck, optimised(deck), "FINAL OPTIMIZED GEOMETRY"),
        ]
    return "".join((*said, END))


def install_made_up(folder: Path) -> None:
    """Put the stand-in into a directory of programs, with its least MAXCYCLE in ``least``."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "crystalOMP"
    (folder / "least").write_text("0")
    words = f"'{sys.executable}' -I '{__file__}' '{folder / 'least'}'"
    program.write_text(f"#!/bin/sh\nexec {words} < INPUT\n", "utf-8")
    program.chmod(0o755)


if __name__ == "__main__":
    sys.stdout.write(output(sys.stdin.read(), int(Path(sys.argv[1]).read_text("utf-8"))))
