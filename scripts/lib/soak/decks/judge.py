"""Whether a deck is the crystal that it was made of, without the product's own check.

Sites are expanded with the operators of gemmi's reference setting of the group, which is the one
that CRYSTAL means by a number; layers with those that the product declares. The transformation of
the report must be a proper motion that carries the one crystal into the other.
"""

from __future__ import annotations

from typing import Any

import gemmi
import numpy as np

from crystalmath.codes.crystal.cell.declared import declared
from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.source import read_deck
from crystalmath.structures.structure import Floats, Structure
from crystalmath.structures.text import from_text
from soak.decks.crystals import different

_SAME_A = 1e-3
_VOLUME = 1e-3


def differences(made: dict[str, Any], given: Structure, within_a: float) -> list[str]:
    """What is wrong with a deck; empty when it is the crystal.

    Parameters
    ----------
    made
        As ``materials.generate_d12`` returns it.
    within_a
        Å by which a site may differ.
    """
    crystal = declared(parse_deck(made["d12"]))
    cell, periodic = crystal.cell, np.array(crystal.periodic)
    report = made["report"]
    if crystal.dimension == "CRYSTAL":
        operators = gemmi.get_spacegroup_reference_setting(crystal.group).operations()
        rotations = np.array([np.array(op.rot) / op.DEN for op in operators])
        translations = np.array([np.array(op.tran) / op.DEN for op in operators])
    else:
        rotations = crystal.setting.rotations.astype(float)
        translations = crystal.setting.translations
    if report["transformation"] is None:
        return [f"it is written as {report['dimension']}"]
    found = _against_reader(made["d12"], report["n_atoms"])
    fractions, labels = _expanded(crystal, rotations, translations, periodic)
    if len(fractions) != report["n_atoms"]:
        found.append(f"{len(fractions)} atoms expand of it, not {report['n_atoms']}")
    change, shift = np.array(report["transformation"]), np.array(report["origin_shift"])
    if np.linalg.det(change) <= 0:
        return [*found, "its transformation makes a mirror image"]
    found += _cells(given, cell, change, periodic)
    return found + _atoms(given, (fractions, labels, cell), (change, shift), periodic, within_a)


def _against_reader(text: str, n_atoms: int) -> list[str]:
    read = read_deck(from_text(text))
    return [] if len(read.symbols) == n_atoms else [f"it is read as {len(read.symbols)} atoms"]


def _expanded(
    crystal: Any, rotations: Floats, translations: Floats, periodic: Floats
) -> tuple[Floats, list[int]]:
    fractions: list[Floats] = []
    labels: list[int] = []
    for number, site in zip(crystal.numbers, crystal.sites, strict=True):
        kept = different(rotations @ site + translations, crystal.cell, periodic, _SAME_A)
        fractions.extend(kept)
        labels += [number % 100] * len(kept)
    return np.array(fractions), labels


def _cells(given: Structure, cell: Floats, change: Floats, periodic: Floats) -> list[str]:
    """The metric of the carried cell against that of the deck, along the axes that repeat."""
    if not periodic.all():
        return []
    carried = np.linalg.inv(change).T @ given.cell
    one, other = carried @ carried.T, cell @ cell.T
    worst = float(np.abs(one - other).max() / np.abs(other).max())
    ratio = np.linalg.det(carried) / np.linalg.det(cell)
    if worst > _VOLUME * 5 or abs(ratio - 1) > _VOLUME:
        return [f"its cell is another one: metric off by {worst:.1e}, volume by {ratio - 1:.1e}"]
    return []


def _atoms(
    given: Structure,
    deck: tuple[Floats, list[int], Floats],
    motion: tuple[Floats, Floats],
    periodic: Floats,
    within_a: float,
) -> list[str]:
    fractions, labels, cell = deck
    change, shift = motion
    carried = _unwrapped(given, periodic) @ change.T + shift
    numbers = given.numbers
    found = []
    used: set[int] = set()
    for atom, point in enumerate(carried):
        gap = fractions - point
        gap -= np.where(periodic, np.rint(gap), 0.0)
        distance = np.linalg.norm(gap @ cell, axis=1)
        distance[np.array(labels) != numbers[atom]] = np.inf
        nearest = int(distance.argmin())
        used.add(nearest)
        if distance[nearest] > within_a:
            found.append(f"atom {atom + 1} is {distance[nearest]:.4f} Å from its place")
            break
    if len(given.symbols) >= len(fractions) and len(used) < len(fractions) and not found:
        found.append(f"{len(fractions) - len(used)} of its atoms are none of the structure")
    return found


def _unwrapped(given: Structure, periodic: Floats) -> Floats:
    """Fractions with a layer in one piece, as the product cuts it."""
    if periodic.all():
        return given.fractions
    from crystalmath.structures.symmetry.dimensionality import dimensionality, isolate

    return isolate(given, dimensionality(given, "slab")).fractions
