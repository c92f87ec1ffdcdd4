"""Builds an environment in a process that tests kill: ``builder.py ROOT ENGINE [own]``.

Prints one line of JSON for each step, and at last for the result or the error.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from crystalmath.errors import CrystalMathError
from crystalmath.services.ports_forces import InstallStep
from support.isolated import House, toy_house


def say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    root = Path(sys.argv[1])
    house = toy_house(root) if "own" in sys.argv[3:] else House(root)

    def tell(step: InstallStep) -> None:
        say(phase=step.phase, text=step.text)

    try:
        say(id=house.provider.install(sys.argv[2], progress=tell).id)
    except CrystalMathError as error:
        say(error=error.kind, message=error.message, hint=error.hint)


if __name__ == "__main__":
    main()
