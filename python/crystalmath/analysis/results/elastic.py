"""The results document of elastic constants."""

from __future__ import annotations

from collections.abc import Mapping

from crystalmath.analysis.elastic.fit import ElasticConstants
from crystalmath.analysis.elastic.moduli import Moduli, moduli, stability, zener
from crystalmath.analysis.flags import Flag
from crystalmath.analysis.results.document import (
    Column,
    Quantity,
    ResultsDocument,
    Table,
    numbers,
)
from crystalmath.structures.structure import Floats


def elastic_document(found: ElasticConstants, provenance: Mapping[str, str]) -> ResultsDocument:
    """Make a document of elastic constants; an unstable crystal gets its flag and no moduli."""
    judged = stability(found.stiffness_gpa)
    flags = list(found.flags)
    averages: tuple[Quantity, ...] = ()
    if judged.stable:
        averages = _averages(moduli(found.stiffness_gpa))
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
