"""The basis set section: coverage, labels, electrons."""

from __future__ import annotations

from ase.data import chemical_symbols

from crystalmath.codes.crystal.basis.shells import (
    CAPACITY,
    BasisProblem,
    SpeciesBasis,
    read_species,
)
from crystalmath.codes.crystal.deck.records import Deck, Finding
from crystalmath.codes.crystal.lint.findings import error, nearest, unknown_words, warning
from crystalmath.codes.crystal.tables import keywords as known
from crystalmath.codes.crystal.tables.libraries import LIBRARIES, library_name, missing


def check_basis(deck: Deck, multiplicities: tuple[int, ...] | None) -> list[Finding]:
    """Look at the basis set.

    Parameters
    ----------
    multiplicities
        Atoms that each listed site makes; None when that is not known.
    """
    if deck.basis.library is not None:
        return _library(deck)
    if not deck.basis.shells:
        stops = any(item.keyword == "TESTGEOM" for item in deck.geometry.items)
        if stops:
            return []
        at = deck.geometry.end or deck.geometry.dimension
        return [
            error(at, "basis-missing", "the deck has no basis set",
                  "write BASISSET and a name in place of the END of the geometry")
        ]  # fmt: skip
    found = unknown_words(deck.basis.items, known.BASIS, "the basis set section")
    try:
        species = read_species(deck.basis.shells)
    except BasisProblem as problem:
        record = problem.record or deck.basis.shells[0]
        return [
            *found,
            error(record, "basis", str(problem), "compare it with ITYB LAT NG CHE SCAL"),
        ]
    found += _labels(deck, species)
    found += [finding for one in species for finding in _shells(one)]
    return found + _neutral(deck, species, multiplicities)


def _library(deck: Deck) -> list[Finding]:
    item = deck.basis.library
    name = deck.basis.name
    if item is None or name is None:
        return []
    record = item.data[0]
    spelled = library_name(name)
    found: list[Finding] = []
    if spelled is None:
        near = nearest(name.upper(), [library.upper() for library in LIBRARIES])
        found.append(
            warning(record, "library-unknown", f"{name} is no library that is known here",
                    f"is {library_name(near)} meant?" if near else "")
        )  # fmt: skip
    for site in deck.geometry.sites:
        nat = site.integers()[0]
        if nat is None:
            continue
        if nat > 100:
            found.append(
                error(site, "nat", f"with BASISSET the label is the atomic number, not {nat}",
                      f"write {nat % 100}")
            )  # fmt: skip
        elif spelled and missing(spelled, frozenset({nat})):
            found.append(
                error(site, "element-not-covered", f"{spelled} has no {chemical_symbols[nat]}",
                      "take another library or an inline basis set")
            )  # fmt: skip
    return found


def _labels(deck: Deck, species: list[SpeciesBasis]) -> list[Finding]:
    given = {one.nat for one in species}
    found = []
    told: set[int] = set()
    for site in deck.geometry.sites:
        nat = site.integers()[0]
        if nat is None or nat in given or nat in told:
            continue
        told.add(nat)
        same = sorted(other for other in given if other % 100 == nat % 100)
        hint = f"write {same[0]} in both places" if same else "add its shells before 99 0"
        found.append(error(site, "basis-species", f"there is no basis set for NAT {nat}", hint))
    used = {site.integers()[0] for site in deck.geometry.sites}
    if deck.geometry.sites:
        found += [
            warning(one.record, "basis-unused", f"no site has NAT {one.nat}")
            for one in species
            if one.nat not in used
        ]
    seen: set[int] = set()
    for one in species:
        if one.nat in seen:
            found.append(
                error(one.record, "basis-twice", f"NAT {one.nat} has a second basis set",
                      "keep one")
            )  # fmt: skip
        seen.add(one.nat)
    return found


def _shells(species: SpeciesBasis) -> list[Finding]:
    return [
        error(shell.record, "occupation",
              f"a shell of type {shell.lat} has room for {CAPACITY[shell.lat]} electrons, "
              f"not {shell.charge:g}", "correct CHE, the fourth number", 3)
        for shell in species.shells
        if not 0 <= shell.charge <= CAPACITY[shell.lat]
    ]  # fmt: skip


def _neutral(
    deck: Deck, species: list[SpeciesBasis], multiplicities: tuple[int, ...] | None
) -> list[Finding]:
    if any(item.keyword == "CHARGED" for item in deck.basis.items):
        return []
    by_label = {one.nat: one for one in species}
    wrong = [
        one
        for one in species
        if one.to_fill is not None and abs(one.electrons - one.to_fill) > 1e-6
    ]
    if not wrong:
        return []
    balance = 0.0
    for site, count in zip(deck.geometry.sites, multiplicities or (), strict=False):
        one = by_label.get(site.integers()[0] or 0)
        if one is None or one.to_fill is None:
            return []
        balance += count * (one.electrons - one.to_fill)
    if multiplicities is not None and abs(balance) < 1e-6:
        return []  # ions, whose charges cancel
    first = wrong[0]
    core = "; an effective core has NAT above 200" if first.nat < 200 else ""
    return [
        error(first.record, "not-neutral",
              f"the shells of NAT {first.nat} hold {first.electrons:g} electrons, the atom has "
              f"{first.to_fill:g}: UNIT CELL NOT NEUTRAL",
              f"correct the occupations, or write CHARGED after 99 0{core}")
    ]  # fmt: skip
