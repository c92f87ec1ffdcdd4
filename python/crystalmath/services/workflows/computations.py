"""What worker processes compute for workflows, as ``module:function``; ``server.proc`` allows it.

Names alone: importing them costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OWN_BASIS: Final = "crystalmath.analysis.procedures.own_basis:joined"
RELAX_REPORT: Final = "crystalmath.analysis.procedures.relax:report"
EOS_STRAIN: Final = "crystalmath.analysis.procedures.eos:strained"
EOS_FIT: Final = "crystalmath.analysis.procedures.eos:fitted"
CONVERGENCE_SERIES: Final = "crystalmath.analysis.procedures.convergence:points_of"
CONVERGENCE_CHOICE: Final = "crystalmath.analysis.procedures.convergence:chosen"
BANDS_PATH: Final = "crystalmath.analysis.procedures.bands:pathed"
BANDS_REPORT: Final = "crystalmath.analysis.procedures.bands:report"

LEVELS: Final[Mapping[str, str]] = {"espresso": "crystalmath.codes.espresso.bands.levels:read"}
"""By code: what reads the levels that a band structure has left in its directory."""
ARRAYS: Final[Mapping[str, str]] = {"espresso": "crystalmath.codes.espresso.arrays:read"}
"""By code: what reads structure and forces of a system that is too large for results."""

BULK_CHECK: Final = "crystalmath.analysis.procedures.bulk:checked"
PHONON_CHECK: Final = "crystalmath.analysis.procedures.phonon:checked"
PHONON_DISPLACE: Final = "crystalmath.analysis.procedures.phonon:displaced"
PHONON_RESULT: Final = "crystalmath.analysis.procedures.phonon:result"
ELASTIC_STRAIN: Final = "crystalmath.analysis.procedures.elastic:strained"
ELASTIC_FIT: Final = "crystalmath.analysis.procedures.elastic:fitted"
MD_REPEAT: Final = "crystalmath.analysis.procedures.md:repeated"
MD_REPORT: Final = "crystalmath.analysis.procedures.md:report"

PLOT: Final = "crystalmath.analysis.plots.plotted:plotted"
EXPORT_JSON: Final = "crystalmath.analysis.export.exported:as_json"
EXPORT_CSV: Final = "crystalmath.analysis.export.exported:as_csv"
EXPORT_STRUCTURE: Final = "crystalmath.analysis.export.exported:as_structure"
EXPORT_PHONOPY: Final = "crystalmath.analysis.export.exported:as_phonopy"
EXPORT_PHONONS: Final = "crystalmath.analysis.export.exported:as_phonons"
EXPORT_ELASTIC: Final = "crystalmath.analysis.export.exported:as_elastic"

CHECKS: Final[Mapping[str, str]] = {
    "phonon": PHONON_CHECK,
    **dict.fromkeys(("eos", "elastic", "bands"), BULK_CHECK),
}
"""By kind: what looks at structure and options before a workflow is accepted."""
COMPUTATIONS: Final = frozenset(
    {
        *(OWN_BASIS, RELAX_REPORT, EOS_STRAIN, EOS_FIT),
        *(BULK_CHECK, PHONON_CHECK, PHONON_DISPLACE, PHONON_RESULT),
        *(ELASTIC_STRAIN, ELASTIC_FIT),
        *(CONVERGENCE_SERIES, CONVERGENCE_CHOICE),
        *(BANDS_PATH, BANDS_REPORT, *LEVELS.values(), *ARRAYS.values()),
        *(MD_REPEAT, MD_REPORT),
        *(PLOT, EXPORT_JSON, EXPORT_CSV, EXPORT_STRUCTURE),
        *(EXPORT_PHONOPY, EXPORT_PHONONS, EXPORT_ELASTIC),
    }
)
"""Those of steps, and what is made of results."""
