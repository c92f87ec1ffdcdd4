"""Entry of ``python scripts/lib/gen_contract``: makes the package importable, then runs it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from gen_contract.cli import main  # noqa: E402 - the path comes first

raise SystemExit(main(sys.argv[1:]))
