"""Entry of ``python scripts/lib/soak``: makes the packages importable, then runs the command."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from soak.cli import main  # noqa: E402 - the path comes first

raise SystemExit(main(sys.argv[1:]))
