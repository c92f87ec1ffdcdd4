"""What steps have worker processes compute, as ``module:function``; ``server.proc`` allows it.

Names alone: importing them costs nothing.
"""

from __future__ import annotations

from typing import Final

RELAX_REPORT: Final = "crystalmath.analysis.procedures.relax:report"
EOS_STRAIN: Final = "crystalmath.analysis.procedures.eos:strained"
EOS_FIT: Final = "crystalmath.analysis.procedures.eos:fitted"
BANDS_PATH: Final = "crystalmath.analysis.procedures.bands:pathed"
BANDS_REPORT: Final = "crystalmath.analysis.procedures.bands:report"

COMPUTATIONS: Final = frozenset({RELAX_REPORT, EOS_STRAIN, EOS_FIT, BANDS_PATH, BANDS_REPORT})
