# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["mace-torch==0.3.16", "torch==2.13.0", "ase==3.29.0"]
# [tool.crystalmath]
# kind = "engine"
# install-mb = 3000
# title = "MACE: equivariant potentials, with a file of weights of your own"
# import-first = "mace"
# ///
"""MACE with the user's file of weights, alone or as a committee of several files."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MODELS = {
    "file": {
        "source": "file",
        "title": "a file of weights, given by its absolute path",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
        "options": {"head": None, "committee": []},
    },
}
DTYPES = ["float32", "float64"]
COMMITTEE = ["energy", "free_energy", "forces", "stress", "committee_energy", "committee_forces"]


class Refused(ValueError):
    """Tells the worker that the request is at fault."""

    fault_kind = "input_rejected"

    def __init__(self, message: str, hint: str | None, field: str) -> None:
        super().__init__(message)
        self.hint = hint
        self.field = field


def setup(
    model: str,
    device: str = "cpu",
    dtype: str | None = None,
    head: str | None = None,
    committee: Sequence[str] = (),
) -> Any:
    """Make the calculator.

    Parameters
    ----------
    dtype
        That of the file when left out.
    head
        Of a model with several.
    committee
        Further files; the results are the means, and those of each member.
    """
    from ase.data import chemical_symbols
    from mace.calculators import MACECalculator

    files = [model, *committee]
    for path in files:
        if not Path(path).is_file():
            raise Refused(f"there is no file {path}", None, "model")

    class Calculator(MACECalculator):  # type: ignore[misc]
        """Names what the members of a committee give as the worker does."""

        def calculate(self, atoms: Any = None, properties: Any = None, changes: Any = ()) -> None:
            super().calculate(atoms, properties, changes)
            if "stress" in self.results and not atoms.pbc.all():
                self.results["stress"] = self.results["stress"] * _stretch(atoms, self.r_max)
            if self.num_models > 1:
                self.results["committee_energy"] = self.results["energy_comm"]
                self.results["committee_forces"] = self.results["forces_comm"]

    extra = {} if head is None else {"head": head}
    calculator = Calculator(model_paths=files, device=device, default_dtype=dtype or "", **extra)
    if head is not None and head not in calculator.available_heads:
        heads = ", ".join(calculator.available_heads)
        raise Refused(f"the model has no head {head!r}", f"its heads: {heads}", "options.head")
    facts: dict[str, Any] = {
        "elements": [chemical_symbols[z] for z in calculator.z_table.zs],
        "dtype": calculator.default_dtype,
        "info_keys": _info_keys(calculator.models[0]),
    }
    if committee:
        facts["members"] = len(files)
        facts["properties"] = COMMITTEE
        facts["notes"] = [f"member {Path(f).name}: sha256 {_sha256(f)}" for f in files]
    return calculator, facts


def _stretch(atoms: Any, cutoff: float) -> float:
    """What the volume of a slab or wire grows by before MACE divides its virial by it.

    It puts so much vacuum along the other directions that the result depends on where the atoms
    are; the stress is meant for the volume of the cell as it is given.
    """
    import numpy as np
    from mace.data.neighborhood import get_neighborhood

    given = abs(float(np.linalg.det(atoms.cell.array)))
    pbc = tuple(bool(p) for p in atoms.pbc)
    *_, used = get_neighborhood(atoms.positions, cutoff, pbc, atoms.cell.array.copy())
    return abs(float(np.linalg.det(used))) / given if given else 1.0


def _info_keys(model: Any) -> list[str]:
    """Members of ``info`` that the model reads; most read none, and would ignore a charge."""
    specs = getattr(model, "embedding_specs", None) or {}
    names = {"total_charge": "charge", "total_spin": "spin", "external_field": "external_field"}
    if type(model).__name__ == "PolarMACE":
        return list(names.values())
    return [mine for theirs, mine in names.items() if theirs in specs]


def _sha256(path: str) -> str:
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
