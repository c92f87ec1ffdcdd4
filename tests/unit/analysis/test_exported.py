"""Files for other programs, made of what the steps of workflows gave."""

from __future__ import annotations

import json
from math import pi
from typing import Any

import pytest

from crystalmath.analysis.elastic.strains import Strain, strains_of
from crystalmath.analysis.export.exported import (
    as_csv,
    as_elastic,
    as_json,
    as_phonons,
    as_phonopy,
    as_structure,
)
from crystalmath.analysis.phonons.displacements import plan_displacements
from crystalmath.analysis.results.document import (
    Curve,
    Plot,
    Quantity,
    ResultsDocument,
    of_json,
)
from crystalmath.structures.structure import Structure
from support import emt
from support.crystals import rocksalt


def gave(structure: Structure) -> dict[str, Any]:
    """What a calculation of a step gives."""
    return {
        "structure": structure.document(),
        "forces_ev_per_a": emt.forces(structure).tolist(),
        "stress_ev_per_a3": emt.stress(structure).tolist(),
    }


def test_every_kind_gives_its_numbers() -> None:
    plot = Plot("p", "t", "x", "y", (Curve("c", (0.0, 1.0), (2.0, 3.0)),))
    document = ResultsDocument("eos", "t", (Quantity("b0", "B₀", 2 * pi, "GPa"),), plots=(plot,))
    given = json.loads(json.dumps(document.document()))
    [(name, text)] = as_json(given).items()
    assert (name, of_json(json.loads(text))) == ("results.json", document)
    files = as_csv(given)
    assert set(files) == {"quantities.csv", "plot_p.csv"}
    assert repr(2 * pi) in files["quantities.csv"]
    [(name, text)] = as_structure(rocksalt().document()).items()
    assert (name, json.loads(text)["@class"]) == ("structure.json", "Structure")


def test_phonons_for_phonopy_and_pymatgen() -> None:
    plan = plan_displacements(emt.relaxed_fcc("Cu", cubic=True), (1, 1, 1))
    made = (plan.document(), [gave(cell) for cell in plan.displaced()], {"born": None, "mesh": 4})
    assert set(as_phonopy(*made)) == {"phonopy_params.yaml", "FORCE_SETS"}
    files = as_phonons(*made)
    assert {name: json.loads(text)["@class"] for name, text in files.items()} == {
        "structure.json": "Structure",
        "phonon_bands.json": "PhononBandStructureSymmLine",
        "phonon_dos.json": "PhononDos",
    }


def test_elastic_constants_for_pymatgen() -> None:
    copper = emt.relaxed_fcc("Cu")
    strains: list[Strain] = list(strains_of(copper, (-0.005, 0.005)))
    strained = {
        "structures": [strain.applied(copper).document() for strain in strains],
        "strains": [
            {
                "name": strain.name,
                "strain": strain.strain.tolist(),
                "deformation": strain.deformation.tolist(),
            }
            for strain in strains
        ],
    }
    points = [gave(strain.applied(copper)) for strain in strains]
    files = as_elastic(gave(copper), strained, points)
    assert set(files) == {"structure.json", "elastic_tensor.json"}
    tensor = json.loads(files["elastic_tensor.json"])
    assert tensor["@class"] == "ElasticTensor"
    assert tensor["input_array"][0][0][0][0] == pytest.approx(172.6, abs=0.5)
