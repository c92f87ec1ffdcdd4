"""The results document of elastic constants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from crystalmath.analysis.elastic.directions import PLANES, round_plane, young_moduli
from crystalmath.analysis.elastic.fit import ElasticConstants
from crystalmath.analysis.elastic.moduli import Moduli, moduli, stability, zener
from crystalmath.analysis.elastic.response import Response
from crystalmath.analysis.flags import Flag
from crystalmath.analysis.results.document import (
    X_DECIMALS,
    Y_DECIMALS,
    Column,
    Curve,
    Plot,
    Quantity,
    ResultsDocument,
    Table,
    numbers,
)
from crystalmath.structures.structure import Floats

_SAME: Final = 1e-6
"""Planes whose moduli differ by less, relatively, are alike."""


def elastic_document(found: ElasticConstants, provenance: Mapping[str, str]) -> ResultsDocument:
    """Make a document of elastic constants; an unstable crystal gets its flag and no moduli."""
    judged = stability(found.stiffness_gpa)
    flags = list(found.flags)
    averages: tuple[Quantity, ...] = ()
    plots = tuple(_response(one) for one in found.responses)
    if judged.stable:
        averages = _averages(moduli(found.stiffness_gpa))
        plots = (_young(found.stiffness_gpa), *plots)
    else:
        flags.append(
            Flag("unstable", "a strain lowers the energy: the crystal is not mechanically stable")
        )
    ratio = zener(found.stiffness_gpa)
    anisotropy = () if ratio is None else (Quantity("zener", "Zener ratio", ratio),)
    return ResultsDocument(
        kind="elastic",
        title=f"Elastic constants, space group {found.space_group}, axes of the standard cell",
        quantities=(*_constants(found), *averages, *anisotropy),
        tables=(
            _matrix("stiffness", "Stiffness, axes of the standard cell", found.stiffness_gpa),
            _matrix("errors", "Standard errors", found.errors_gpa),
            _matrix(
                "stiffness_as_calculated",
                "Stiffness, axes of the structure",
                found.stiffness_as_calculated_gpa,
            ),
            Table(
                "stability",
                "Born stability: all must be positive",
                (
                    Column(
                        "condition",
                        "",
                        (
                            *(item.expression for item in judged.conditions),
                            *(f"eigenvalue {i + 1}" for i in range(6)),
                        ),
                    ),
                    Column(
                        "value",
                        "GPa",
                        (
                            *(item.value_gpa for item in judged.conditions),
                            *numbers(judged.eigenvalues_gpa),
                        ),
                    ),
                ),
            ),
        ),
        plots=plots,
        flags=tuple(flags),
        provenance=provenance,
    )


def _constants(found: ElasticConstants) -> tuple[Quantity, ...]:
    """The upper triangle, without what symmetry makes zero or equal to one before it."""
    c, errors = found.stiffness_gpa, found.errors_gpa
    least = 1e-6 * float(abs(c).max())
    told: list[Quantity] = []
    seen = [0.0]
    for i in range(6):
        for j in range(i, 6):
            value, name = float(c[i, j]), f"{i + 1}{j + 1}"
            if all(abs(value - one) > least for one in seen):
                told.append(Quantity(f"c{name}", f"C{name}", value, "GPa", float(errors[i, j])))
                seen.append(value)
    return tuple(told)


def _averages(found: Moduli) -> tuple[Quantity, ...]:
    return (
        Quantity("bulk_voigt", "K, Voigt", found.bulk_voigt_gpa, "GPa"),
        Quantity("bulk_reuss", "K, Reuss", found.bulk_reuss_gpa, "GPa"),
        Quantity("bulk_hill", "K, Hill", found.bulk_hill_gpa, "GPa"),
        Quantity("shear_voigt", "G, Voigt", found.shear_voigt_gpa, "GPa"),
        Quantity("shear_reuss", "G, Reuss", found.shear_reuss_gpa, "GPa"),
        Quantity("shear_hill", "G, Hill", found.shear_hill_gpa, "GPa"),
        Quantity("young", "Young's modulus, Hill", found.young_gpa, "GPa"),
        Quantity("poisson", "Poisson's ratio, Hill", found.poisson),
        Quantity("pugh", "K/G, Hill", found.pugh),
        Quantity("universal_anisotropy", "universal anisotropy", found.universal_anisotropy),
    )


def _matrix(name: str, title: str, values: Floats) -> Table:
    columns = enumerate(values.T, start=1)
    return Table(
        name, title, tuple(Column(f"{j}", "GPa", numbers(column)) for j, column in columns)
    )


def _young(stiffness_gpa: Floats) -> Plot:
    """A direction and its opposite are one, so half a turn is everything."""
    angles = np.arange(0.0, 181.0)
    curves: list[tuple[list[str], tuple[float, ...]]] = []
    for plane in PLANES:
        found = young_moduli(stiffness_gpa, round_plane(plane, angles))
        for planes, values in curves:
            if np.allclose(values, found, rtol=_SAME):
                planes.append(plane)
                break
        else:
            curves.append(([plane], numbers(found, Y_DECIMALS)))
    alike = ", all alike" if len(curves) == 1 else ""
    return Plot(
        "young",
        f"Young's modulus in the planes {', '.join(PLANES)} of the standard cell{alike}",
        "angle from the first axis of the plane / °",
        "Young's modulus / GPa",
        tuple(Curve(_planes(planes), numbers(angles), values) for planes, values in curves),
    )


def _planes(planes: list[str]) -> str:
    """Planes that are alike are one curve, which is said."""
    return f"plane {planes[0]}" if len(planes) == 1 else f"planes {', '.join(planes)} alike"


def _response(found: Response) -> Plot:
    """Stress over strain along one line."""
    percent = 100 * found.strains
    curves = [
        Curve(
            label,
            numbers(percent[chosen], X_DECIMALS),
            numbers(found.stresses_gpa[chosen], Y_DECIMALS),
            "points",
        )
        for label, chosen in (
            ("calculated", found.calculated),
            ("the same by symmetry", ~found.calculated),
        )
        if chosen.any()
    ]
    fine = np.linspace(found.strains[0], found.strains[-1], 41)
    fitted = found.curve(fine)
    if fitted is not None:
        curves.append(Curve("fit", numbers(100 * fine, X_DECIMALS), numbers(fitted, Y_DECIMALS)))
    doubled = "" if found.component[0] == found.component[1] else ", doubled"
    return Plot(
        f"stress_{found.component}",
        f"Stress over strain {found.component}, axes of the structure",
        f"strain {found.component} (Green–Lagrange{doubled}) / %",
        f"stress {found.component} (second Piola–Kirchhoff) / GPa",
        tuple(curves),
    )
