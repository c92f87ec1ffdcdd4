"""What workflows make of real outputs: optimisations, with the settings of the deck beside them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from crystalmath.analysis.procedures.convergence import chosen, points_of
from crystalmath.analysis.procedures.eos import strained
from crystalmath.analysis.procedures.relax import report
from crystalmath.units import HARTREE_EV
from support.crystal import CASES, crystal
from support.crystals import rocksalt

pytestmark = pytest.mark.skipif(
    not CASES.is_dir(), reason="no folder of outputs (CRYSTALMATH_CASES)"
)
KNOWN = {"code": "crystal", "structure": "0f3a"}


def results_of(path: Path) -> dict[str, Any]:
    reading = crystal().read(path)
    assert reading is not None
    assert reading.verdict.completed
    return dict(reading.verdict.results)


@pytest.mark.parametrize(
    ("name", "n_atoms", "hartree", "left"),
    [
        ("mgo_opt_crystal22", 2, -2.754486980727e02, 0.000031),
        ("corundum_opt", 10, -1.400469343370e03, 0.000063),
    ],
)
def test_an_optimisation_gives_its_report_and_the_volumes_around_its_end(
    name: str, n_atoms: int, hartree: float, left: float
) -> None:
    ended = results_of(CASES / f"{name}.out")
    given = {**ended["structure"], "source": {}}
    found = {one["name"]: one["value"] for one in report(given, ended, KNOWN)["quantities"]}
    energy = ended["final_energy_hartree"]
    assert energy == hartree
    assert found["energy"] == energy * HARTREE_EV
    assert found["energy_per_atom"] == pytest.approx(energy * HARTREE_EV / n_atoms)
    assert found["gradient"] <= found["gradient_limit"] == 0.00045
    assert found["gradient"] == pytest.approx(left, abs=1e-9)
    volumes = strained(5, 0.06, relaxed=ended)
    assert volumes["volumes_angstrom3"][2] == pytest.approx(found["volume"])
    assert volumes["free"] == ("nothing" if n_atoms == 2 else "shape")


def test_settings_are_those_of_the_deck_beside_the_output(tmp_path: Path) -> None:
    for ending in ("d12", "out"):
        shutil.copy(CASES / f"mgo_scf.{ending}", tmp_path / f"mgo.{ending}")
    ended = results_of(tmp_path / "mgo.out")
    settings = ended["settings"]
    assert settings["k_points"] == "8 8 8 0 0 0"
    assert (settings["isp"], settings["basis"]) == ("8", "in the deck")
    assert settings["functional"] == "HF"
    series = points_of(rocksalt().document(), "shrink", [4.0, 6.0, 8.0])
    asked = {
        "parameter": "shrink",
        "quantity": "energy_per_atom_ev",
        "tolerance": 1e-3,
        "steps": ["point-1", "point-2", "point-3"],
    }
    document = chosen(series, [ended, ended, ended], asked, KNOWN)
    energy = -271.21814374931 * HARTREE_EV / 2  # per atom of the primitive cell, not of eight
    assert energy in [pytest.approx(x) for x in document["tables"][1]["columns"][1]["values"]]
    assert document["provenance"]["basis"] == "in the deck"
    shutil.copy(CASES / "mgo_scf.out", tmp_path / "alone.out")
    assert "settings" not in results_of(tmp_path / "alone.out")
