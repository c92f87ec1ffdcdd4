"""The table of programs, and what is made of a virial with one triangle."""

from __future__ import annotations

import numpy as np
import pytest

from crystalmath.errors import BadResult, NotFound
from crystalmath.forces.ipi import quirks
from crystalmath.forces.ipi.frame import whole_virial

SYMMETRIC = np.array([[1.0, 0.2, 0.3], [0.2, 2.0, 0.4], [0.3, 0.4, 3.0]])


def test_a_record_is_found_by_its_name() -> None:
    assert all(quirks.find(name).name == name for name in quirks.PROGRAMS)
    with pytest.raises(NotFound, match="'vasp'") as caught:
        quirks.find("vasp")
    assert "lammps" in (caught.value.hint or "")


@pytest.mark.parametrize("record", quirks.PROGRAMS.values(), ids=quirks.PROGRAMS)
def test_records_are_consistent(record: quirks.Quirks) -> None:
    assert (record.starts_in == "NEEDINIT") is (
        record.needs_init != "never" and record is not quirks.GENERIC
    )
    assert bool(record.stress_request) is (record.stress == "on_request")
    for argument in (*record.unix_arguments, *record.inet_arguments):
        assert "{" not in argument.replace("{name}", "").replace("{path}", "").replace(
            "{host}", ""
        ).replace("{port}", "")
    # what nobody has driven is taken step by step
    assert record.evidence == "run" or not record.consolidated
    assert record.units.bohr_angstrom == pytest.approx(0.529177, rel=1e-6)
    assert record.units.hartree_ev == pytest.approx(27.211386, rel=1e-6)


def test_a_triangle_is_mirrored() -> None:
    sent = np.triu(SYMMETRIC)
    np.testing.assert_array_equal(whole_virial(sent.T, quirks.LAMMPS), SYMMETRIC)
    np.testing.assert_array_equal(whole_virial(SYMMETRIC, quirks.LAMMPS), SYMMETRIC)
    np.testing.assert_array_equal(whole_virial(np.eye(3), quirks.LAMMPS), np.eye(3))


def test_contradicting_triangles_are_refused() -> None:
    wrong = np.triu(SYMMETRIC).T + 0.1 * np.triu(np.ones((3, 3)), 1)
    with pytest.raises(BadResult, match="contradict"):
        whole_virial(wrong, quirks.LAMMPS)


@pytest.mark.parametrize("half", [np.triu(SYMMETRIC), np.tril(SYMMETRIC)])
def test_an_unannounced_triangle_is_refused(half: np.ndarray) -> None:
    with pytest.raises(BadResult, match="only one triangle"):
        whole_virial(half, quirks.PW)


@pytest.mark.parametrize("noise", [0.0, 1e-12])
def test_noise_beside_zeros_is_no_triangle(noise: float) -> None:
    virial = np.diag([1.0, 2.0, 3.0])
    virial[0, 1] = noise
    np.testing.assert_array_equal(whole_virial(virial, quirks.PW), virial)
    np.testing.assert_array_equal(whole_virial(SYMMETRIC, quirks.PW), SYMMETRIC)
    np.testing.assert_array_equal(whole_virial(np.zeros((3, 3)), quirks.PW), np.zeros((3, 3)))
