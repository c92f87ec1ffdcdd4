"""Makes the locks that lie beside the shipped declarations of force engines.

Started by ``scripts/lock-engines``. ``--check`` needs no network: it compares what each lock says
it belongs to with its declaration.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from crystalmath.isolation.declaration import load_declarations
from crystalmath.isolation.lock import load_lock, make_lock
from crystalmath.isolation.places import Places

SHIPPED = Path(__file__).parents[2] / "python" / "crystalmath" / "forces" / "envs"


def main() -> int:
    """Write or check; 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="lock-engines", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("engine", nargs="*", help="these only (default: all)")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        places = Places(Path(scratch), SHIPPED)
        for declared in load_declarations(SHIPPED, None):
            engine = declared.engine
            if engine.problem is not None:
                print(engine.problem)
                wrong += 1
            elif engine.dependencies and engine.name in (arguments.engine or [engine.name]):
                fresh = load_lock(declared, places) is not None
                if arguments.check:
                    wrong += not fresh
                    print(f"{engine.name}: {'ok' if fresh else 'run scripts/lock-engines'}")
                else:
                    lock = make_lock(declared, places)
                    print(f"{engine.name}: {len(lock.wanted('3.11.0'))} packages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
