"""The decks of a band structure, made of the deck of its SCF. Pure text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from crystalmath.codes.espresso.deck import Deck
from crystalmath.codes.espresso.steps import SCF
from crystalmath.errors import InvalidParams

N_BANDS: Final = "@n_bands@"
"""Stands in a deck until the SCF has told how many electrons there are."""
BANDS: Final = "bands"
NSCF: Final = "nscf"
STEPS: Final = (SCF, BANDS, NSCF)
"""In the order in which they run; ``nscf`` may be left out."""

_NOT_IN_NSCF: Final = ("tprnfor", "tstress", "restart_mode")


def decks_of(
    scf: Deck, k_path: Sequence[tuple[float, float, float]], mesh_factor: int | None, field: str
) -> Mapping[str, str]:
    """The text of each deck by the name of its step.

    Parameters
    ----------
    scf
        As it would run alone.
    mesh_factor
        How much denser the mesh of ``nscf`` is than that of the SCF; None leaves it out.
    field
        Of the request, where the deck came from.

    Raises
    ------
    InvalidParams
        The deck cannot be that of a band structure.
    """
    for key in ("noncolin", "lspinorb"):
        if scf.value("system", key) is True:
            raise InvalidParams(
                f"the deck sets {key}: band structures with spinors are not built",
                hint="run scf and bands as two jobs (`inputs.save_from`)",
                field=field,
            )
    mesh = _mesh(scf, field)
    if scf.cards["K_POINTS"].option == "gamma":
        # what pw.x saves of a gamma-only run is half of what other k points need
        scf = scf.with_card("K_POINTS", "automatic", ["1 1 1 0 0 0"])
    points = [" ".join(f"{value:.12f}" for value in point) + " 1.0" for point in k_path]
    bands = _second(scf, "bands").with_card("K_POINTS", "crystal", [str(len(points)), *points])
    found = {SCF: scf.text, BANDS: _open_bands(bands)}
    if mesh_factor is not None:
        dense = " ".join(str(size * mesh_factor) for size in mesh)
        nscf = _second(scf, "nscf").with_card("K_POINTS", "automatic", [f"{dense} 0 0 0"])
        found[NSCF] = _open_bands(_tetrahedra(nscf))
    return found


def _mesh(scf: Deck, field: str) -> tuple[int, int, int]:
    card = scf.cards["K_POINTS"]
    if card.option == "gamma":
        return 1, 1, 1
    try:
        if card.option != "automatic":
            raise ValueError
        a, b, c = (int(word) for word in card.lines[0].split()[:3])
    except (ValueError, IndexError):
        raise InvalidParams(
            "a band structure needs a mesh of k points for its SCF, and the deck has none",
            hint="K_POINTS automatic",
            field=field,
        ) from None
    return a, b, c


def _second(scf: Deck, calculation: str) -> Deck:
    """A run that starts from the density of the SCF."""
    deck = scf.with_value("control", "calculation", calculation)
    for key in _NOT_IN_NSCF:
        deck = deck.without("control", key)
    # empty bands are what it is for
    return deck.with_value("electrons", "diago_full_acc", value=True)


def _tetrahedra(nscf: Deck) -> Deck:
    """The Fermi energy of a metal by tetrahedra, as its density of states is made."""
    smeared = nscf.word("system", "occupations", "fixed").lower() == "smearing"
    if not smeared or nscf.value("system", "tot_magnetization") is not None:
        return nscf
    deck = nscf.with_value("system", "occupations", "tetrahedra")
    return deck.without("system", "smearing").without("system", "degauss")


def _open_bands(deck: Deck) -> str:
    """The text with a number of bands that is not known yet."""
    deck = deck.with_value("system", "nbnd", 0)
    entry = deck.namelists["system"].entries["nbnd"]
    return deck.text[: entry.start] + N_BANDS + deck.text[entry.end :]
