"""Documents, exports and pictures of results."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from crystalmath.analysis.bands.gap import band_edges
from crystalmath.analysis.bands.path import band_path, sampled
from crystalmath.analysis.elastic.fit import ElasticConstants, fit_elastic
from crystalmath.analysis.elastic.strains import strains_of
from crystalmath.analysis.eos.fit import fit_eos
from crystalmath.analysis.eos.forms import birch_murnaghan
from crystalmath.analysis.export.phonopy_files import phonopy_files
from crystalmath.analysis.export.pymatgen_files import (
    elastic_json,
    phonon_bands_json,
    phonon_dos_json,
    structure_json,
)
from crystalmath.analysis.export.tables import csv_files, json_text
from crystalmath.analysis.phonons.displacements import plan_displacements
from crystalmath.analysis.phonons.model import PhononModel, phonons_of
from crystalmath.analysis.phonons.nac import PolarResponse
from crystalmath.analysis.phonons.spectrum import phonon_bands, phonon_dos, thermodynamics
from crystalmath.analysis.plots.picture import picture
from crystalmath.analysis.results.bands import bands_document
from crystalmath.analysis.results.convergence import Series, convergence_document
from crystalmath.analysis.results.document import (
    Plot,
    ResultsDocument,
    numbers,
    of_json,
    provenance_of,
)
from crystalmath.analysis.results.elastic import elastic_document
from crystalmath.analysis.results.eos import eos_document
from crystalmath.analysis.results.phonon import phonon_document
from crystalmath.analysis.results.size import MOST_POINTS, fitting
from crystalmath.analysis.spectra.dos import smeared_dos
from crystalmath.domain.convergence import Point, converge
from crystalmath.errors import BadResult, InputRejected
from support import emt
from support.crystals import rocksalt

PROVENANCE = {"structure": "0f3a", "engine": "emt"}


@cache
def _eos() -> ResultsDocument:
    volumes = 11.5 * np.linspace(0.95, 1.05, 9)
    found = fit_eos(volumes, birch_murnaghan(volumes, -1.0, 11.57, 0.84, 4.6), 11.6)
    return eos_document(found, PROVENANCE, of="atom")


@cache
def _phonons() -> PhononModel:
    plan = plan_displacements(emt.relaxed_fcc("Cu", cubic=True), (2, 2, 2))
    return phonons_of(plan, [emt.forces(cell) for cell in plan.displaced()])


@cache
def _phonon() -> ResultsDocument:
    model = _phonons()
    thermal = thermodynamics(model, [0.0, 150.0, 300.0], 6)
    return phonon_document(phonon_bands(model, 0.3), phonon_dos(model, 6), thermal, PROVENANCE)


@cache
def _constants() -> ElasticConstants:
    given = emt.relaxed_fcc("Cu")
    strains = strains_of(given)
    return fit_elastic(given, strains, [emt.stress(s.applied(given)) for s in strains])


@cache
def _convergence() -> ResultsDocument:
    points = [Point(f"{n} {n} {n}", (e,), "even") for n, e in ((2, 1.0), (4, 1.5), (6, 1.5001))]
    found = converge([*points, Point("8 8 8", None, "even", "walltime")], 1e-3)
    return convergence_document(Series(found, "energy_per_atom_ev", 1e-3, "k_spacing"), PROVENANCE)


@cache
def _bands() -> ResultsDocument:
    path = band_path(rocksalt())
    points = sampled(path, 0.2)
    wave = np.cos(2 * np.pi * points.fractions).sum(axis=1)
    energies = np.stack([wave - 5, wave + 4], axis=1)[None]
    grid = np.arange(-12, 12, 0.05)
    dos = smeared_dos(energies, np.ones(len(wave)), 0.0, grid, 0.3, electrons=2.0)
    edges = band_edges(energies, points.fractions, (1,), with_mesh=False)
    return bands_document(path, points, energies, edges, PROVENANCE, zero_ev=-2.0, dos=dos)


DOCUMENTS = {
    "eos": _eos,
    "elastic": lambda: elastic_document(_constants(), PROVENANCE),
    "phonon": _phonon,
    "convergence": _convergence,
    "bands": _bands,
}


@pytest.mark.parametrize("kind", list(DOCUMENTS))
def test_a_document_is_json_and_comes_back_the_same(kind: str) -> None:
    document = DOCUMENTS[kind]()
    assert document.kind == kind
    assert of_json(json.loads(json_text(document))) == document
    assert document.document()["provenance"] == PROVENANCE
    for table in document.tables:
        assert len({len(column.values) for column in table.columns}) == 1


@pytest.mark.parametrize("kind", list(DOCUMENTS))
def test_every_number_is_in_the_csv_files(kind: str) -> None:
    document = DOCUMENTS[kind]()
    files = csv_files(document)
    assert len(files) == 1 + len(document.tables) + len(document.plots)
    rows = list(csv.DictReader(io.StringIO(files["quantities.csv"])))
    for item, row in zip(document.quantities, rows, strict=True):
        assert row["name"] == item.name
        assert row["unit"] == item.unit
        assert row["value"] == "" if item.value is None else float(row["value"]) == item.value
    for table in document.tables:
        name = table.name.replace(" ", "_")
        assert len(files[f"{name}.csv"].splitlines()) == 1 + len(table.columns[0].values)


@pytest.mark.parametrize("kind", list(DOCUMENTS))
def test_every_plot_becomes_a_picture(kind: str) -> None:
    for plot in DOCUMENTS[kind]().plots[:2]:
        png, svg = picture(plot, "png"), picture(plot, "svg")
        assert png.startswith(b"\x89PNG\r\n")
        assert svg.lstrip().startswith(b"<?xml")
        assert b"</svg>" in svg


def test_the_same_result_gives_the_same_picture() -> None:
    plot = _eos().plot("energy")
    assert plot is not None
    assert picture(plot, "svg") == picture(plot, "svg")


def test_what_cannot_be_drawn_is_refused() -> None:
    plot = _eos().plots[0]
    with pytest.raises(InputRejected, match="png or svg"):
        picture(plot, "pdf")  # type: ignore[arg-type]
    with pytest.raises(InputRejected, match="no points"):
        picture(Plot("empty", "", "", "", ()), "png")
    assert _eos().plot("none") is None


def test_the_equation_of_state_keeps_both_volumes_apart() -> None:
    document = _eos()
    assert document.quantity("v0").value == pytest.approx(11.57, abs=1e-6)
    assert document.quantity("relaxed_volume").value == 11.6
    assert document.quantity("b0").unit == "GPa"
    assert document.quantity("b0").error is not None
    assert document.quantity("b0_prime").value == pytest.approx(4.6, abs=1e-4)
    with pytest.raises(KeyError):
        document.quantity("nothing")


def test_elastic_constants_are_named_and_an_unstable_crystal_has_no_moduli() -> None:
    document = elastic_document(_constants(), PROVENANCE)
    names = [item.name for item in document.quantities]
    assert names[:4] == ["c11", "c12", "c44", "bulk_voigt"]  # each that symmetry leaves free once
    assert document.quantity("bulk_hill").value == pytest.approx(134.4, abs=0.4)
    stiffness = _constants().stiffness_gpa.copy()
    stiffness[3, 3] = -5.0
    broken = ElasticConstants(
        stiffness, _constants().errors_gpa, stiffness, 3, np.zeros(6), 0.0, 225, (), ()
    )
    document = elastic_document(broken, PROVENANCE)
    assert document.plot("young") is None
    assert [flag.code for flag in document.flags] == ["unstable"]
    assert "bulk_hill" not in [item.name for item in document.quantities]


def test_elastic_constants_are_plotted_by_direction_and_along_each_strain() -> None:
    document = elastic_document(_constants(), PROVENANCE)
    assert [plot.name for plot in document.plots] == ["young", "stress_xx", "stress_yz"]
    young, stress = document.plots[:2]
    (curve,) = young.curves  # the axes of a cubic crystal are alike
    assert curve.label == "planes xy, xz, yz alike"
    assert young.title.endswith("of the standard cell, all alike")
    c11, c12 = (document.quantity(name).value or 0.0 for name in ("c11", "c12"))
    along_x = (c11 - c12) * (c11 + 2 * c12) / (c11 + c12)
    assert curve.x[:2] + curve.x[-1:] == (0.0, 1.0, 180.0)
    assert [curve.y[at] for at in (0, 90, 180)] == pytest.approx([along_x] * 3, abs=2e-6)
    assert stress.x_label == "strain xx (Green–Lagrange) / %"
    assert document.plots[2].x_label == "strain yz (Green–Lagrange, doubled) / %"
    points, fit = stress.curves
    assert (points.label, points.style, points.x) == ("calculated", "points", (-1, -0.5, 0.5, 1))
    assert fit.y[0] == pytest.approx(points.y[0], abs=2e-3)
    assert (fit.y[-1] - fit.y[0]) / 0.02 == pytest.approx(c11, abs=0.1)


def test_planes_of_a_hexagonal_crystal_are_told_apart() -> None:
    stiffness = np.diag([165.0, 165.0, 62.0, 40.0, 40.0, 67.0])
    stiffness[0, 1] = stiffness[1, 0] = 31.0
    stiffness[:2, 2] = stiffness[2, :2] = 50.0
    found = replace(_constants(), stiffness_gpa=stiffness)
    young = elastic_document(found, PROVENANCE).plot("young")
    assert young is not None
    assert [curve.label for curve in young.curves] == ["plane xy", "planes xz, yz alike"]
    assert "all alike" not in young.title


def test_a_break_of_the_path_is_one_tick_with_both_labels() -> None:
    plot = _phonon().plot("bands")
    assert plot is not None
    assert [label for _, label in plot.ticks] == ["Γ", "X", "U|K", "Γ", "L", "W", "X"]
    assert plot.breaks == (plot.ticks[2][0],)
    assert len(plot.curves) == 6 * 3


def test_a_series_names_what_failed() -> None:
    document = _convergence()
    assert document.tables[0].columns[1].values == ("4 4 4",)
    assert any("8 8 8: walltime" in flag.message for flag in document.flags)


def test_a_metal_has_no_gap_in_its_document() -> None:
    path = band_path(rocksalt())
    points = sampled(path, 0.5)
    energies = np.zeros((1, len(points.fractions), 2))
    edges = band_edges(energies, points.fractions, None, with_mesh=True)
    document = bands_document(path, points, energies, edges, PROVENANCE, zero_ev=0.0)
    assert document.quantity("gap").value is None
    assert not document.tables
    with pytest.raises(InputRejected):
        bands_document(path, points, energies[:, :3], edges, PROVENANCE, zero_ev=0.0)


def test_phonopy_reads_its_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    import phonopy

    plan = plan_displacements(rocksalt(), (1, 1, 1))
    random = np.random.default_rng(4)
    forces = [0.01 * random.normal(size=(8, 3)) for _ in plan.displacements]
    charges = np.array([np.eye(3) * (1.9 if s == "Mg" else -1.9) for s in plan.structure.symbols])
    model = phonons_of(plan, list(forces), PolarResponse(charges, 3.0 * np.eye(3)))
    files = phonopy_files(model)
    assert set(files) == {"phonopy_params.yaml", "FORCE_SETS", "BORN"}
    folder = tmp_path_factory.mktemp("phonopy")
    for name, text in files.items():
        (folder / name).write_text(text)
    again = phonopy.load(folder / "phonopy_params.yaml", log_level=0, is_nac=True)
    q = np.array([[0.5, 0.0, 0.5], [0.1, 0.2, 0.3]])
    again.symmetrize_force_constants(level=2)
    theirs = again.run_qpoints(q).frequencies
    assert model.frequencies(q) == pytest.approx(np.asarray(theirs), abs=1e-3)


def test_pymatgen_reads_its_files() -> None:
    from monty.json import MontyDecoder

    read = MontyDecoder().decode
    structure = read(structure_json(rocksalt()))
    assert structure.composition.reduced_formula == "MgO"
    tensor = read(elastic_json(_constants()))
    assert tensor.k_vrh == pytest.approx(134.4, abs=0.4)
    bands, dos = phonon_bands(_phonons(), 0.3), phonon_dos(_phonons(), 6)
    theirs = read(phonon_bands_json(bands))
    assert theirs.bands.shape == (3, sum(len(line) for line in bands.lines))
    assert len(theirs.branches) == 6
    assert read(phonon_dos_json(dos)).densities == pytest.approx(dos.densities_per_thz)


def test_what_is_not_finite_has_no_place_in_a_document() -> None:
    with pytest.raises(BadResult, match="not finite"):
        numbers([1.0, float("inf")])
    with pytest.raises(BadResult, match="results document"):
        of_json({"format": "something else"})
    known = provenance_of(["phonopy"], engine="emt")
    assert known["engine"] == "emt"
    assert {"phonopy", "crystalmath"} <= set(known)


def test_series_have_no_digits_that_mean_nothing() -> None:
    assert numbers([0.1 + 0.2, -1e-9, 2.0], 6) == (0.3, 0.0, 2.0)
    assert str(numbers([-1e-9], 6)[0]) == "0.0"
    with pytest.raises(BadResult, match="not finite"):
        numbers([float("nan")], 6)
    for plot in _bands().plots:
        for curve in plot.curves:
            assert all(round(y, 6) == y for y in curve.y)
            assert all(round(x, 9) == x for x in curve.x)
    bands = _bands().plots[0]
    assert {at for at, _ in bands.ticks} <= {x for curve in bands.curves for x in curve.x}


def test_a_document_that_is_too_long_has_fewer_points_and_says_so() -> None:
    document = _eos()
    assert fitting(document) is document
    count = sum(len(curve.x) for plot in document.plots for curve in plot.curves)
    found = fitting(document, most_points=count // 3)
    assert (found.quantities, found.tables) == (document.quantities, document.tables)
    for plot, thinned in zip(document.plots, found.plots, strict=True):
        for curve, kept in zip(plot.curves, thinned.curves, strict=True):
            assert len(kept.x) == len(kept.y) < len(curve.x)
            assert (kept.x[0], kept.x[-1]) == (curve.x[0], curve.x[-1])
            pairs = zip(curve.x, curve.y, strict=True)
            assert set(zip(kept.x, kept.y, strict=True)) <= set(pairs)
    (flag,) = found.flags
    assert flag.code == "thinned"
    assert f"of the {count} points" in flag.message


def test_the_longest_document_fits_into_a_reply() -> None:
    level, distance = "-1234.12345, ", "1234.123456789, "
    assert MOST_POINTS * len(level + distance) < 32 * 1024**2 / 2
