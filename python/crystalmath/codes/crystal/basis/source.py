"""Where the basis set of a species comes from: the text that was given, or basis_set_exchange.

Runs in worker processes; basis_set_exchange is loaded when a name is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

from crystalmath.codes.crystal.basis.occupations import checked
from crystalmath.codes.crystal.basis.shells import BasisProblem, SpeciesBasis, read_species
from crystalmath.codes.crystal.deck.parse import records_of
from crystalmath.errors import InvalidParams

FIELD = "options.basis"


def inline_basis(given: Mapping[str, str], elements: Mapping[str, int]) -> list[SpeciesBasis]:
    """The basis sets of a deck.

    Parameters
    ----------
    given
        Element → the text of its basis set, or in one line the name of a set of
        basis_set_exchange.
    elements
        Symbol → atomic number of what the structure holds, in the order of the deck.

    Raises
    ------
    InvalidParams
        An element has none, or its text is none.
    """
    spelled = {symbol.capitalize(): text for symbol, text in given.items()}
    lacking = [symbol for symbol in elements if symbol not in spelled]
    if lacking:
        raise InvalidParams(
            f"no basis set is given for {', '.join(lacking)}",
            hint="give one for every element of the structure",
            field=FIELD,
        )
    surplus = [symbol for symbol in spelled if symbol not in elements]
    if surplus:
        raise InvalidParams(
            f"there is no {', '.join(surplus)} in the structure",
            hint="leave this basis set out",
            field=f"{FIELD}.{surplus[0]}",
        )
    return [_one(symbol, z, spelled[symbol]) for symbol, z in elements.items()]


def _one(symbol: str, z: int, text: str) -> SpeciesBasis:
    field = f"{FIELD}.{symbol}"
    stripped = text.strip()
    # A name has no line of its own for a shell; a basis set has at least two records.
    content = stripped if "\n" in stripped else _from_exchange(stripped, symbol, z)
    try:
        found = read_species(records_of(content + "\n"))
        if len(found) != 1 or found[0].z != z:
            listed = ", ".join(str(species.nat) for species in found) or "nothing"
            raise BasisProblem(f"the text is of {listed}, not of {symbol} ({z})")
        return checked(found[0])
    except BasisProblem as error:
        where = f" (line {error.record.line} of the text)" if error.record is not None else ""
        raise InvalidParams(
            f"{symbol}: {error}{where}",
            hint="a basis set is `Z nshell`, then for each shell `ITYB LAT NG CHE SCAL` and its "
            "primitives",
            field=field,
        ) from None


def _from_exchange(name: str, symbol: str, z: int) -> str:
    import basis_set_exchange as exchange

    known = {known.lower(): known for known in exchange.get_all_basis_names()}
    if name.lower() not in known:
        raise InvalidParams(
            f"{symbol}: basis_set_exchange has no set {name!r}",
            hint="give the text of the basis set, or a name like pob-TZVP-rev2",
            field=f"{FIELD}.{symbol}",
        )
    try:
        text: str = exchange.get_basis(
            known[name.lower()], elements=[z], fmt="crystal", header=False
        )
    except (KeyError, RuntimeError, ValueError) as error:
        raise InvalidParams(
            f"{known[name.lower()]} of basis_set_exchange has no {symbol} that CRYSTAL could use",
            hint="give the text of another basis set",
            field=f"{FIELD}.{symbol}",
        ) from error
    return text
