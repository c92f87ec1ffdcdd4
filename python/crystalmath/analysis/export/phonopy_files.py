"""Phonons as phonopy's own files, so that its commands go on from there."""

from __future__ import annotations

from crystalmath.analysis.phonons.model import PhononModel


def phonopy_files(model: PhononModel) -> dict[str, str]:
    """``phonopy_params.yaml`` with structure, displacements, forces and Born charges.

    ``FORCE_SETS`` holds the same forces for older versions; ``BORN`` the charges, if there are any.
    """
    from phonopy.file_IO import get_BORN_lines, get_FORCE_SETS_lines

    phonopy = model.phonopy
    files = {
        "phonopy_params.yaml": str(phonopy.to_phonopy_yaml(settings={"force_sets": True})) + "\n",
        "FORCE_SETS": "\n".join(get_FORCE_SETS_lines(phonopy.dataset)) + "\n",
    }
    if model.polar is not None:
        lines = get_BORN_lines(
            phonopy.unitcell,
            model.polar.born_charges,
            model.polar.dielectric,
            primitive_matrix=phonopy.primitive_matrix,
            supercell_matrix=phonopy.supercell_matrix,
            symprec=model.plan.symprec_angstrom,
        )
        files["BORN"] = "\n".join(lines) + "\n"
    return files
