"""The checks of an engine's numbers: right ones pass, every known mistake is found and named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crystalmath.errors import WorkerDied
from crystalmath.forces.doctor import examine, reference
from crystalmath.forces.doctor.specimens import specimens
from crystalmath.forces.lean import LeanCalculator
from support.force_engines import calculator, launch


def checks(folder: Path, engine: str, **options: Any) -> list[dict[str, Any]]:
    with calculator(folder, launch(engine, options=options)) as lean:
        return list(examine(lean))


def failures(found: list[dict[str, Any]]) -> set[str]:
    return {check["name"] for check in found if check["verdict"] == "failed"}


def details(found: list[dict[str, Any]], name: str) -> str:
    return " ".join(c["detail"] for c in found if c["name"] == name and c["verdict"] == "failed")


@pytest.mark.parametrize("engine", ["emt", "lj"])
def test_engines_that_are_right_pass(tmp_path: Path, engine: str) -> None:
    found = checks(tmp_path, engine)
    assert failures(found) == set()
    names = {check["name"] for check in found}
    assert names >= {
        "forces", "stress", "stress symmetry", "forces sum", "translation", "rotation",
        "permutation", "wrap", "supercell", "properties", "undeclared", "repeat", "nan input",
        "batch", "dtype", "precision", "time",
    }  # fmt: skip
    compared = [c for c in found if c["name"] in ("forces", "stress")]
    assert {c["structure"] for c in compared} >= {"Cu", "skewed", "slab", "molecule"}
    for check in compared:
        assert check["value"] <= check["tolerance"]
        assert check["unit"] in ("eV/Å", "eV/Å³")
        # Differences are far more exact than what is asked for, so the check can tell.
        assert check["value"] < 0.01 * check["tolerance"]
    assert all(check["value"] > 0 for check in found if check["name"] == "time")


@pytest.mark.parametrize(
    ("mistake", "expected", "said"),
    [
        ("stress sign", {"stress"}, "the sign is the opposite one"),
        ("stress gpa", {"stress"}, "in GPa"),
        ("stress virial", {"stress"}, "it is the virial"),
        ("stress zero", {"stress"}, "all of it is zero"),
        ("stress half shear", {"stress"}, "most of all"),
        ("stress order", {"stress", "rotation"}, "most of all"),
        ("forces sign", {"forces"}, "the sign is the opposite one"),
        ("forces factor", {"forces"}, "1.02 times what it should be"),
        ("one force", {"forces", "forces sum"}, "not the gradient"),
    ],
)
def test_a_mistake_in_a_derivative_is_found_and_named(
    tmp_path: Path, mistake: str, expected: set[str], said: str
) -> None:
    found = checks(tmp_path, "wrong", mistake=mistake)
    assert expected <= failures(found)
    assert said in details(found, min(expected, key=len))
    other = "forces" if "stress" in expected else "stress"
    assert other not in failures(found)  # the other derivative is right, and is said to be


@pytest.mark.parametrize(
    ("mistake", "expected"),
    [
        ("position energy", {"translation", "wrap"}),
        ("order", {"permutation"}),
        ("not extensive", {"supercell"}),
        ("repeat", {"repeat"}),
        ("single", {"precision"}),
        ("missing", {"properties"}),
    ],
)
def test_a_broken_symmetry_is_found(tmp_path: Path, mistake: str, expected: set[str]) -> None:
    assert expected <= failures(checks(tmp_path, "wrong", mistake=mistake))


def test_a_structure_that_cannot_be_computed_is_told_and_the_others_are_checked(
    tmp_path: Path,
) -> None:
    found = checks(tmp_path, "wrong", mistake="no molecules")
    assert failures(found) == {"energy"}
    (failed,) = [check for check in found if check["verdict"] == "failed"]
    assert failed["structure"] == "molecule"
    assert "no molecules" in failed["detail"]


def test_a_worker_that_dies_ends_the_examination(tmp_path: Path) -> None:
    with calculator(tmp_path, launch("dying", options={"after": 30})) as lean:
        found = examine(lean)
        assert next(found)["verdict"] == "passed"
        with pytest.raises(WorkerDied, match="exit code 3"):
            list(found)


def test_the_reference_is_one_structure_with_its_numbers(tmp_path: Path) -> None:
    with calculator(tmp_path, launch("emt")) as lean:
        found = reference(lean)
        assert found is not None
        name, atoms = next(specimens(lean.capabilities[0]["elements"]))
        assert name == "Cu"
        assert found["structure"]["symbols"] == ["Cu"] * 4
        atoms.calc = lean
        assert found["energy_ev"] == atoms.get_potential_energy()
        assert np.array_equal(found["forces_ev_per_a"], atoms.get_forces())


@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        (None, ["Cu", "Si", "NaCl", "MgO", "skewed", "slab", "molecule"]),
        (["Cu"], ["Cu", "skewed", "slab", "molecule"]),
        (["Na", "Cl", "O", "H"], ["NaCl", "skewed", "slab", "molecule"]),
        (["W", "Re"], ["W", "skewed", "slab", "molecule"]),
        (["H", "C", "N", "O"], ["molecule"]),
        ([], []),
    ],
)
def test_structures_are_of_the_elements_that_are_known(
    elements: list[str] | None, expected: list[str]
) -> None:
    found = dict(specimens(elements))
    assert list(found) == expected
    for atoms in found.values():
        assert elements is None or set(atoms.symbols) <= set(elements)
    if "skewed" in found:
        assert np.all(np.abs(found["skewed"].cell.array) > 1e-3)
        assert list(found["slab"].pbc) == [True, True, False]
    if "molecule" in found:
        assert not found["molecule"].pbc.any()


@pytest.fixture
def right(tmp_path: Path) -> Iterator[LeanCalculator]:
    with calculator(tmp_path, launch("wrong")) as lean:
        yield lean


def test_differences_alone_call_nothing_wrong(right: LeanCalculator) -> None:
    assert failures(list(examine(right))) == set()
