"""``vasprun.xml`` of VASP, read by pymatgen: the structure of its last finished step.

A file that is cut off, or of a run that still goes on, gives what it has, and says so.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Structure


def read_vasprun(path: Path, field: str) -> Structure:
    """Read the last structure.

    Raises
    ------
    InputRejected
        It holds none.
    """
    from pymatgen.io.vasp.outputs import Vasprun

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run = Vasprun(
                path,
                parse_dos=False,
                parse_eigen=False,
                parse_potcar_file=False,
                exception_on_bad_xml=False,
            )
        except (AttributeError, KeyError, IndexError) as error:
            raise InputRejected(
                "the vasprun.xml ends before its first structure",
                hint="did the run begin? POSCAR holds what it was given",
                field=field,
            ) from error
    is_cut_off = any("malformed" in str(warning.message) for warning in caught)
    final, notes = _final(run, is_cut_off=is_cut_off)
    return Structure(
        lattice=np.array(final.lattice.matrix, dtype=float),
        pbc=(True, True, True),
        symbols=[site.specie.symbol for site in final],
        positions=np.array(final.cart_coords, dtype=float),
        reader=f"pymatgen {version('pymatgen')}",
        source={"format": "vasprun.xml", "program": f"VASP {run.vasp_version}".strip()},
        warnings=notes,
    )


def _final(run: Any, *, is_cut_off: bool) -> tuple[Any, list[str]]:
    """The structure, and what a user should know of it."""
    if not run.ionic_steps:
        note = "no step of the run was finished: this is the structure that it began with"
        return run.initial_structure, [note]
    if is_cut_off:
        note = f"the file is cut off: this is the structure of step {len(run.ionic_steps)}"
        return run.ionic_steps[-1]["structure"], [note]
    if not run.converged_electronic:
        return run.final_structure, ["the SCF of the last step did not converge"]
    if not run.converged_ionic:
        steps = len(run.ionic_steps)
        return run.final_structure, [f"the structure was not relaxed after {steps} steps"]
    return run.final_structure, []
