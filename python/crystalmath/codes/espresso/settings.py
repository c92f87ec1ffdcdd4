"""What a deck asked for that its numbers depend on: cutoffs, mesh, occupations.

Results carry it, so that a number is never without what it was computed with. Used by ``adapter``.
"""

from __future__ import annotations

from typing import Any, Final

from crystalmath.codes.espresso.deck import Deck

_PLAIN: Final = {
    "occupations": ("system", "occupations"),
    "smearing": ("system", "smearing"),
    "degauss_ry": ("system", "degauss"),
    "nspin": ("system", "nspin"),
    "input_dft": ("system", "input_dft"),
    "conv_thr_ry": ("electrons", "conv_thr"),
}
ECUTRHO_FACTOR: Final = 4.0
"""What pw.x takes for ``ecutrho`` in units of ``ecutwfc`` when it is not given."""


def settings_of(deck: Deck) -> dict[str, Any]:
    """The settings of a deck; what it leaves to pw.x is left out, except for ``ecutrho``."""
    found: dict[str, Any] = {}
    wave = deck.value("system", "ecutwfc")
    if isinstance(wave, int | float):
        density = deck.value("system", "ecutrho")
        found["ecutwfc_ry"] = float(wave)
        found["ecutrho_ry"] = (
            float(density) if isinstance(density, int | float) else ECUTRHO_FACTOR * wave
        )
    card = deck.cards.get("K_POINTS")
    if card is not None:
        found["k_points"] = _mesh(card.option, card.lines)
    for name, (namelist, key) in _PLAIN.items():
        value = deck.value(namelist, key)
        if value is not None:
            found[name] = value
    return found


def _mesh(option: str, lines: tuple[str, ...]) -> str:
    """A mesh as its six numbers, anything else as its kind."""
    if option == "automatic" and lines:
        return " ".join(lines[0].split())
    return option or "tpiba"
