"""The folder of cases with right answers, which a checkout need not have.

``CRYSTALMATH_CASES`` overrides where it is looked for.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[3]
CASES: Final = Path(os.environ.get("CRYSTALMATH_CASES", _ROOT.parent / "shared" / "cases"))
