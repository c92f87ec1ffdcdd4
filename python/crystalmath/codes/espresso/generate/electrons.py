"""Species, spins and occupations: how many electrons there are, and how they fill the bands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from crystalmath.codes.espresso.options import DeckOptions
from crystalmath.codes.espresso.upf.choice import Chosen
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.structures.metals import are_metals

SMEARING: Final = "marzari-vanderbilt"
DEGAUSS_RY: Final = 0.02
_EMPTY: Final = 4
"""Bands above the highest occupied one, at least, where occupations are fixed;"""
_EMPTY_PART: Final = 0.1
"""or this part of the occupied ones."""


@dataclass(frozen=True, slots=True)
class Species:
    """One line of ATOMIC_SPECIES: atoms of an element that start with the same moment.

    Attributes
    ----------
    moment_mu_b
        None where the calculation has no spin.
    """

    label: str
    chosen: Chosen
    moment_mu_b: float | None


@dataclass(frozen=True, slots=True)
class Electrons:
    """What of &system has to do with electrons.

    Attributes
    ----------
    labels
        Of each atom.
    values
        Variable → value.
    filling, filled_so
        How the bands are filled, and why.
    """

    species: tuple[Species, ...]
    labels: tuple[str, ...]
    count: float
    values: Mapping[str, Any]
    filling: str
    filled_so: str
    metal: bool


def electrons(
    symbols: Sequence[str],
    chosen: Sequence[Chosen],
    options: DeckOptions,
    task: str,
    of_structure: Sequence[float] | None = None,
) -> Electrons:
    """Settle species, spins and occupations.

    Parameters
    ----------
    of_structure
        The moments in μB that the structure has; an option outweighs them.

    Raises
    ------
    InputRejected, InvalidParams
        What was asked for does not fit the number of electrons or the atoms.
    """
    moments = _moments(symbols, options, of_structure)
    species, labels = _species(symbols, chosen, moments)
    valence = {one.element: one.header.z_valence for one in chosen}
    count = sum(valence[symbol] for symbol in symbols) - options.charge
    if count <= 0:
        raise InvalidParams(
            f"with a charge of {options.charge:+d} no electrons are left",
            hint="the pseudopotentials have "
            f"{sum(valence[symbol] for symbol in symbols):g} electrons",
            field="options.charge",
        )
    are_free = moments is not None and options.total_magnetization_mu_b is None
    smearing, why = _smearing(symbols, options, task, are_free=are_free)
    values: dict[str, Any] = {}
    if options.charge:
        values["tot_charge"] = options.charge
    if moments is not None:
        values["nspin"] = 2
        values |= _starting(species)
        if options.total_magnetization_mu_b is not None:
            values["tot_magnetization"] = options.total_magnetization_mu_b
    if smearing == "tetrahedra":
        values["occupations"] = "tetrahedra"
    elif smearing is None:
        values["occupations"] = "fixed"
        _check_fixed(count, options, has_spin=moments is not None)
    else:
        values |= {"occupations": "smearing", "smearing": smearing}
        values["degauss"] = options.degauss_ry or DEGAUSS_RY
    bands = _bands(count, options, fixed=smearing is None)
    if bands is not None:
        values["nbnd"] = bands
    return Electrons(
        species=species,
        labels=labels,
        count=count,
        values=values,
        filling=smearing or "fixed",
        filled_so=why,
        metal=smearing is not None,
    )


def _moments(
    symbols: Sequence[str], options: DeckOptions, of_structure: Sequence[float] | None
) -> list[float] | None:
    """Of each atom; None without spin."""
    found = _asked_moments(symbols, options)
    if found is not None:
        # pw.x refuses spins that all start at zero: what is asked for is a calculation without
        without = not any(found) and options.total_magnetization_mu_b is None
        return None if without else found
    if of_structure is not None:
        return list(of_structure)
    if options.total_magnetization_mu_b is None:
        return None
    # The total alone makes it spin-polarised: spread over the atoms to start from.
    return [options.total_magnetization_mu_b / len(symbols)] * len(symbols)


def _asked_moments(symbols: Sequence[str], options: DeckOptions) -> list[float] | None:
    given = options.moments_mu_b
    field = "options.moments_mu_b"
    if given is None:
        return None
    if isinstance(given, list):
        if len(given) != len(symbols):
            raise InvalidParams(
                f"there are {len(given)} moments and {len(symbols)} atoms",
                hint="give one for each atom, or one for each element",
                field=field,
            )
        return list(given)
    unknown = [element for element in given if element not in symbols]
    if unknown:
        raise InvalidParams(
            f"the structure has no {', '.join(unknown)}",
            hint=f"its elements are {', '.join(dict.fromkeys(symbols))}",
            field=f"{field}.{unknown[0]}",
        )
    return [given.get(symbol, 0.0) for symbol in symbols]


def _species(
    symbols: Sequence[str], chosen: Sequence[Chosen], moments: Sequence[float] | None
) -> tuple[tuple[Species, ...], tuple[str, ...]]:
    """Atoms of an element with different moments are different species: Fe1, Fe2."""
    of_element = {one.element: one for one in chosen}
    kinds: dict[str, list[float | None]] = {}
    of_atoms = [None] * len(symbols) if moments is None else moments
    for symbol, moment in zip(symbols, of_atoms, strict=True):
        found = kinds.setdefault(symbol, [])
        if moment not in found:
            found.append(moment)
    most = max(len(found) for found in kinds.values())
    if most > 9:
        raise InvalidParams(
            f"{most} different moments on one element are more than pw.x can tell apart",
            hint="give at most 9, or those of elements: {Fe: 2.2}",
            field="options.moments_mu_b",
        )
    labels = {
        (symbol, moment): symbol if len(found) == 1 else f"{symbol}{index + 1}"
        for symbol, found in kinds.items()
        for index, moment in enumerate(found)
    }
    species = tuple(
        Species(label, of_element[symbol], moment) for (symbol, moment), label in labels.items()
    )
    atoms = tuple(labels[pair] for pair in zip(symbols, of_atoms, strict=True))
    return species, atoms


def _starting(species: Sequence[Species]) -> dict[str, float]:
    """pw.x wants moments as parts of the valence electrons, from -1 to 1."""
    values = {}
    for index, one in enumerate(species, start=1):
        moment = one.moment_mu_b or 0.0
        part = moment / one.chosen.header.z_valence
        if abs(part) > 1:
            raise InvalidParams(
                f"{moment:g} μB are more than the {one.chosen.header.z_valence:g} electrons of "
                f"{one.chosen.name} can have",
                hint="give a smaller moment",
                field="options.moments_mu_b",
            )
        values[f"starting_magnetization({index})"] = round(part, 10)
    return values


def _smearing(
    symbols: Sequence[str], options: DeckOptions, task: str, *, are_free: bool
) -> tuple[str | None, str]:
    asked = options.smearing
    if asked == "tetrahedra" and task != "nscf":
        raise InvalidParams(
            f"tetrahedra are for an nscf, which finds no density: a {task} needs a smearing",
            hint="give another smearing",
            field="options.smearing",
        )
    if asked in ("none", "tetrahedra"):
        if options.degauss_ry is not None:
            raise InvalidParams(
                f"a width has no meaning with smearing {asked}",
                hint="leave one of them out",
                field="options.degauss_ry",
            )
        return (None if asked == "none" else asked), "as asked for"
    if asked is not None:
        return asked, "as asked for"
    if options.degauss_ry is not None:
        return SMEARING, "because a width was given"
    if are_metals(symbols):
        return SMEARING, "because all elements are metals"
    if are_free:
        return SMEARING, "because the moments are free"
    return None, "because not all elements are metals"


def _check_fixed(count: float, options: DeckOptions, *, has_spin: bool) -> None:
    """Refuse what fixed occupations cannot hold."""
    whole = abs(count - round(count)) < 1e-6
    total = options.total_magnetization_mu_b
    if has_spin:
        if total is None:
            raise InvalidParams(
                "with fixed occupations the moments cannot change freely",
                hint="give `options.total_magnetization_mu_b`, or a smearing; without spin: "
                "`options.moments_mu_b: {}`",
                field="options.total_magnetization_mu_b",
            )
        if not whole or abs(total - round(total)) > 1e-6 or (round(count) - round(total)) % 2:
            raise InvalidParams(
                f"{count:g} electrons cannot have a total moment of {total:g} μB",
                hint="with an even number of electrons it is even, with an odd one odd",
                field="options.total_magnetization_mu_b",
            )
        if abs(total) > count:
            raise InvalidParams(
                f"{count:g} electrons cannot have a total moment of {total:g} μB",
                hint="give a smaller one",
                field="options.total_magnetization_mu_b",
            )
        return
    if not whole or round(count) % 2:
        raise InputRejected(
            f"{count:g} electrons cannot fill bands in pairs",
            hint="give `options.moments_mu_b` for an open shell, or `options.smearing` for a metal",
            field="options.smearing",
        )


def _bands(count: float, options: DeckOptions, *, fixed: bool) -> int | None:
    """Number of bands; None leaves it to pw.x, which takes enough for a smearing."""
    total = options.total_magnetization_mu_b or 0.0
    occupied = math.ceil((count + abs(total)) / 2 - 1e-6)
    if options.n_bands is not None:
        if options.n_bands < occupied:
            raise InvalidParams(
                f"{options.n_bands} bands cannot hold {count:g} electrons: {occupied} are occupied",
                hint="give more, or leave it out",
                field="options.n_bands",
            )
        return options.n_bands
    return occupied + max(_EMPTY, math.ceil(_EMPTY_PART * occupied)) if fixed else None
