"""The name of a method, from the parts that CRYSTAL prints of it. Pure.

Only what the printed parts say for certain gets a name; else the parts themselves are told.
"""

from __future__ import annotations

from typing import Final

from crystalmath.codes.crystal.output.run import Run

_PBE: Final = "(PERDEW-BURKE-ERNZERHOF)[PERDEW-BURKE-ERNZERHOF]"
_BLYP: Final = "(BECKE 88)[LEE-YANG-PARR]"
_HSE06: Final = "(HSE06 SR/GGA)[PERDEW-BURKE-ERNZERHOF]"
_NAMES: Final[dict[tuple[str, float, tuple[float, ...]], str]] = {
    (_PBE, 0.0, ()): "PBE",
    (_PBE, 25.0, ()): "PBE0",
    (_BLYP, 0.0, ()): "BLYP",
    (_BLYP, 20.0, (0.9, 0.81)): "B3LYP",
    (_HSE06, 25.0, ()): "HSE06",
}
"""Printed functional, per cent of exact exchange, non-local weights → name."""


def method_of(run: Run) -> str | None:
    """``HF``, ``UHF`` or ``DFT``; None when it is not said."""
    if run.hamiltonian == "HF" and run.open_shell:
        return "UHF"
    return run.hamiltonian


def functional_of(run: Run) -> str | None:
    """The usual name where the printed parts have one, else None."""
    if run.functional is None:
        return None
    return _NAMES.get((run.functional, run.exact_exchange or 0.0, tuple(run.weights)))
