"""The numbers of real engines: examined, added, averaged, together and alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, molecule

from crystalmath import calculator
from crystalmath.errors import InputRejected
from crystalmath.forces.lean import LeanCalculator
from support.daemon import Daemon
from support.torch_engines import call

pytestmark = [pytest.mark.torch, pytest.mark.timeout(1800)]


def salt() -> Atoms:
    atoms = bulk("NaCl", "rocksalt", a=5.5, cubic=True)
    atoms.rattle(0.05, seed=1)
    atoms.set_cell(
        atoms.cell @ [[1.0, 0.05, 0.02], [0.0, 0.98, 0.04], [0.0, 0.0, 1.02]], scale_atoms=True
    )
    return atoms


@pytest.fixture
def make(daemon: Daemon, homes: dict[str, Path]) -> Iterator[Any]:
    """Makes calculators with workers of the daemon, and closes them."""
    made: list[LeanCalculator] = []

    def calc(engine: str, **options: Any) -> LeanCalculator:
        made.append(calculator(engine, socket=str(daemon.socket), allowance_s=900, **options))
        return made[-1]

    yield calc
    for one in made:
        one.close()


# sevenn needs minutes for it, and has been examined by its installation
@pytest.mark.parametrize("engine", ["mace", "dftd3", "tblite"])
def test_every_engine_passes_its_examination(
    daemon: Daemon, homes: dict[str, Path], mace_model: Path, engine: str
) -> None:
    params = {"engine": engine} | ({"model": str(mace_model)} if engine == "mace" else {})
    found = call(daemon, "forces.doctor", params)
    failed = [check for check in found["checks"] if check["verdict"] == "failed"]
    assert failed == []
    examined = {check["structure"] for check in found["checks"] if check["name"] == "forces"}
    everything = {"Cu", "Si", "NaCl", "MgO", "skewed", "slab", "molecule"}
    assert examined == ({"molecule"} if engine == "tblite" else everything)
    if engine == "tblite":  # the Γ point alone: it refuses short axes, and says why
        skipped = [check for check in found["checks"] if check["verdict"] == "skipped"]
        assert {check["structure"] for check in skipped} == everything - {"molecule"}
        assert all("15 Å" in check["detail"] for check in skipped)
    assert found["withheld"] == {}


def test_what_was_installed_has_been_examined(daemon: Daemon, homes: dict[str, Path]) -> None:
    """The installation itself has kept a fingerprint of each engine with a default model."""
    folder = daemon.data / "forces" / "fingerprints"
    text = " ".join(path.read_text(encoding="utf-8") for path in folder.glob("*.json"))
    for engine in ("sevenn", "dftd3", "tblite"):
        assert f'"engine": "{engine}"' in text


def test_mace_and_dispersion_are_the_sum_of_both(make: Any, mace_model: Path) -> None:
    atoms = salt()
    names = ["energy", "free_energy", "forces", "stress"]
    alone = [
        make("mace", model=mace_model).evaluate([atoms], names)[0],
        make("dftd3").evaluate([atoms], names)[0],
    ]
    both = make("mace+dftd3", model=mace_model)
    (found,) = both.evaluate([atoms], names)
    for name in names:
        expected = alone[0][name] + alone[1][name]
        assert np.allclose(found[name], expected, rtol=1e-12, atol=1e-12), name
    atoms.calc = both
    assert np.allclose(atoms.get_stress(voigt=False), found["stress"], rtol=1e-12, atol=1e-14)
    assert abs(alone[1]["energy"]) > 0.1  # the dispersion is there
    with_rpbe = make("mace+dftd3", model=mace_model, dftd3={"model": "rpbe"})
    rpbe = make("dftd3", model="rpbe").get_potential_energy(atoms)
    assert with_rpbe.get_potential_energy(atoms) == pytest.approx(alone[0]["energy"] + rpbe)
    assert abs(rpbe - alone[1]["energy"]) > 0.1  # another functional, other parameters


def test_a_committee_of_three_files(make: Any, mace_models: list[Path]) -> None:
    atoms = salt()
    single = [
        make("mace", model=path).evaluate([atoms], ["energy", "forces"])[0] for path in mace_models
    ]
    energies = np.array([one["energy"] for one in single])
    forces = np.array([one["forces"] for one in single])
    others = [str(path) for path in mace_models[1:]]
    committee = make("mace", model=mace_models[0], committee=others)
    atoms.calc = committee
    assert energies.std() > 1e-3
    assert atoms.get_potential_energy() == pytest.approx(energies.mean(), rel=1e-10)
    assert np.allclose(atoms.get_forces(), forces.mean(axis=0), atol=1e-9)
    assert np.allclose(committee.get_property("committee_energy", atoms), energies, rtol=1e-10)
    assert np.allclose(committee.get_property("committee_forces", atoms), forces, atol=1e-9)
    spread = committee.get_spread(atoms)
    assert spread.energy == pytest.approx(energies.std(), rel=1e-6)
    deviation = np.linalg.norm(forces - forces.mean(axis=0), axis=2)
    assert np.allclose(spread.forces, np.sqrt((deviation**2).mean(axis=0)), atol=1e-9)


@pytest.mark.parametrize(("engine", "relative"), [("mace", 1e-8), ("sevenn", 1e-4)])
def test_several_at_once_are_the_single_ones(
    make: Any, mace_model: Path, engine: str, relative: float
) -> None:
    lean = make(engine, **({"model": mace_model} if engine == "mace" else {}))
    many = [salt(), bulk("Cu", cubic=True), bulk("Si", cubic=True), salt() * (2, 1, 1)]
    for seed, atoms in enumerate(many):
        atoms.rattle(0.05, seed=seed)
    names = ["energy", "forces", "stress"]
    for atoms, found in zip(many, lean.evaluate(many, names), strict=True):
        (alone,) = lean.evaluate([atoms], names)
        for name in names:
            scale = max(1e-3, float(np.abs(alone[name]).max()))
            assert np.abs(np.asarray(found[name]) - alone[name]).max() <= relative * scale, name


def test_tblite_refuses_a_short_axis_and_reads_a_charge(make: Any) -> None:
    lean = make("tblite")
    with pytest.raises(InputRejected, match="15 Å"):
        lean.get_potential_energy(bulk("Si", cubic=True))
    water = molecule("H2O")
    neutral = lean.get_potential_energy(water)
    water.info["charge"] = 1
    assert lean.get_potential_energy(water) > neutral + 5  # eV, an ionization
    assert lean.get_charges(water).sum() == pytest.approx(1.0, abs=1e-6)
