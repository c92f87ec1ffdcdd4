"""Options that exclude or need each other, whatever the structure is."""

from __future__ import annotations

from crystalmath.contract.d12 import D12Options, OpenShell
from crystalmath.errors import InvalidParams

_TASKS = ("optgeom", "freqcalc", "elastcon", "eos")


def check_together(options: D12Options) -> None:
    """Refuse options that do not go together.

    Raises
    ------
    InvalidParams
        Naming the one to leave out, or to add.
    """
    tasks = [name for name in _TASKS if getattr(options, name) is not None]
    if len(tasks) > 1:
        raise InvalidParams(
            f"a deck has one task, and {tasks[0]} is given too",
            hint="make two decks",
            field=f"options.{tasks[1]}",
        )
    if options.shrink is not None and options.k_spacing_inv_angstrom is not None:
        raise InvalidParams(
            "give `options.shrink` or `options.k_spacing_inv_angstrom`, not both",
            field="options.shrink",
        )
    if options.smear_hartree is not None and not options.metal:
        raise InvalidParams(
            "smearing is for metals",
            hint="give `options.metal` too",
            field="options.smear_hartree",
        )
    spin = options.spin
    if isinstance(spin, OpenShell) and spin.lock_cycles and spin.n_alpha_minus_beta is None:
        raise InvalidParams(
            "nothing is locked without a difference of the spins",
            hint="give `options.spin.n_alpha_minus_beta` too",
            field="options.spin.lock_cycles",
        )
