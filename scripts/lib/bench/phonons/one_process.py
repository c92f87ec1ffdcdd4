"""What a script would do: SevenNet and phonopy in one process. Prints its times as JSON.

Run with the interpreter of SevenNet's environment; the arguments are a folder with phonopy, which
is searched last, and the file of the structure.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

STARTED = time.perf_counter()


def main(packages: str, path: str, model: str, repeats: int) -> None:
    """Compute phonons, and print seconds of loading and of computing."""
    sys.path.append(packages)
    import numpy as np
    from ase import Atoms
    from phonopy import Phonopy
    from phonopy.structure.atoms import PhonopyAtoms
    from sevenn.calculator import SevenNetCalculator

    given = json.loads(Path(path).read_text(encoding="utf-8"))
    calculator = SevenNetCalculator(model, device="cpu")
    loaded = time.perf_counter()
    cell = PhonopyAtoms(given["symbols"], cell=given["lattice"], positions=given["positions"])
    phonon = Phonopy(cell, np.diag([repeats] * 3), primitive_matrix="auto", symprec=0.01)
    phonon.generate_displacements(distance=0.01)
    forces = []
    for one in phonon.supercells_with_displacements or ():
        atoms = Atoms(one.symbols, one.positions, cell=one.cell, pbc=True, calculator=calculator)
        forces.append(atoms.get_forces())
    phonon.forces = forces
    phonon.produce_force_constants()
    phonon.symmetrize_force_constants()
    phonon.auto_band_structure(npoints=51)
    phonon.run_mesh([20, 20, 20])
    phonon.run_total_dos()
    phonon.run_thermal_properties(t_min=0, t_max=1000, t_step=10)
    ended = time.perf_counter()
    bands = phonon.get_band_structure_dict()["frequencies"] or ()
    highest = float(max(np.max(line) for line in bands))
    times = {"load_s": loaded - STARTED, "compute_s": ended - loaded, "highest_thz": highest}
    print(json.dumps(times))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
