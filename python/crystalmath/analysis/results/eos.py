"""The results document of an equation of state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crystalmath.analysis.eos.fit import EosFit, EquationOfState
from crystalmath.analysis.eos.forms import TITLES
from crystalmath.analysis.results.document import (
    Column,
    Curve,
    Plot,
    Quantity,
    ResultsDocument,
    Table,
    numbers,
)


def eos_document(
    found: EquationOfState, provenance: Mapping[str, str], of: str = "cell"
) -> ResultsDocument:
    """Make a document of a fit.

    Parameters
    ----------
    of
        What volumes and energies belong to: ``cell`` or ``atom``.
    """
    fit = found.fit
    quantities = [
        Quantity("v0", f"V₀ per {of}", fit.v0_angstrom3, "Å³", fit.v0_error_angstrom3),
        Quantity("e0", f"E₀ per {of}", fit.e0_ev, "eV", fit.e0_error_ev),
        Quantity("b0", "B₀", fit.b0_gpa, "GPa", fit.b0_error_gpa),
        Quantity("b0_prime", "B₀′", fit.b0_prime, "", fit.b0_prime_error),
        Quantity("rms", "RMS residual", 1000 * fit.rms_ev, "meV"),
    ]
    if found.relaxed_volume_angstrom3 is not None:
        quantities.append(
            Quantity(
                "relaxed_volume", f"relaxed volume per {of}", found.relaxed_volume_angstrom3, "Å³"
            )
        )
    return ResultsDocument(
        kind="eos",
        title=f"Equation of state, {TITLES[fit.form]}",
        quantities=tuple(quantities),
        tables=(_forms(found), _points(found)),
        plots=(_energies(found), _pressures(found)),
        flags=found.flags,
        provenance=provenance,
    )


def _forms(found: EquationOfState) -> Table:
    fits: tuple[EosFit, ...] = (found.fit, *found.beside)
    return Table(
        "forms",
        "The same points, fitted with other forms",
        (
            Column("form", "", tuple(TITLES[fit.form] for fit in fits)),
            Column("v0", "Å³", numbers(fit.v0_angstrom3 for fit in fits)),
            Column("e0", "eV", numbers(fit.e0_ev for fit in fits)),
            Column("b0", "GPa", numbers(fit.b0_gpa for fit in fits)),
            Column("b0_prime", "", numbers(fit.b0_prime for fit in fits)),
            Column("rms", "meV", numbers(1000 * fit.rms_ev for fit in fits)),
        ),
    )


def _points(found: EquationOfState) -> Table:
    volumes = found.volumes_angstrom3
    return Table(
        "points",
        "Points",
        (
            Column("volume", "Å³", numbers(volumes)),
            Column("energy", "eV", numbers(found.energies_ev)),
            Column("residual", "meV", numbers(1000 * found.fit.residuals_ev)),
            Column("pressure", "GPa", numbers(found.fit.pressures_gpa(volumes))),
        ),
    )


def _energies(found: EquationOfState) -> Plot:
    volumes = found.volumes_angstrom3
    fine = np.linspace(volumes[0], volumes[-1], 101)
    return Plot(
        "energy",
        "Energy over volume",
        "volume / Å³",
        "energy / eV",
        (
            Curve("calculated", numbers(volumes), numbers(found.energies_ev), "points"),
            Curve(TITLES[found.fit.form], numbers(fine), numbers(found.fit.energies(fine))),
        ),
    )


def _pressures(found: EquationOfState) -> Plot:
    fine = np.linspace(found.volumes_angstrom3[0], found.volumes_angstrom3[-1], 101)
    return Plot(
        "pressure",
        "Pressure over volume",
        "volume / Å³",
        "pressure / GPa",
        (Curve(TITLES[found.fit.form], numbers(fine), numbers(found.fit.pressures_gpa(fine))),),
    )
