"""Fits of equations of state, with their uncertainty and with what is wrong with the points.

Least squares of our own, since what a reader must know with the number (standard errors, residuals,
points that decide the result) comes from no library; the tests hold the numbers against pymatgen.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crystalmath.analysis.eos.forms import FORMS, TITLES, Form, pressure
from crystalmath.analysis.eos.quality import doubts
from crystalmath.analysis.eos.scan import not_bracketed, points_of, refuse_unbracketed
from crystalmath.analysis.flags import Flag
from crystalmath.errors import NotBracketed
from crystalmath.structures.structure import Floats
from crystalmath.units import EV_PER_ANGSTROM3_GPA


@dataclass(frozen=True, slots=True, eq=False)
class EosFit:
    """One form, fitted.

    Attributes
    ----------
    e0_ev, v0_angstrom3, b0_gpa, b0_prime
        Energy, volume, bulk modulus and its pressure derivative at the minimum.
    e0_error_ev, v0_error_angstrom3, b0_error_gpa, b0_prime_error
        Standard errors, from the scatter of the points about the curve.
    rms_ev
        Root mean square of the residuals.
    residuals_ev
        Point minus curve, in the order of rising volume.
    """

    form: Form
    e0_ev: float
    v0_angstrom3: float
    b0_gpa: float
    b0_prime: float
    e0_error_ev: float
    v0_error_angstrom3: float
    b0_error_gpa: float
    b0_prime_error: float
    rms_ev: float
    residuals_ev: Floats

    def energies(self, volumes: Floats) -> Floats:
        """The curve in eV."""
        b0 = self.b0_gpa / EV_PER_ANGSTROM3_GPA
        return FORMS[self.form](volumes, self.e0_ev, self.v0_angstrom3, b0, self.b0_prime)

    def pressures_gpa(self, volumes: Floats) -> Floats:
        """The pressure in GPa, positive under compression."""
        return pressure(self.form, volumes, self.v0_angstrom3, self.b0_gpa, self.b0_prime)


@dataclass(frozen=True, slots=True, eq=False)
class EquationOfState:
    """What a scan gives.

    Attributes
    ----------
    volumes_angstrom3, energies_ev
        The points, by rising volume.
    fit
        Third-order Birch–Murnaghan: the result.
    beside
        The other forms, for comparison.
    relaxed_volume_angstrom3
        The volume that a relaxation of the cell gave, if there was one. Not ``fit.v0_angstrom3``,
        and never put in its place.
    flags
        Doubts.
    """

    volumes_angstrom3: Floats
    energies_ev: Floats
    fit: EosFit
    beside: tuple[EosFit, ...]
    relaxed_volume_angstrom3: float | None
    flags: tuple[Flag, ...]


def fit_eos(
    volumes_angstrom3: Sequence[float] | Floats,
    energies_ev: Sequence[float] | Floats,
    relaxed_volume_angstrom3: float | None = None,
) -> EquationOfState:
    """Fit an equation of state to a scan.

    Parameters
    ----------
    volumes_angstrom3, energies_ev
        Of the same amount of matter (a cell, or an atom), in any order.
    relaxed_volume_angstrom3
        Where a relaxation of the cell ended; reported beside the fitted volume.

    Raises
    ------
    InputRejected
        The points are not numbers of a scan.
    TooFewPoints
        Fewer than five.
    NotBracketed
        The minimum is outside the volumes; the message says on which side.
    """
    volumes, energies = points_of(volumes_angstrom3, energies_ev)
    refuse_unbracketed(volumes, energies)
    start = _birch_in_closed_form(volumes, energies)
    fit = _fitted("birch_murnaghan", volumes, energies, start)
    if not volumes[0] < fit.v0_angstrom3 < volumes[-1]:
        raise not_bracketed(volumes, "smaller" if fit.v0_angstrom3 < volumes[0] else "larger")
    beside, flags = [], []
    for form in FORMS:
        if form == fit.form:
            continue
        try:
            beside.append(_fitted(form, volumes, energies, start))
        except RuntimeError:
            flags.append(Flag("form_failed", f"{TITLES[form]} cannot be fitted to these points"))
    flags += doubts(
        volumes, fit.residuals_ev, energies, (fit.b0_gpa, fit.b0_prime), _bulk_modulus_gpa
    )
    return EquationOfState(
        volumes, energies, fit, tuple(beside), relaxed_volume_angstrom3, tuple(flags)
    )


def _birch_in_closed_form(volumes: Floats, energies: Floats) -> tuple[float, float, float, float]:
    """E₀, V₀, B₀, B₀′ of third-order Birch–Murnaghan, which is a cubic in u = V^(−2/3).

    With E = Σ cₖ uᵏ the minimum is where dE/du = 0 and d²E/du² > 0; there
    B₀ = 4/9 E″ V₀^(−7/3) and B₀′ = 4 + 16 c₃ / (9 B₀ V₀³).

    Raises
    ------
    NotBracketed
        The cubic has no minimum.
    """
    u = volumes ** (-2 / 3)
    cubic = np.polynomial.Polynomial.fit(u, energies, 3)
    slope, bend = cubic.deriv(), cubic.deriv(2)
    roots = np.asarray(slope.roots(), dtype=complex)
    real = [float(root.real) for root in roots if abs(root.imag) < 1e-12]
    minima = [root for root in real if root > 0 and float(bend(root)) > 0]
    if not minima:
        raise NotBracketed(
            "the energies have no minimum: no curve with a positive bulk modulus fits them",
            hint="look at the calculations: a step in the energy, or one that did not converge",
        )
    at = min(minima, key=lambda r: abs(r - u[int(energies.argmin())]))
    v0 = float(at ** (-3 / 2))
    b0 = float(4 / 9 * bend(at) * v0 ** (-7 / 3))
    b0_prime = 4 + 16 * float(cubic.convert().coef[3]) / (9 * b0 * v0**3)
    return float(cubic(at)), v0, b0, b0_prime


def _bulk_modulus_gpa(volumes: Floats, energies: Floats) -> float:
    return _birch_in_closed_form(volumes, energies)[2] * EV_PER_ANGSTROM3_GPA


def _fitted(
    form: Form, volumes: Floats, energies: Floats, start: tuple[float, float, float, float]
) -> EosFit:
    """Fit one form.

    Raises
    ------
    RuntimeError
        No least squares are found.
    """
    from scipy.optimize import curve_fit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # steps far off overflow; what comes out is looked at
        found, covariance = curve_fit(
            FORMS[form], volumes, energies, p0=start, x_scale=np.abs(start) + 1e-3, method="trf"
        )
    if not (np.isfinite(found).all() and np.isfinite(covariance).all()):
        raise RuntimeError("the parameters are not determined")
    e0, v0, b0, b0_prime = (float(value) for value in found)
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    residuals = energies - FORMS[form](volumes, e0, v0, b0, b0_prime)
    return EosFit(
        form=form,
        e0_ev=e0,
        v0_angstrom3=v0,
        b0_gpa=b0 * EV_PER_ANGSTROM3_GPA,
        b0_prime=b0_prime,
        e0_error_ev=float(errors[0]),
        v0_error_angstrom3=float(errors[1]),
        b0_error_gpa=float(errors[2]) * EV_PER_ANGSTROM3_GPA,
        b0_prime_error=float(errors[3]),
        rms_ev=float(np.sqrt(np.mean(residuals**2))),
        residuals_ev=residuals,
    )
