"""What the workflow ``bands`` computes: its path, its edges, its density of states, its doubts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crystalmath.analysis.bands.mesh import whole_mesh
from crystalmath.analysis.procedures import bands
from crystalmath.errors import BadResult, InputRejected
from crystalmath.structures.structure import Floats
from support.crystals import rocksalt

_N = 8
_ALL = np.stack(np.meshgrid(*[np.arange(_N) / _N] * 3, indexing="ij"), axis=-1).reshape(-1, 3)


def _wave(k: Floats) -> Floats:
    return np.asarray(np.cos(2 * np.pi * k).sum(axis=1))


def computed(path: dict[str, Any], *bands_of: Any, spins: int = 1, **more: Any) -> dict[str, Any]:
    """What a calculation would give whose bands are functions of k; a whole mesh, no symmetry."""

    def energies(k: Floats) -> list[Any]:
        return [np.stack([band(k) for band in bands_of], axis=1).tolist()] * spins

    k_path = np.array(path["k_path"])
    shared = {
        "lattice": path["structure"]["lattice"],
        "electrons": 2.0,
        "fermi_ev": 1.0,
        "inverts": True,
        "rotations": [[1, 0, 0, 0, 1, 0, 0, 0, 1]],
    }
    along = {**shared, "k_points": path["k_path"], "energies_ev": energies(k_path), "mesh": None}
    # of each pair k, −k one point
    index = {tuple(k): i for i, k in enumerate(np.rint(_ALL * _N).astype(int))}
    pairs = {min(i, index[tuple(-np.array(k) % _N)]) for k, i in index.items()}
    half = _ALL[sorted(pairs)]
    selfs = [all(x in (0.0, 0.5) for x in k) for k in half]
    mesh = {
        **shared,
        "k_points": half.tolist(),
        "weights": [1.0 if one else 2.0 for one in selfs],
        "energies_ev": energies(half),
        "mesh": [_N] * 3 + [0] * 3,
    }
    levels = {
        "bands": along,
        "nscf": mesh,
        "magnetisation_mu_b": 0.0,
        "scf_fermi_ev": 0.5,
        "scf_mesh": [4] * 3 + [0] * 3,
        "scf_occupations": "fixed",
    }
    return {"levels": levels | more, "fmax_ev_per_a": 0.0, "smax_gpa": 0.0}


@pytest.fixture(scope="module")
def path() -> dict[str, Any]:
    return bands.pathed(rocksalt().document(), 0.2)


def report(path: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    return bands.report(path, found, {"code": "espresso"})


def values(document: dict[str, Any]) -> dict[str, float | None]:
    return {one["name"]: one["value"] for one in document["quantities"]}


def test_the_path_belongs_to_the_cell_that_comes_with_it(path: dict[str, Any]) -> None:
    assert sorted(path["structure"]["symbols"]) == ["Mg", "O"]
    assert path["path"]["given_cells"] == 4
    assert path["path"]["lines"][1:3] == [["X", "U"], ["K", "GAMMA"]]
    again = bands.pathed({**path["structure"], "source": {}}, 0.2)
    assert again["k_path"] == path["k_path"]


def test_edges_are_those_of_path_and_mesh(path: dict[str, Any]) -> None:
    # valence: highest at Γ, 3 − 5; conduction: lowest where all cosines are −1, which is L
    found = report(path, computed(path, lambda k: _wave(k) - 5, lambda k: _wave(k) + 4))
    got = values(found)
    assert (got["valence"], got["conduction"]) == (pytest.approx(-2.0), pytest.approx(1.0))
    assert (got["gap"], got["direct_gap"]) == (pytest.approx(3.0), pytest.approx(9.0))
    assert got["electrons"] == pytest.approx(2.0, rel=5e-3)
    assert "an indirect gap" in found["title"]
    labels = {one["name"]: one["label"] for one in found["quantities"]}
    assert labels["valence"].endswith("at Γ")
    assert labels["conduction"].endswith("at L")
    assert not found["flags"]
    assert found["provenance"]["dense_mesh"] == "8 × 8 × 8"
    assert found["provenance"]["cell"].endswith("the given one holds 4")
    assert [plot["name"] for plot in found["plots"]] == ["bands", "dos"]
    assert found["plots"][0]["breaks"]


def test_a_gap_between_equivalent_points_is_direct(path: dict[str, Any]) -> None:
    # both edges where one cosine of three is −1: on the path, and at other points of the mesh
    found = report(
        path, computed(path, lambda k: -abs(_wave(k) - 1), lambda k: abs(_wave(k) - 1) + 2)
    )
    assert values(found)["gap"] == pytest.approx(2.0)
    assert "a direct gap" in found["title"]


def test_a_metal_has_no_gap_and_its_doubt_about_fixed_occupations(path: dict[str, Any]) -> None:
    made = computed(path, _wave, lambda k: _wave(k) + 1)
    found = report(path, made)
    assert values(found)["gap"] is None
    assert values(found)["zero"] == 1.0
    assert "a metal" in found["title"]
    assert not found["tables"]
    assert "fixed_occupations" in [flag["code"] for flag in found["flags"]]
    smeared = computed(path, _wave, lambda k: _wave(k) + 1, scf_occupations="smearing")
    codes = [flag["code"] for flag in report(path, smeared)["flags"]]
    assert "fixed_occupations" not in codes


def test_both_spins_have_their_gaps(path: dict[str, Any]) -> None:
    made = computed(path, lambda k: _wave(k) - 5, lambda k: _wave(k) + 4, spins=2)
    got = values(report(path, made))
    assert got["gap_up"] == got["gap_down"] == pytest.approx(3.0)
    odd = computed(path, _wave, lambda k: _wave(k) + 1, spins=2, magnetisation_mu_b=0.73)
    assert values(report(path, odd))["gap"] is None


def test_without_a_mesh_the_edges_are_those_of_the_path(path: dict[str, Any]) -> None:
    made = computed(path, lambda k: _wave(k) - 5, lambda k: _wave(k) + 4)
    del made["levels"]["nscf"]
    found = report(path, made)
    assert [flag["code"] for flag in found["flags"]] == ["path_only"]
    assert [plot["name"] for plot in found["plots"]] == ["bands"]


def test_what_is_left_of_forces_and_stress_is_told(path: dict[str, Any]) -> None:
    made = computed(path, lambda k: _wave(k) - 5, lambda k: _wave(k) + 4)
    found = report(path, made | {"fmax_ev_per_a": 0.3, "smax_gpa": 2.0})
    [flag] = found["flags"]
    assert flag["code"] == "not_relaxed"
    assert "0.3 eV/Å and a stress of 2 GPa" in flag["message"]


def test_levels_of_other_points_or_cells_are_refused(path: dict[str, Any]) -> None:
    made = computed(path, lambda k: _wave(k) - 5, lambda k: _wave(k) + 4)
    moved = [[x + 0.01, y, z] for x, y, z in path["k_path"]]
    made["levels"]["bands"]["k_points"] = moved
    with pytest.raises(BadResult, match="points of the path"):
        report(path, made)
    made["levels"]["bands"]["k_points"] = path["k_path"]
    made["levels"]["bands"]["lattice"] = rocksalt().document()["lattice"]
    with pytest.raises(BadResult, match="cell"):
        report(path, made)


def test_where_tetrahedra_are_not_possible_the_smearing_is_told(path: dict[str, Any]) -> None:
    made = computed(path, lambda k: _wave(k) - 5, lambda k: _wave(k) + 4)
    made["levels"]["nscf"]["inverts"] = False
    found = report(path, made)
    assert "smeared_dos" in [flag["code"] for flag in found["flags"]]
    assert "gaussian" in found["plots"][1]["title"]


def test_a_mesh_is_put_together_only_when_it_is_whole() -> None:
    k = np.array([[0.0, 0, 0], [0.5, 0, 0], [0, 0.5, 0.5], [0.5, 0.5, 0.5]])
    turned = np.array([np.roll(np.eye(3), n, axis=0) for n in range(3)])
    weights = np.array([1, 3, 3, 1.0])
    levels = np.arange(4.0).reshape(1, 4, 1)
    whole = whole_mesh(levels, k, weights, (2, 2, 2), turned, inverts=True)
    assert whole.shape == (1, 2, 2, 2, 1)
    assert whole[0, 0, 1, 0, 0] == 1.0
    assert whole[0, 1, 1, 0, 0] == 2.0
    for change in (
        {"weights": np.array([1, 2, 4, 1.0])},
        {"k_points": k + 0.1},
        {"rotations": turned[:1]},
    ):
        given = {"k_points": k, "weights": weights, "rotations": turned} | change
        with pytest.raises(InputRejected):
            whole_mesh(levels, sizes=(2, 2, 2), inverts=True, **given)
