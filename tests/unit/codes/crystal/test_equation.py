"""Scans of volumes: their table and fits as printed, and no energy of the last volume."""

from __future__ import annotations

from pathlib import Path

import pytest

from crystalmath.codes.crystal.output.lines import Reader
from crystalmath.codes.crystal.output.run import Run
from crystalmath.codes.crystal.output.series import series_of
from crystalmath.codes.crystal.output.verdict import judge_run, status_of
from crystalmath.units import HARTREE_EV
from support.crystal import END, crystal, scf_output

TABLE = """
 SORTING VOLUMES/ENERGIES

      VOLUME (A^3)        ENERGY (a.u.)

        17.5353        -2.712163402211E+02
        18.6546        -2.712181437493E+02
        19.7739        -2.712169871004E+02

 +++++++ FITTING USING ALL POINTS +++++++

 EQUATION OF STATE             VOL(A^3)     E(AU)        BM(GPa)   BM PRIME
 MURNAGHAN 1944                18.6631    -271.21814488   168.42    4.11
 BIRCH-MURNAGHAN 1947          18.6634    -271.21814491   168.57    4.13
 POIRIER-TARANTOLA 1998        18.6635    -271.21814492   168.61    4.14
 VINET 1987                    18.6634    -271.21814491   ******    4.13
 THIRD ORDER POLYNOMIAL        18.6640    -271.21814497   168.90

 BIRCH-MURNAGHAN 1947
 +++++++++++++++++++++
   17.5353   21.40  -271.216340  -269.2  250.1

 +++++++ FITTING EXCLUDING POINT  1 +++++++
 MURNAGHAN 1944                19.9999    -271.21814488   100.00    9.99
"""


def opt_end(word: str = "CONVERGED") -> str:
    return f" * OPT END - {word} * E(AU):  -2.712169871004E+02  POINTS    4 *\n"


def read(*parts: str) -> Run:
    reader = Reader()
    for part in (scf_output(end=None), *parts):
        reader.feed(part.encode())
    return reader.finish()


def test_the_table_and_the_fits_are_those_that_are_printed() -> None:
    verdict = judge_run(read(opt_end(), TABLE, END), end=None, directory=None, alone=True)
    assert verdict.completed
    results = verdict.results
    assert results["task"] == "eos"
    found = results["equation_of_state"]
    assert found["points"][1] == {
        "volume_angstrom3": 18.6546,
        "energy_hartree": -271.2181437493,
    }
    assert len(found["points"]) == 3
    # A modulus that did not fit its columns is not guessed, nor is its row read one column on.
    assert [fit["name"] for fit in found["fits"]] == [
        "MURNAGHAN 1944",
        "BIRCH-MURNAGHAN 1947",
        "POIRIER-TARANTOLA 1998",
        "THIRD ORDER POLYNOMIAL",
    ]
    assert found["fits"][1] == {
        "name": "BIRCH-MURNAGHAN 1947",
        "volume_angstrom3": 18.6634,
        "energy_hartree": -271.21814491,
        "bulk_modulus_gpa": 168.57,
        "bulk_modulus_derivative": 4.13,
    }
    assert found["fits"][0]["bulk_modulus_gpa"] == 168.42
    assert "bulk_modulus_derivative" not in found["fits"][3]


def test_the_energy_and_geometry_of_the_last_volume_are_no_results() -> None:
    results = judge_run(read(opt_end(), TABLE, END), end=None, directory=None, alone=True).results
    for name in ("final_energy_hartree", "final_geometry", "optimisation", "gap"):
        assert name not in results
    assert results["structure"]["symbols"] == ["Mg", "O"]


def test_one_volume_that_is_not_optimised_fails_the_scan() -> None:
    run = read(opt_end("FAILED"), opt_end(), TABLE, END)
    verdict = judge_run(run, end=None, directory=None, alone=True)
    assert (verdict.completed, verdict.reason) == (False, "not_converged")
    assert "1 of the volumes" in str(verdict.message)


def test_cut_off_it_is_incomplete_and_its_curve_is_that_far() -> None:
    run = read(opt_end(), TABLE)
    assert status_of(run) == "incomplete"
    curve = series_of(run)["eos_energy"]
    assert curve["x"] == [17.5353, 18.6546, 19.7739]
    assert curve["y"][0] == pytest.approx(-271.2163402211 * HARTREE_EV)


def test_a_deck_that_asks_for_a_scan_makes_an_output_without_table_a_failure(
    tmp_path: Path,
) -> None:
    output = tmp_path / "mgo.out"
    output.write_text(scf_output(end=None) + opt_end() + END)
    deck = "MgO\nCRYSTAL\n0 0 0\n225\n4.21\n2\n12 0 0 0\n8 .5 .5 .5\n"
    output.with_suffix(".d12").write_text(deck + "OPTGEOM\nEND\nEND\nEND\nEND\n")
    reading = crystal().read(output)
    assert reading is not None
    assert reading.verdict.completed
    output.with_suffix(".d12").write_text(deck + "EOS\nRANGE\n0.94 1.06 7\nEND\nEND\nEND\nEND\n")
    reading = crystal().read(output)
    assert reading is not None
    assert (reading.verdict.completed, reading.task) == (False, "eos")
    assert "no table of volumes" in str(reading.verdict.message)
