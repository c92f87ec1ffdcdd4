"""A made-up rock salt in place of VASP: reads INCAR, KPOINTS and POSCAR, leaves a vasprun.xml.

Nothing of density functional theory is here. The crystal has a third-order Birch-Murnaghan energy,
two shear stiffnesses and springs between nearest neighbours, all chosen by hand, so that it is
known what a procedure has to find. Runs alone, with the standard library only; cells lie along the
cubic axes and hold whole numbers of half lattice constants.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from pathlib import Path

A0 = 4.21
"""Lattice constant, Å."""
V0 = A0**3 / 4
"""Å³ of two atoms."""
E0 = -12.0
"""eV of two atoms."""
B0_GPA, B0_PRIME = 160.0, 4.2
C11_MINUS_C12_GPA, C44_GPA = 200.0, 150.0
SPRING = 3.0
"""Between nearest neighbours, in eV/Å²."""
GPA = 160.21766208
_HALF = A0 / 2

Row = list[float]
Matrix = list[Row]


def inverse(m: Sequence[Sequence[float]]) -> Matrix:
    (a, b, c), (d, e, f), (g, h, i) = m
    det = determinant(m)
    rows = (
        (e * i - f * h, c * h - b * i, b * f - c * e),
        (f * g - d * i, a * i - c * g, c * d - a * f),
        (d * h - e * g, b * g - a * h, a * e - b * d),
    )
    return [[x / det for x in row] for row in rows]


def determinant(m: Sequence[Sequence[float]]) -> float:
    (a, b, c), (d, e, f), (g, h, i) = m
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def times(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[sum(x * y for x, y in zip(row, one, strict=True)) for one in columns] for row in a]


def birch(volume: float) -> tuple[float, float]:
    """Energy in eV and its derivative in eV/Å³, of two atoms."""
    b0 = B0_GPA / GPA
    x = (V0 / volume) ** (2 / 3)
    energy = E0 + 9 * V0 * b0 / 16 * ((x - 1) ** 3 * B0_PRIME + (x - 1) ** 2 * (6 - 4 * x))
    bracket = 1 + 0.75 * (B0_PRIME - 4) * (x - 1)
    return energy, -1.5 * b0 * (x**3.5 - x**2.5) * bracket


class Cell:
    """A cell of the made-up crystal, in the order of its POSCAR."""

    def __init__(self, lattice: Matrix, symbols: list[str], fractions: Matrix) -> None:
        self.lattice, self.symbols, self.fractions = lattice, symbols, fractions
        self.reference = [[_HALF * round(x / _HALF) for x in row] for row in lattice]
        self.pairs = len(symbols) / 2
        # sites of the crystal at rest, in the fractions of the cell, whatever its strain
        grid = [[x / _HALF for x in row] for row in self.reference]
        back = inverse(grid)
        whole = [[round(x) for x in row] for row in times(fractions, grid)]
        self.sites = times(whole, back)
        self._steps = [list(one) for one in times([[1, 0, 0], [0, 1, 0], [0, 0, 1]], back)]

    @property
    def volume(self) -> float:
        return abs(determinant(self.lattice))

    def displacements(self) -> Matrix:
        pairs = zip(self.fractions, self.sites, strict=True)
        off = [[x - y for x, y in zip(at, site, strict=True)] for at, site in pairs]
        return times(off, self.lattice)

    def forces(self) -> tuple[Matrix, float]:
        """Forces in eV/Å, and the energy of the springs in eV."""
        moved = self.displacements()
        at = {self._key(site): i for i, site in enumerate(self.sites)}
        forces, energy = [], 0.0
        for i, site in enumerate(self.sites):
            force = [0.0, 0.0, 0.0]
            for step, sign in itertools.product(self._steps, (1, -1)):
                j = at[self._key([x + sign * s for x, s in zip(site, step, strict=True)])]
                apart = [x - y for x, y in zip(moved[i], moved[j], strict=True)]
                energy += SPRING * sum(x * x for x in apart) / 4
                force = [f - SPRING * x for f, x in zip(force, apart, strict=True)]
            forces.append(force)
        return forces, energy

    @staticmethod
    def _key(site: Sequence[float]) -> tuple[int, ...]:
        return tuple(round(x * 1000) % 1000 for x in site)

    def strain(self) -> Matrix:
        f = times(inverse(self.reference), self.lattice)
        return [[(f[i][j] + f[j][i]) / 2 - (i == j) for j in range(3)] for i in range(3)]

    def energy_and_stress(self) -> tuple[float, Matrix]:
        """Energy in eV without springs; stress in eV/Å³, positive under tension."""
        energy, slope = birch(self.volume / self.pairs)
        strain = self.strain()
        third = sum(strain[i][i] for i in range(3)) / 3
        stress = [[0.0] * 3 for _ in range(3)]
        shear = 0.0
        for i, j in itertools.product(range(3), repeat=2):
            own = strain[i][j] - third * (i == j)
            stiff = (C11_MINUS_C12_GPA if i == j else 2 * C44_GPA) / GPA
            shear += stiff * own**2 / 2
            stress[i][j] = stiff * own + slope * (i == j)
        return (energy + V0 * shear) * self.pairs, stress

    def relaxed(self, isif: int) -> Cell:
        """The end of a relaxation: atoms at rest, and of the cell what it may change."""
        lattice = self.lattice
        if isif in (3, 4, 8):
            scale = 1.0 if isif != 4 else (self.volume / self.pairs / V0) ** (1 / 3)
            lattice = [[scale * x for x in row] for row in self.reference]
        return Cell(lattice, self.symbols, self.sites)


def read_poscar(text: str) -> Cell:
    lines = text.splitlines()
    lattice = [[float(x) * float(lines[1]) for x in line.split()] for line in lines[2:5]]
    blocks = zip(lines[5].split(), lines[6].split(), strict=True)
    symbols = [symbol for symbol, count in blocks for _ in range(int(count))]
    rows = lines[8 : 8 + len(symbols)]
    return Cell(lattice, symbols, [[float(x) for x in row.split()[:3]] for row in rows])


def read_incar(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _rows(rows: Sequence[Sequence[float]]) -> str:
    return "".join("<v>" + " ".join(f"{x:.10f}" for x in row) + "</v>" for row in rows)


def _structure(cell: Cell, name: str = "") -> str:
    return (
        f"<structure{name}><crystal><varray name='basis'>{_rows(cell.lattice)}</varray></crystal>"
        f"<varray name='positions'>{_rows(cell.fractions)}</varray></structure>"
    )


def _step(cell: Cell, error: float) -> str:
    energy, stress = cell.energy_and_stress()
    forces, springs = cell.forces()
    energy += springs + error * len(cell.symbols)
    printed = [[-10 * GPA * x for x in row] for row in stress]  # in kB, positive outwards
    said = "".join(f"<i name='{n}'>{energy:.10f}</i>" for n in ("e_fr_energy", "e_0_energy"))
    return (
        f"<calculation><scstep><energy>{said}</energy></scstep>{_structure(cell)}"
        f"<varray name='forces'>{_rows(forces)}</varray>"
        f"<varray name='stress'>{_rows(printed)}</varray><energy>{said}</energy></calculation>\n"
    )


def vasprun(incar: str, kpoints: str, poscar: str) -> str:
    """The vasprun.xml of a run; what cutoff, mesh and smearing lack is made up, too."""
    tags, cell = read_incar(incar), read_poscar(poscar)
    mesh = [int(n) for n in kpoints.splitlines()[3].split()[:3]] if kpoints else [4, 4, 4]
    error = math.exp((300 - float(tags["ENCUT"])) / 40) + float(tags["SIGMA"]) ** 2 / 10
    error += math.exp(-min(mesh))
    steps = [cell]
    if int(tags.get("NSW", "0")) > 0:
        steps.append(cell.relaxed(int(tags["ISIF"])))
    shown = {"NELM": "60", "ENMAX": tags["ENCUT"], "IBRION": "-1", "NSW": "0", "ISIF": "2"}
    shown |= {k: v for k, v in tags.items() if k in (*shown, "SIGMA", "EDIFF", "ISMEAR", "PREC")}
    given = "".join(f'<i name="{name}">{value}</i>' for name, value in shown.items())
    atoms = "".join(f"<rc><c>{s}</c><c>1</c></rc>" for s in cell.symbols)
    mesh_text = " ".join(map(str, mesh))
    return (
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<modeling>\n<generator>'
        '<i name="program">vasp</i><i name="version">6.4.2</i></generator>\n'
        f'<kpoints><generation param="Gamma"><v name="divisions">{mesh_text}</v>'
        '<v name="usershift">0.0 0.0 0.0</v></generation></kpoints>\n'
        f"<parameters>{given}</parameters>\n"
        f'<atominfo><array name="atoms"><set>{atoms}</set></array></atominfo>\n'
        + "".join(_step(one, error) for one in steps)
        + _structure(steps[-1], " name='finalpos'")
        + "\n</modeling>\n"
    )


def program(path: Path) -> Path:
    """The model as a program to be run in place of VASP."""
    path.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{__file__}' \"$@\"\n")
    path.chmod(0o755)
    return path


def main() -> None:
    """Read the inputs of the current directory, as VASP does."""
    texts = [Path(name).read_text() for name in ("INCAR", "POSCAR", "POTCAR")]
    kpoints = Path("KPOINTS")
    mesh = kpoints.read_text() if kpoints.is_file() else ""
    Path("vasprun.xml").write_text(vasprun(texts[0], mesh, texts[1]))
    Path("CONTCAR").write_text(texts[1])
    Path("OUTCAR").write_text(
        " vasp.6.4.2, made up\n General timing and accounting informations for this job:\n"
    )


if __name__ == "__main__":
    main()
