# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# title = "EMT whose numbers are wrong on demand"
# host = true
# ///
"""EMT with one mistake, as engines have been seen to make them."""

from pathlib import Path

MODELS = {
    "wrong": {
        "source": "builtin",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "elements": ["Al", "Cu", "Ag", "Au", "Ni", "Pd", "Pt"],
    },
}

GPA = 160.21766208


def pushed(forces):
    """The last atom is pushed by nothing."""
    found = forces.copy()
    found[-1, 2] += 0.05
    return found


def single(energy):
    """As single precision holds it."""
    import numpy as np

    return float(np.float32(energy))


STRESSES = {
    "stress sign": lambda stress, atoms: -stress,
    "stress gpa": lambda stress, atoms: GPA * stress,
    "stress virial": lambda stress, atoms: -stress * atoms.get_volume(),
    "stress zero": lambda stress, atoms: 0.0 * stress,
    "stress half shear": lambda stress, atoms: stress * [1, 1, 1, 0.5, 0.5, 0.5],
    "stress of slabs": lambda stress, atoms: stress if atoms.pbc.all() else 0.1 * stress,
    "stress order": lambda stress, atoms: stress[[0, 1, 2, 5, 4, 3]],
}
FORCES = {
    "forces sign": lambda forces: -forces,
    "forces factor": lambda forces: 1.02 * forces,
    "one force": pushed,
}
ENERGIES = {
    "position energy": lambda energy, atoms, call: energy + 1e-2 * atoms.positions[:, 0].sum(),
    "order": lambda energy, atoms, call: energy + 1e-3 * atoms.positions[0] @ atoms.positions[0],
    "repeat": lambda energy, atoms, call: energy + 1e-9 * call,
    "single": lambda energy, atoms, call: single(energy),
    "not extensive": lambda energy, atoms, call: energy * (1 + 0.01 * len(atoms)),
}


def setup(model, mistake="none", marker=""):
    """Make the calculator.

    Parameters
    ----------
    mistake
        One of the tables above, ``no molecules``, ``missing`` (a stress that is asked for alone).
    marker
        A file; while it is there, energies are off by 0.25 meV per atom.
    """
    from ase.calculators.emt import EMT

    calls = [0]

    class Wrong(EMT):
        def calculate(self, atoms=None, properties=("energy",), system_changes=()):
            if mistake == "no molecules" and not atoms.pbc.any():
                raise RuntimeError("no molecules")
            super().calculate(atoms, properties, system_changes)
            calls[0] += 1
            self.spoil(atoms)
            if mistake == "missing" and list(properties) == ["stress"]:
                del self.results["stress"]

        def spoil(self, atoms):
            results = self.results
            if marker and Path(marker).exists():
                for name in ("energy", "free_energy"):
                    results[name] += 2.5e-4 * len(atoms)
            if mistake in ENERGIES:
                results["energy"] = ENERGIES[mistake](results["energy"], atoms, calls[0])
            if mistake in FORCES:
                results["forces"] = FORCES[mistake](results["forces"])
            if mistake in STRESSES and "stress" in results:
                results["stress"] = STRESSES[mistake](results["stress"], atoms)

    return Wrong()
