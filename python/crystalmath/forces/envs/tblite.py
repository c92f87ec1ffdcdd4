# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["tblite==0.8.0", "ase==3.29.0"]
# [tool.crystalmath]
# kind = "engine"
# title = "GFN-xTB tight binding: molecules and large molecular cells"
# install-mb = 60
# ///
"""GFN1-xTB and GFN2-xTB (Grimme et al., JCTC 13, 1989 (2017); 15, 1652 (2019)) by tblite.

It samples the Γ point alone, so short cells come out wrong: silicon relaxes to a sheared sheet. A
periodic axis below 15 Å is refused unless the user insists.
"""

_SHORTEST_A = 15.0
MODELS = {
    "GFN1-xTB": {
        "source": "builtin",
        "license": "LGPL-3.0-or-later",
        "default": True,
        "dtype": "float64",
        "properties": [
            "energy",
            "free_energy",
            "forces",
            "stress",
            "energies",
            "charges",
            "dipole",
        ],
    },
    "GFN2-xTB": {
        "source": "builtin",
        "license": "LGPL-3.0-or-later",
        "dtype": "float64",
        "properties": [
            "energy",
            "free_energy",
            "forces",
            "stress",
            "energies",
            "charges",
            "dipole",
        ],
    },
}
DEVICES = ["cpu"]


def setup(model, short_axes=False, accuracy=1.0, electronic_temperature_k=300.0):
    """Make the calculator; ``short_axes`` insists on cells that are too small to be right."""
    import numpy as np
    from tblite.ase import TBLite

    class Checked(TBLite):
        """Refuses what one k point cannot describe, and a stress that does not exist."""

        def calculate(self, atoms=None, properties=("energy",), system_changes=()):
            lengths = np.asarray(atoms.cell.lengths())
            short = [
                n
                for n, p, x in zip("abc", atoms.pbc, lengths, strict=True)
                if p and x < _SHORTEST_A
            ]
            if short and not short_axes:
                raise NotImplementedError(
                    f"the periodic axis {short[0]} is shorter than {_SHORTEST_A:g} Å, and GFN-xTB "
                    "is evaluated at one k point here: the result would be wrong "
                    "(option short_axes: true insists)"
                )
            super().calculate(atoms, list(properties), system_changes)
            if not atoms.pbc.any():
                self.results.pop("stress", None)

    calculator = Checked(
        method=model,
        accuracy=accuracy,
        electronic_temperature=electronic_temperature_k,
        verbosity=0,
    )
    notes = ["one k point: short periodic axes were insisted on"] if short_axes else []
    return calculator, {"notes": notes}
