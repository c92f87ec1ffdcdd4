"""Symbols of the elements by atomic number."""

from __future__ import annotations

_SYMBOLS = (
    "X H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy "
    "Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf "
    "Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og"
)
SYMBOLS = tuple(_SYMBOLS.split())
"""``SYMBOLS[29]`` is ``Cu``; number 0 is no element."""
NUMBERS = {symbol: number for number, symbol in enumerate(SYMBOLS) if number}


def symbol_of(number: int) -> str:
    """Symbol, or ``#999`` for a number that is none."""
    return SYMBOLS[number] if 0 < number < len(SYMBOLS) else f"#{number}"


def parse_elements(symbols: object) -> tuple[str, ...] | None:
    """Symbols in the order of their numbers; None for None.

    Raises
    ------
    ValueError
        Something in it is no element.
    """
    if symbols is None:
        return None
    if isinstance(symbols, str):
        symbols = symbols.split()
    if not isinstance(symbols, (list, tuple, set, frozenset)):
        raise ValueError(f"elements are a list of symbols, not {symbols!r}")
    unknown = [s for s in symbols if s not in NUMBERS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no element")
    return tuple(sorted(set(symbols), key=NUMBERS.__getitem__))
