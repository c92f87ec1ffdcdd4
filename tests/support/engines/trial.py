# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# title = "copper of EMT that can be slow, and dies on demand"
# host = true
# ///
"""EMT with a delay and ways to fail."""

MODELS = {
    "trial": {
        "source": "builtin",
        "default": True,
        "dtype": "float64",
        "properties": ["energy", "free_energy", "forces", "stress", "energies"],
        "elements": ["Al", "Cu", "Ag", "Au", "Ni", "Pd", "Pt"],
    },
}


def setup(model, delay_s=0.0, load_s=0.0, spin_s=0.0, fail=None):
    """Make the calculator.

    Parameters
    ----------
    delay_s
        Sleep so long in each call.
    load_s, spin_s
        Sleep, or compute, so long while loading.
    fail
        ``raise`` in setup; ``exit``, ``segv`` or ``hang`` when the first atom is beyond x = 50 Å.
    """
    import os
    import signal
    import time

    from ase.calculators.emt import EMT

    if fail == "raise":
        raise RuntimeError("no weights today")
    time.sleep(load_s)
    until = time.monotonic() + spin_s
    while time.monotonic() < until:
        pass

    class Trial(EMT):
        def calculate(self, atoms=None, properties=("energy",), system_changes=()):
            time.sleep(delay_s)
            if atoms.positions[0, 0] > 50:
                if fail == "exit":
                    os._exit(7)
                if fail == "segv":
                    os.kill(os.getpid(), signal.SIGSEGV)
                if fail == "hang":
                    time.sleep(1000)
            super().calculate(atoms, properties, system_changes)

    return Trial()
