"""The script behind every local run: ``python -I -S supervisor.py JOB_DIR ATTEMPT``.

Not a module to import: ``runner`` starts it. It detaches itself and hands over to ``supervision``,
which the interpreter finds compiled beside it (a script itself is compiled anew at every start, so
this one is short). Nothing of crystalmath is loaded: an upgrade or a broken environment of the
daemon does not reach a supervisor that runs.
"""

# pathlib would cost every supervisor several milliseconds at its start.
# ruff: noqa: PTH100, PTH120

import os
import sys

if __name__ == "__main__":
    # Behind the standard library, so that no name of this project can shadow one of its modules.
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    main = __import__("local.supervision", fromlist=["main"]).main
    # The daemon waits for the first process, which ends here; its child belongs to init, so the
    # daemon never has a supervisor to reap.
    if os.fork() == 0:
        main(sys.argv[1], int(sys.argv[2]))
