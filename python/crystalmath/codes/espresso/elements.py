"""Chemical symbols and what a species label of pw.x means. Pure; loads nothing."""

from __future__ import annotations

import re
from typing import Final

_NAMES: Final = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As "
    "Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu "
    "Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np "
    "Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og "
)
SYMBOLS: Final = frozenset(_NAMES.split())


def element_of_label(label: str) -> str | None:
    """Return the element of a label such as ``Fe1``, ``Fe_up`` or ``fe``; None when there is none.

    pw.x takes one or two letters, then anything; two letters win where both readings are elements.
    """
    match = re.match(r"[A-Za-z]{1,2}", label)
    if match is None:
        return None
    for length in (len(match[0]), 1):
        name = match[0][:length].capitalize()
        if name in SYMBOLS:
            return name
    return None
