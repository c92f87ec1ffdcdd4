"""Results as pymatgen's objects, in its JSON form (``MontyDecoder`` reads it)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from crystalmath.analysis.bands.path import shown
from crystalmath.analysis.elastic.fit import ElasticConstants
from crystalmath.analysis.phonons.spectrum import PhononBands, PhononDos
from crystalmath.structures.structure import Structure


def structure_json(structure: Structure) -> str:
    """A ``Structure`` of pymatgen."""
    return _text(_structure(structure))


def elastic_json(found: ElasticConstants) -> str:
    """An ``ElasticTensor``, GPa, in the axes of the structure that was computed."""
    from pymatgen.analysis.elasticity.elastic import ElasticTensor

    return _text(ElasticTensor.from_voigt(found.stiffness_as_calculated_gpa).as_dict())


def phonon_bands_json(bands: PhononBands) -> str:
    """A ``PhononBandStructureSymmLine``, THz; both ends of each line are there."""
    from pymatgen.core.lattice import Lattice
    from pymatgen.phonon.bandstructure import PhononBandStructureSymmLine

    points = bands.points
    q = np.concatenate([points.fractions[a : b + 1] for a, b in points.lines])
    reciprocal = 2 * np.pi * np.linalg.inv(bands.path.structure.cell).T
    return _text(
        PhononBandStructureSymmLine(
            qpoints=q,
            frequencies=np.concatenate(bands.lines).T,
            lattice=Lattice(reciprocal),
            labels_dict={shown(name): list(at) for name, at in bands.path.points.items()},
            structure=_structure(bands.path.structure),
        )
    )


def phonon_dos_json(dos: PhononDos) -> str:
    """A ``PhononDos``, THz."""
    from pymatgen.phonon.dos import PhononDos as PymatgenDos

    return _text(PymatgenDos(dos.frequencies_thz, dos.densities_per_thz))


def _structure(structure: Structure) -> Any:
    from pymatgen.core.structure import Structure as PymatgenStructure

    return PymatgenStructure(
        structure.cell, structure.symbols, structure.positions, coords_are_cartesian=True
    )


def _text(value: Any) -> str:
    from monty.json import MontyEncoder

    return json.dumps(value, cls=MontyEncoder) + "\n"
