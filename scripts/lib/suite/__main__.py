"""Entry of ``python scripts/lib/suite``: makes the package importable, then runs the tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from suite.cli import main  # noqa: E402 - the path comes first

raise SystemExit(main(sys.argv[1:]))
