# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# title = "a committee of Lennard-Jones potentials that reads a charge, and has an entropy"
# host = true
# ///
"""What few engines have: members, info, a free energy of its own, results that are not finite."""

MODELS = {
    "several": {
        "source": "builtin",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress"],
        "info_keys": ["charge"],
    },
}
PROPERTIES = ["energy", "free_energy", "forces", "stress", "committee_energy", "committee_forces"]
EPSILONS = (0.3, 0.4, 0.55)
ENTROPY_EV = 0.25


def setup(model, missing=None):
    """Make the calculator.

    Parameters
    ----------
    missing
        A property that it does not give although it says so.
    """
    import numpy as np
    from ase.calculators.calculator import Calculator, all_changes
    from ase.calculators.lj import LennardJones

    members = [LennardJones(sigma=2.3, epsilon=e, rc=6.0) for e in EPSILONS]

    class Several(Calculator):
        implemented_properties = PROPERTIES

        def calculate(self, atoms=None, properties=("energy",), system_changes=all_changes):
            super().calculate(atoms, properties, system_changes)
            for member in members:
                member.calculate(atoms, ["energy", "forces"], all_changes)
            energies = np.array([m.results["energy"] for m in members])
            energies += atoms.info.get("charge", 0)
            forces = np.array([m.results["forces"] for m in members])
            if atoms.positions[0, 0] > 50:  # as a network far from what it has seen
                forces[:, 1, 2] = np.nan
            self.results = {
                "energy": energies.mean(),
                "free_energy": energies.mean() - ENTROPY_EV,
                "forces": forces.mean(axis=0),
                "committee_energy": energies,
                "committee_forces": forces,
            }
            if "stress" in members[0].results:
                self.results["stress"] = np.mean([m.results["stress"] for m in members], axis=0)
            self.results.pop(missing, None)

    return Several(), {
        "members": len(members),
        "properties": PROPERTIES,
    }
