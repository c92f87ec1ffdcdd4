# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# title = "EMT that fails in every way that engines have been seen to fail"
# host = true
# ///
"""EMT that fails on demand, while it loads or when the first atom is beyond x = 50 Å."""

import ctypes
import os
import signal
import sys
import time

MODELS = {
    "faulty": {
        "source": "builtin",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
        "elements": ["Al", "Cu", "Ag", "Au", "Ni", "Pd", "Pt"],
    },
}
LAST_WORDS = "so it ends\n"
FLOOD_BYTES = 10_000_000


def ended_with(code):
    """What ends the process without a word to anybody."""
    return lambda: os._exit(code)


def killed_by(number):
    """What sends a signal to the process."""

    def fail():
        signal.signal(number, signal.SIG_DFL) if number not in (9, 19) else None
        os.kill(os.getpid(), number)
        time.sleep(1000)

    return fail


def spin():
    """Never come back, as native code in a loop."""
    while True:
        pass


def deaf():
    """The same, and TERM is ignored."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    spin()


def raised():
    """An ordinary exception."""
    raise RuntimeError("no weights today")


def flood():
    """Print 10 MB, to both channels."""
    for stream in (sys.stdout, sys.stderr):
        stream.write("p" * (FLOOD_BYTES // 2) + "\n")
        stream.flush()
    os.write(1, b"straight to the descriptor\n")


WAYS = {
    "exit 0": ended_with(0),
    "exit 1": ended_with(1),
    "exit 137": ended_with(137),
    "sys.exit": lambda: sys.exit(5),
    "segv": lambda: ctypes.string_at(0),
    "kill": killed_by(9),
    "stop": killed_by(19),
    "abort": os.abort,
    "hang": lambda: time.sleep(1000),
    "spin": spin,
    "deaf": deaf,
    "raise": raised,
    "flood": flood,
}


def setup(model, load=None, call=None):
    """Make the calculator.

    Parameters
    ----------
    load, call
        Of ``WAYS``: what happens while it loads, and in a call.
    """
    from ase.calculators.emt import EMT

    if load is not None:
        sys.stderr.write(LAST_WORDS)
        sys.stderr.flush()
        WAYS[load]()

    class Faulty(EMT):
        def calculate(self, atoms=None, properties=("energy",), system_changes=()):
            if call is not None and atoms.positions[0, 0] > 50:
                sys.stderr.write(LAST_WORDS)
                sys.stderr.flush()
                WAYS[call]()
            super().calculate(atoms, properties, system_changes)

    return Faulty()
