"""The deck of ph.x, and what it needs of the SCF before it. Pure text."""

from __future__ import annotations

from math import sqrt
from typing import Final

from crystalmath.codes.espresso import saved
from crystalmath.codes.espresso.deck import Deck
from crystalmath.codes.espresso.namelist import render_value
from crystalmath.codes.espresso.phonons.options import Response
from crystalmath.codes.espresso.steps import SCF
from crystalmath.codes.lattice import reciprocal
from crystalmath.errors import InvalidParams

PH: Final = "ph"
MATRICES: Final = "dynmat"
"""How the files of the dynamical matrices begin."""


def check(asked: Response, scf: Deck, at: str, field: str) -> None:
    """Refuse what ph.x cannot do with this SCF.

    Parameters
    ----------
    at
        Where the options stand in the request: ``inputs`` or ``options``.
    field
        Where the deck came from.

    Raises
    ------
    InvalidParams
    """
    if asked.epsil and _is_metal(scf):
        raise InvalidParams(
            "a metal has no dielectric tensor, and the occupations of this SCF are smeared",
            hint=f"leave `{at}.epsil` out, or give fixed occupations",
            field=f"{at}.epsil",
        )
    if asked.epsil and any(asked.q_point or ()):
        raise InvalidParams(
            "the dielectric tensor is computed at Γ, and q_point is elsewhere",
            hint=f"leave `{at}.epsil` or `{at}.q_point` out",
            field=f"{at}.epsil",
        )
    tetrahedra = scf.word("system", "occupations", "fixed").lower() == "tetrahedra"
    if scf.calculation != SCF or tetrahedra:
        said = "occupations = 'tetrahedra'" if tetrahedra else f"calculation = {scf.calculation!r}"
        raise InvalidParams(
            f"the deck says {said}; ph.x starts from an scf with fixed or smeared occupations",
            hint="correct it in the deck",
            field=field,
        )


def _is_metal(scf: Deck) -> bool:
    return scf.word("system", "occupations", "fixed").lower() not in ("fixed", "from_input")


def tightened(scf: Deck, limit_ry: float) -> tuple[Deck, list[str]]:
    """The SCF as ph.x needs it: converged far enough, and not with half of a complex function.

    Returns
    -------
    Deck, list of str
        What was changed, said for the user.
    """
    notes: list[str] = []
    before = scf.value("electrons", "conv_thr")
    if not isinstance(before, int | float) or before > limit_ry:
        scf = scf.with_value("electrons", "conv_thr", limit_ry)
        was = "left to pw.x" if before is None else f"{before:g} Ry"
        notes.append(f"conv_thr was {was} and is {limit_ry:g} Ry: the response needs it")
    if scf.cards["K_POINTS"].option == "gamma":
        scf = scf.with_card("K_POINTS", "automatic", ["1 1 1 0 0 0"])
        notes.append("K_POINTS gamma became a mesh of Γ: ph.x cannot start from a gamma-only run")
    return scf, notes


def ph_deck(asked: Response, scf: Deck, at: str) -> str:
    """The text of the deck of ph.x.

    Raises
    ------
    InvalidParams
        The wave vector cannot be given in the units of ph.x.
    """
    values: dict[str, str | int | float | bool] = {
        "prefix": scf.prefix,
        "outdir": f"./{saved.FOLDER}",
        "fildyn": MATRICES,
        "tr2_ph": asked.tr2_ph,
    }
    if asked.epsil:
        values["epsil"] = True
    point = (0.0, 0.0, 0.0)
    if asked.q_point is not None and any(asked.q_point):
        point = _in_units_of_ph(asked.q_point, scf, at)
    last = " ".join(f"{value:.12f}" for value in point)
    lines = [f"  {key} = {render_value(value)}" for key, value in values.items()]
    return "\n".join(["phonons", "&inputph", *lines, "/", last]) + "\n"


def _in_units_of_ph(fractions: list[float], scf: Deck, at: str) -> tuple[float, float, float]:
    """A wave vector along x, y and z in 2π/alat."""
    vectors, unit = _cell_of(scf, f"{at}.q_point")
    inverse = reciprocal(vectors)
    x, y, z = (
        sum(f * vector[axis] for f, vector in zip(fractions, inverse, strict=True)) * unit + 0.0
        for axis in range(3)
    )
    return x, y, z


def in_fractions(
    point: tuple[float, float, float], scf: Deck, field: str
) -> tuple[float, float, float]:
    """A wave vector in 2π/alat as fractions of the reciprocal vectors.

    Raises
    ------
    InvalidParams
        The deck does not tell its cell.
    """
    vectors, unit = _cell_of(scf, field)
    a, b, c = (
        sum(q * length for q, length in zip(point, vector, strict=True)) / unit + 0.0
        for vector in vectors
    )
    return a, b, c


_Vector = tuple[float, float, float]


def _cell_of(scf: Deck, field: str) -> tuple[tuple[_Vector, _Vector, _Vector], float]:
    """The vectors of the cell, and alat in their unit.

    Raises
    ------
    InvalidParams
    """
    card = scf.cards.get("CELL_PARAMETERS")
    rows = [] if card is None else [line.split()[:3] for line in card.lines[:3]]
    sets_alat = any(scf.value("system", key) is not None for key in ("celldm(1)", "a"))
    option = "" if card is None else card.option
    try:
        if scf.value("system", "ibrav") != 0 or (not option and not sets_alat and not rows):
            raise ValueError
        a, b, c = ((float(x), float(y), float(z)) for x, y, z in rows)
        in_alat = option == "alat" or (not option and sets_alat)
        unit = 1.0 if in_alat else sqrt(sum(value * value for value in a))
        reciprocal((a, b, c))  # which they are vectors of a cell for
    except (ValueError, ZeroDivisionError):
        raise InvalidParams(
            "a wave vector beside Γ needs the cell, and the deck has no CELL_PARAMETERS "
            "with ibrav = 0",
            hint="give the structure instead of a deck, or the cell with ibrav = 0",
            field=field,
        ) from None
    return (a, b, c), unit
