"""What a molecular dynamics says, from series that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crystalmath.analysis.dynamics.motion import free_directions
from crystalmath.analysis.procedures.md import repeated, report
from crystalmath.analysis.results.document import ResultsDocument, of_json
from crystalmath.errors import BadResult, TooFewPoints
from crystalmath.structures.structure import Floats, Structure
from support.crystals import rocksalt

ATOMS = 8
OPTIONS: dict[str, Any] = {
    "ensemble": "nvt",
    "steps": 4000,
    "timestep_fs": 1.0,
    "temperature_k": 300.0,
    "thermostat_fs": 100.0,
    "pressure_gpa": 0.0,
    "barostat_fs": 1000.0,
    "cell": "isotropic",
    "seed": 7,
    "write_every": 2,
    "edge_angstrom": 0.0,
}
TIMES = np.arange(0.0, 4000.0, 2.0)


def noise(seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=TIMES.size)


def told(
    temperature: Floats,
    total: Floats | None = None,
    more: dict[str, Floats] | None = None,
    **options: Any,
) -> ResultsDocument:
    """The document of a run with these series."""
    if total is None:
        total = -30.0 + 0.01 * noise(1)
    series = {
        "temperature": temperature,
        "total_energy": total,
        "energy": total - 0.3,
        **(more or {}),
    }
    crystal = rocksalt()
    motion = {
        "structure": {**crystal.document(), "formula": "MgO"},
        "engine": {"name": "emt"},
        "series": {
            name: {"x": TIMES.tolist(), "y": values.tolist()} for name, values in series.items()
        },
    }
    return of_json(
        report({"repeats": [2, 2, 2]}, motion, {**OPTIONS, **options}, {"engine": "emt"})
    )


def flags(document: ResultsDocument) -> set[str]:
    return {flag.code for flag in document.flags}


def value(document: ResultsDocument, name: str) -> float:
    found = document.quantity(name).value
    assert found is not None
    return found


def test_a_run_in_equilibrium_is_averaged_after_its_start() -> None:
    temperature = 300.0 + 5.0 * noise(2)
    temperature[:200] -= 250.0 * np.exp(-np.arange(200) / 60)
    document = told(temperature)
    assert value(document, "temperature_mean") == pytest.approx(300.0, abs=1.0)
    error = document.quantity("temperature_mean").error
    assert error == pytest.approx(5 / np.sqrt(TIMES.size), rel=0.6)
    assert 0.2 < value(document, "discarded") < 0.8
    assert value(document, "counted") + value(document, "discarded") == pytest.approx(3.998)
    assert value(document, "total_energy_mean") == pytest.approx(-30 / ATOMS, abs=1e-3)
    assert flags(document) == set()
    settings = dict(zip(*(column.values for column in document.tables[1].columns), strict=True))
    assert (settings["seed"], settings["thermostat_fs"], settings["repeats"]) == (
        "7",
        100.0,
        "2×2×2",
    )
    assert "pressure_gpa" not in settings
    assert [plot.name for plot in document.plots] == ["temperature", "total_energy", "energy"]
    assert len(document.plots[0].curves[0].x) == TIMES.size


def test_pressure_and_volume_are_averaged_where_they_are_kept() -> None:
    more = {"pressure": 0.1 * noise(3), "volume": 160.0 + noise(4)}
    document = told(300.0 + 5.0 * noise(2), more=more, ensemble="npt")
    assert value(document, "volume_mean") == pytest.approx(20.0, abs=0.02)
    assert value(document, "pressure_mean") == pytest.approx(0.0, abs=0.02)
    assert {"volume", "pressure"} <= {plot.name for plot in document.plots}


def test_energy_that_is_not_kept_is_told() -> None:
    """2 meV per atom and ps on eight atoms: in 4 ps a fifth of the kinetic energy."""
    total = -30.0 + ATOMS * 2e-3 * TIMES / 1000 + 1e-4 * noise(5)
    document = told(300.0 * ATOMS * 3 / (ATOMS * 3 - 3) + noise(2), total, ensemble="nve")
    assert value(document, "drift") == pytest.approx(2.0, abs=0.01)
    [flag] = [flag for flag in document.flags if flag.code == "drift"]
    assert "shorter time step" in flag.message


def test_at_constant_energy_half_of_the_first_temperature_is_a_doubt() -> None:
    document = told(150.0 * 21 / 24 + noise(2), ensemble="nve")
    # three of the 24 directions are the motion of the whole, which is at rest
    assert value(document, "temperature_mean") == pytest.approx(150.0, abs=0.2)
    assert "temperature" in flags(document)
    assert "share half" in next(f.message for f in document.flags if f.code == "temperature")


def test_a_thermostat_that_is_missed_and_a_run_without_rest_are_doubts() -> None:
    assert "temperature" in flags(told(280.0 + noise(2)))
    rising = told(200.0 + 100.0 * TIMES / TIMES[-1] + noise(2))
    assert flags(rising) & {"not_equilibrated", "correlated"}


def test_a_long_step_for_hydrogen_is_a_doubt() -> None:
    water = Structure(
        lattice=None,
        pbc=(False,) * 3,
        symbols=["O", "H", "H"],
        positions=np.array([[0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0]]),
    )
    motion = {
        "structure": water.document(),
        "series": {
            name: {"x": TIMES.tolist(), "y": (300 + noise(2)).tolist()}
            for name in ("temperature", "total_energy", "energy")
        },
    }
    document = of_json(report({"repeats": [1, 1, 1]}, motion, OPTIONS, {}))
    assert "long_step" in flags(document)


def test_directions_that_share_the_kinetic_energy() -> None:
    crystal = rocksalt()
    assert free_directions(crystal, "nvt") == 24
    assert free_directions(crystal, "nve") == 21
    line = np.array([[0.0, 0, 0], [0, 0, 1.16], [0, 0, -1.16]])
    bent = line + np.array([[0.3, 0, 0], [0, 0, 0], [0, 0, 0]])
    molecule = [Structure(None, (False,) * 3, ["C", "O", "O"], one) for one in (line, bent)]
    assert [free_directions(one, "nve") for one in molecule] == [4, 3]


def test_a_short_run_is_refused() -> None:
    short = {"x": [0.0, 1.0], "y": [300.0, 301.0]}
    motion = {
        "structure": rocksalt().document(),
        "series": dict.fromkeys(("temperature", "total_energy", "energy"), short),
    }
    with pytest.raises(TooFewPoints):
        report({"repeats": [1, 1, 1]}, motion, OPTIONS, {})
    with pytest.raises(BadResult):
        report({"repeats": [1, 1, 1]}, {"series": {}}, OPTIONS, {})


def test_a_cell_is_repeated_until_it_is_wide() -> None:
    given = rocksalt().document()
    found = repeated(given, 8.0)
    assert found["repeats"] == [2, 2, 2]
    larger = found["structure"]
    assert (len(larger["symbols"]), larger["symbols"].count("Mg")) == (64, 32)
    assert np.array(larger["lattice"]) == pytest.approx(2 * np.array(given["lattice"]))
    distinct = {tuple(np.round(position, 6)) for position in larger["positions"]}
    assert len(distinct) == 64
    assert repeated(given, 0.0)["repeats"] == [1, 1, 1]
    layer = {**given, "pbc": [True, True, False]}
    assert repeated(layer, 8.0)["repeats"] == [2, 2, 1]
