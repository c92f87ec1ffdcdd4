# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["mace-torch==0.3.16", "torch==2.13.0", "ase==3.29.0"]
# [tool.crystalmath]
# kind = "engine"
# title = "MACE: a model file of yours"
# import-first = "mace"
# install-mb = 3000
# ///
"""MACE (Batatia et al., NeurIPS 35, 11423 (2022)): loads a model file that the user gives.

The package holds no weights. ``mace`` is imported before anything else: it sets the variable that
e3nn 0.4.4 needs to load its constants with torch 2.6 and newer.
"""

MODELS = {
    "file": {
        "source": "file",
        "title": "a file made by mace_run_train; give its path as the model",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
    },
}
DTYPES = ["float32", "float64"]
DEVICES = ["cpu", "cuda"]


def setup(model, device="cpu", dtype="float64", head=None):
    """Load the file; ``head`` chooses one of several heads."""
    from ase.data import chemical_symbols
    from mace.calculators import MACECalculator

    class WithEnergies(MACECalculator):
        """Gives the energies of the atoms under ASE's name."""

        def calculate(self, *arguments, **options):
            super().calculate(*arguments, **options)
            if self.results.get("node_energy") is not None:
                self.results["energies"] = self.results["node_energy"]

    more = {} if head is None else {"head": head}
    calculator = WithEnergies(model_paths=model, device=device, default_dtype=dtype, **more)
    if "energies" not in calculator.implemented_properties:
        calculator.implemented_properties = [*calculator.implemented_properties, "energies"]
    elements = [chemical_symbols[int(number)] for number in calculator.z_table.zs]
    return calculator, {"elements": elements}
