"""What the steps of workflows compute, JSON in and JSON out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crystalmath.analysis.eos.forms import birch_murnaghan
from crystalmath.analysis.procedures.convergence import chosen, points_of
from crystalmath.analysis.procedures.eos import fitted, strained
from crystalmath.analysis.procedures.freedom import free_at_volume
from crystalmath.analysis.procedures.relax import report
from crystalmath.analysis.procedures.relaxed import engine_provenance
from crystalmath.errors import BadResult, NotRelaxed, TooFewPoints
from crystalmath.structures.structure import Structure, of_document
from support.crystals import rocksalt

KNOWN = {"code": "espresso", "structure": "0f3a"}


def diamond(a: float = 5.4, off: float = 0.0) -> dict[str, Any]:
    """Two atoms of silicon; the second one beside its place by ``off`` Å."""
    cell = a / 2 * (np.ones((3, 3)) - np.eye(3))
    return {
        "lattice": cell.tolist(),
        "pbc": [True] * 3,
        "symbols": ["Si", "Si"],
        "positions": [[0.0] * 3, [a / 4 + off, a / 4, a / 4]],
        "formula": "Si",
    }


def output(structure: dict[str, Any], energy_ev: float, **more: Any) -> dict[str, Any]:
    zero = [[0.0] * 3] * 2
    return {"structure": structure, "energy_ev": energy_ev, "forces_ev_per_a": zero, **more}


def relaxed(**more: Any) -> dict[str, Any]:
    stress = [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]]  # eV/Å³: 1.6 GPa
    return output(diamond(), -10.0, stress_ev_per_a3=stress, **more)


UNITS = {"cutoff": "Ry", "degauss": "Ry", "k_spacing": "1/Å"}


def asked(parameter: str = "cutoff", quantity: str = "energy_per_atom_ev", n: int = 4) -> Any:
    steps = [f"point-{i + 1}" for i in range(n)]
    known = {"parameter": parameter, "unit": UNITS.get(parameter, ""), "quantity": quantity}
    return {**known, "tolerance": 1e-3, "steps": steps}


def quantities(document: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one["value"] for one in document["quantities"]}


def flags(document: dict[str, Any]) -> dict[str, str]:
    return {one["code"]: one["message"] for one in document["flags"]}


def _series(parameter: str, values: list[Any]) -> dict[str, Any]:
    return points_of(diamond(), parameter, values, UNITS.get(parameter, ""))


def test_numbers_are_put_from_coarse_to_fine() -> None:
    cutoffs = _series("cutoff", [30.0, 10.0, 20.0])["points"]
    assert [one["setting"] for one in cutoffs] == ["10 Ry", "20 Ry", "30 Ry"]
    widths = _series("degauss", [0.01, 0.03, 0.02])["points"]
    assert [one["number"] for one in widths] == [0.03, 0.02, 0.01]
    words = _series("basis", ["STO-3G", "POB-DZVP", "POB-TZVP-REV2"])["points"]
    assert [one["value"] for one in words] == ["STO-3G", "POB-DZVP", "POB-TZVP-REV2"]


def test_spacings_become_meshes_of_odd_and_even_size_each_once() -> None:
    found = _series("k_spacing", [1.1, 0.5, 0.49, 0.4, 0.3])
    assert [one["value"] for one in found["points"]] == [[2] * 3, [5] * 3, [6] * 3, [7] * 3]
    assert [one["series"] for one in found["points"]] == ["even", "odd", "even", "odd"]
    assert found["notes"] == ["0.5 and 0.49 1/Å give the same mesh 5 × 5 × 5"]
    with pytest.raises(TooFewPoints, match="2 different meshes"):
        _series("k_spacing", [1.1, 0.5, 0.49])


def test_supercells_repeat_the_cell_with_its_own_atoms_first() -> None:
    points = _series("supercell", [1.0, 2.0, 3.0])["points"]
    assert [one["n_atoms"] for one in points] == [2, 16, 54]
    twice = of_document({**points[1]["structure"], "source": {}})
    once = of_document({**diamond(), "source": {}})
    np.testing.assert_allclose(twice.positions[:2], once.positions)
    assert twice.volume == pytest.approx(8 * once.volume)
    with pytest.raises(TooFewPoints, match="2000"):
        _series("supercell", [1.0, 2.0, 11.0])


def test_the_first_value_from_which_all_finer_ones_stay_is_told() -> None:
    series = _series("cutoff", [10.0, 20.0, 30.0, 40.0])
    energies = [-20.0, -20.4, -20.4001, -20.4002]
    outputs = [output(diamond(), e, n_atoms=2) for e in energies]
    document = chosen(series, outputs, asked(), KNOWN)
    assert quantities(document)["converged"] == 20.0
    [_, points] = document["tables"]
    assert points["columns"][1]["values"] == tuple(e / 2 for e in energies)
    assert document["plots"][0]["curves"][0]["x"] == (10.0, 20.0, 30.0, 40.0)
    assert document["flags"] == ()


def test_a_point_that_failed_is_left_out_and_listed() -> None:
    series = _series("cutoff", [10.0, 20.0, 30.0, 40.0])
    outputs = [output(diamond(), -20.0), None, output(diamond(), -20.0), output(diamond(), -20.0)]
    document = chosen(series, outputs, asked(), KNOWN)
    assert quantities(document)["converged"] == 10.0
    assert flags(document)["failed"] == "20 Ry: its calculation, step point-2, did not complete"
    with pytest.raises(TooFewPoints, match="1 of 4"):
        chosen(series, [outputs[0], None, None, None], asked(), KNOWN)


def test_forces_that_the_symmetry_fixes_tell_nothing_and_metals_have_no_gap() -> None:
    series = _series("cutoff", [10.0, 20.0, 30.0, 40.0])
    outputs = [output(diamond(), -20.0)] * 4
    document = chosen(series, outputs, asked(quantity="force_ev_per_angstrom"), KNOWN)
    assert "symmetry" in flags(document)["nothing_to_see"]
    with pytest.raises(TooFewPoints) as caught:
        chosen(series, outputs, asked(quantity="gap_ev"), KNOWN)
    assert "metal" in (caught.value.hint or "")


def test_forces_of_supercells_are_those_on_the_atoms_of_the_first_cell() -> None:
    series = _series("supercell", [1.0, 2.0, 3.0])
    outputs = []
    for i, point in enumerate(series["points"]):
        forces = np.full((point["n_atoms"], 3), 0.5)
        forces[:2] = [[0.1 * (i == 0), 0.0, 0.0], [0.0, 0.0, 0.0]]
        outputs.append({"energy_ev": -1.0, "forces_ev_per_a": forces.tolist()})
    asking = asked("supercell", "force_ev_per_angstrom", 3)
    document = chosen(series, outputs, asking, KNOWN)
    assert document["tables"][1]["columns"][-1]["values"] == pytest.approx([0.1, 0.0, 0.0])
    assert quantities(document)["converged"] == 2.0


def test_what_the_symmetry_leaves_free() -> None:
    def free(document: dict[str, Any]) -> str:
        return free_at_volume(of_document({**document, "source": {}}))

    assert free(diamond()) == "nothing"
    assert free(diamond(off=0.3)) == "shape"
    assert free_at_volume(rocksalt()) == "nothing"
    hexagonal = {**diamond(), "lattice": [[3.8, 0, 0], [-1.9, 3.29, 0], [0, 0, 6.3]]}
    assert free(hexagonal) == "shape"


def test_a_cubic_cell_may_leave_atoms_free() -> None:
    """Pyrite: sulphur stands on the diagonal, at u u u."""
    u = 0.385
    iron = [[0, 0, 0], [0.5, 0, 0.5], [0, 0.5, 0.5], [0.5, 0.5, 0]]
    half = [[0.5 - u, -u, 0.5 + u], [-u, 0.5 + u, 0.5 - u], [0.5 + u, 0.5 - u, -u]]
    sulphur = [[u, u, u], *half]
    fractions = np.array([*iron, *sulphur, *(-np.array(sulphur))], dtype=float)
    pyrite = Structure(
        5.42 * np.eye(3), (True,) * 3, ["Fe"] * 4 + ["S"] * 8, 5.42 * fractions, "test"
    )
    assert free_at_volume(pyrite) == "atoms"


def test_volumes_lie_around_a_structure_as_it_is_or_around_a_relaxed_one() -> None:
    found = strained(5, 0.06, structure=diamond())
    assert found["free"] == "nothing"
    assert found["changes"] == pytest.approx([-0.06, -0.03, 0.0, 0.03, 0.06])
    with pytest.raises(NotRelaxed, match="stress"):
        strained(5, 0.06, relaxed=relaxed())
    with_other_waves = relaxed(final_scf={"energy_ev": -10.0}, smax_gpa=1.6)
    assert len(strained(5, 0.06, relaxed=with_other_waves)["structures"]) == 5


def _points(step: float = 0.0) -> tuple[list[dict[str, Any]], list[float]]:
    """Points of a curve, whose printed lattice constants have few digits."""
    constants = np.linspace(5.25, 5.55, 7)
    volumes = constants**3 / 4
    energies = birch_murnaghan(volumes / 2, -5.0, 19.7, 0.59, 4.0)
    points = [
        output(diamond(round(a, 4) + step), 2 * float(energy))
        for a, energy in zip(constants, energies, strict=True)
    ]
    return points, [float(volume) for volume in volumes]


def test_an_equation_of_state_takes_the_volumes_that_a_code_was_given() -> None:
    points, kept = _points()
    found = quantities(fitted(points, KNOWN, kept=kept))
    assert found["v0"] == pytest.approx(19.7, abs=1e-6)
    assert found["a0"] == pytest.approx((8 * 19.7) ** (1 / 3), abs=1e-6)
    assert "relaxed_volume" not in found
    moved, _ = _points(0.01)
    with pytest.raises(BadResult, match="keep the volume"):
        fitted(moved, KNOWN, kept=kept)


def test_what_is_left_of_a_relaxation_with_the_waves_of_another_cell_is_told() -> None:
    points, kept = _points()
    from_waves = relaxed(final_scf={"energy_ev": -10.0}, smax_gpa=1.6)
    document = fitted(points, KNOWN, relaxed=from_waves, kept=kept)
    assert "1.6 GPa" in flags(document)["basis_of_first_cell"]
    assert quantities(document)["relaxed_volume"] == pytest.approx(5.4**3 / 8)


def test_a_relaxation_of_plane_waves_has_two_energies() -> None:
    given = {"energy_per_atom_ev": -5.0, "fmax_ev_per_a": 0.0, "n_ionic_steps": 4}
    ended = relaxed(
        final_scf={"energy_ev": -10.0}, relaxation={"final_enthalpy_ev": -10.2}, **given
    )
    found = quantities(report({**diamond(), "source": {}}, ended, KNOWN))
    assert (found["energy"], found["relaxation_enthalpy"]) == (-10.0, -10.2)
    assert found["steps"] == 4.0


def test_numbers_come_with_what_they_were_computed_with() -> None:
    told = engine_provenance(
        {
            "engine": {"name": "pw.x", "version": "6.7"},
            "settings": {"ecutwfc_ry": 18.0, "k_points": "4 4 4 0 0 0"},
            "pseudopotentials": [{"element": "Si", "file": "Si.UPF", "md5_printed": "a9"}],
        }
    )
    assert told == {
        "engine_name": "pw.x",
        "engine_version": "6.7",
        "ecutwfc_ry": "18.0",
        "k_points": "4 4 4 0 0 0",
        "pseudopotential_Si": "Si.UPF, MD5 a9",
    }


def optimised(left: float = 1e-5, cells: int = 1, **more: Any) -> dict[str, Any]:
    """What an optimisation of CRYSTAL gives: gradients, and neither forces nor stress."""
    gradients = {"max": left, "max_threshold": 2e-5}
    return {
        "structure": diamond(),
        "energy_ev": -10.0,
        "energy_per_atom_ev": -5.0,
        "optimisation": {"converged": True, "last_gradients": gradients},
        "n_ionic_steps": 4 * cells,
        "settings": {"k_points": "8 8 8 0 0 0"},
        **more,
    }


def test_an_optimisation_of_crystal_tells_its_gradient() -> None:
    conventional = rocksalt().document()
    document = report({**conventional, "source": {}}, optimised(), KNOWN)
    found = quantities(document)
    assert (found["gradient"], found["gradient_limit"], found["steps"]) == (1e-5, 2e-5, 4.0)
    assert "fmax" not in found
    labels = [one["label"] for one in document["quantities"]]
    assert "energy per cell of 2 atoms" in labels
    [table] = document["tables"]
    assert table["columns"][1]["name"] == "volume per atom"
    left = report({**diamond(), "source": {}}, optimised(3e-5), KNOWN)
    assert "gradient of 3e-05" in flags(left)["gradient_left"]


def test_volumes_are_those_of_the_primitive_cell_that_crystal_computes() -> None:
    assert strained(5, 0.06, relaxed=optimised())["k_mesh"] == [8, 8, 8]
    with pytest.raises(BadResult, match="neither forces"):
        strained(5, 0.06, relaxed={"structure": diamond(), "energy_ev": -10.0})
    points, kept = _points()
    conventional = fitted(points, KNOWN, kept=[4 * volume for volume in kept])
    assert quantities(conventional)["v0"] == pytest.approx(19.7, abs=1e-6)
    doubted = fitted(points, KNOWN, relaxed=optimised(3e-5), kept=kept)
    assert "gradient_left" in flags(doubted)
    moved, _ = _points(0.01)
    with pytest.raises(BadResult, match="keep the volume"):
        fitted(moved, KNOWN, kept=[4 * volume for volume in kept])
