"""What steps have worker processes compute, as ``module:function``; ``server.proc`` allows it.

Names alone: importing them costs nothing.
"""

from __future__ import annotations

from typing import Final

RELAX_REPORT: Final = "crystalmath.analysis.procedures.relax:report"
EOS_STRAIN: Final = "crystalmath.analysis.procedures.eos:strained"
EOS_FIT: Final = "crystalmath.analysis.procedures.eos:fitted"
CONVERGENCE_SERIES: Final = "crystalmath.analysis.procedures.convergence:points_of"
CONVERGENCE_CHOICE: Final = "crystalmath.analysis.procedures.convergence:chosen"

COMPUTATIONS: Final = frozenset(
    {
        RELAX_REPORT,
        EOS_STRAIN,
        EOS_FIT,
        CONVERGENCE_SERIES,
        CONVERGENCE_CHOICE,
    }
)
