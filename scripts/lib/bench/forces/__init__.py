"""What a force call costs through our worker, beside the peers, in one run.

The peers' benchmark is a program of its own in an environment of its own
(:mod:`bench.forces.peers`); it loads :mod:`bench.forces.hook` for our rows. The limits are in
:mod:`bench.forces.goals`.
"""

from __future__ import annotations

from pathlib import Path


def hook_path() -> Path:
    """The file with our rows."""
    return Path(__file__).resolve().parent / "hook.py"
