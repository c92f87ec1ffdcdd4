"""CRYSTAL decks of random crystals in every setting, of layers, and of real ones given otherwise.

Each deck is expanded with operators that are not the product's own where there are others, and
compared with the crystal that it was made of, by a proper motion. Imports the product; no daemon.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from crystalmath.codes.crystal.generate.deck import make_deck
from crystalmath.codes.crystal.tables import groups
from crystalmath.contract.d12 import D12Options
from crystalmath.errors import CrystalMathError, InputRejected
from crystalmath.structures.structure import Structure
from crystalmath.structures.symmetry import search
from soak.decks.crystals import given_otherwise, random_crystal, random_layer
from soak.decks.forms import case_files, forms_of
from soak.decks.judge import differences
from soak.outcome import Outcome, Progress, Say

SETTINGS: Final = range(1, 531)
LAYERS: Final = range(1, 81)
OF_RANDOM_A: Final = 2e-3
"""Å by which a site may differ where the crystal is exact."""
OF_A_CASE_A: Final = 0.02


@dataclass(frozen=True, slots=True)
class _Task:
    """One crystal to write a deck of: a setting, a layer group, or a file in one form."""

    name: str
    setting: int = 0
    layer: int = 0
    file: Path | None = None


def tasks(seed: int) -> Iterator[_Task]:
    """Every setting and layer group, in an order of the seed; after the last one again."""
    shuffle = random.Random(seed)
    while True:
        both = [_Task(f"setting {hall}", setting=hall) for hall in SETTINGS]
        both += [_Task(f"layer group {number}", layer=number) for number in LAYERS]
        shuffle.shuffle(both)
        yield from both


def run(count: int, seed: int, say: Say, *, with_cases: bool = True) -> Outcome:
    """Write ``count`` decks of random crystals, and those of all cases in all forms."""
    progress = Progress(count, say)
    problems: list[str] = []
    alike = refused = 0
    for number, task in zip(range(count), tasks(seed), strict=False):
        rng = np.random.default_rng((seed, number))
        found, is_alike = _random(task, rng)
        problems += [f"{task.name}, deck {number} of seed {seed}: {text}" for text in found]
        alike += is_alike
        progress.at(number + 1)
    facts = f"{count} decks of random crystals, {alike} with the group that they were made with"
    if with_cases:
        cases, forms, refused, found = run_cases(seed)
        problems += found
        facts += f"; {forms} decks of {cases} structures of users, {refused} refused as they should"
    return Outcome(facts, problems)


def _random(task: _Task, rng: np.random.Generator) -> tuple[list[str], bool]:
    """What is wrong with one deck, and whether it has the group of the setting."""
    if task.layer:
        made_with = random_layer(task.layer, rng)
        wanted = groups.LAYER_FROM_ITE[task.layer]
        is_open = wanted in groups.LAYER_ORIGIN_OPEN
    else:
        made_with = random_crystal(task.setting, rng)
        kind = search.setting(task.setting)
        wanted, is_open = (0 if kind is None else int(kind.number)), False
    structure = given_otherwise(made_with, rng, is_layer=bool(task.layer))
    try:
        # said, because a random layer may be loose enough to be taken for rods
        made = deck_of(structure, dimension="slab" if task.layer else "crystal")
    except CrystalMathError as error:
        return [f"refused: {error.message}"], False
    group = made["report"]["group"]
    found = differences(made, structure, OF_RANDOM_A)
    if group != wanted and not is_open:
        found.append(f"the deck has group {group}, not {wanted}")
    return found, group == wanted


def deck_of(structure: Structure, **options: Any) -> dict[str, Any]:
    """The deck of a structure, as the method returns it."""
    return make_deck(structure, D12Options.model_validate(options))


def run_cases(seed: int, only: int | None = None) -> tuple[int, int, int, list[str]]:
    """All real structures in every form.

    Parameters
    ----------
    only
        So many forms of each, chosen by the seed, beside the given one.

    Returns
    -------
    int, int, int, list of str
        Files, decks, files that were refused, and what is wrong.
    """
    from crystalmath.structures.read import read

    files = case_files()
    decks = refused = 0
    problems: list[str] = []
    for index, (path, is_refused) in enumerate(files):
        try:
            given = read(path=str(path))
        except InputRejected as error:
            refused += 1
            if not is_refused:
                problems.append(f"{path.name} is refused: {error.message}")
            continue
        if is_refused:
            problems.append(f"{path.name} is not refused")
            continue
        rng = np.random.default_rng((seed, index))
        made, found = _case(path.name, given, rng, only)
        decks += made
        problems += found
    return len(files), decks, refused, problems


def _case(
    name: str, given: Structure, rng: np.random.Generator, only: int | None
) -> tuple[int, list[str]]:
    problems: list[str] = []
    first: dict[str, Any] | None = None
    forms = forms_of(given, rng)
    names = list(forms)
    if only is not None:
        names = [names[0], *rng.choice(names[1:], only, replace=False).tolist()]
    for form in names:
        structure = forms[form]
        try:
            made = deck_of(structure)
        except CrystalMathError as error:
            problems.append(f"{name}, {form}: refused: {error.message}")
            continue
        problems += [
            f"{name}, {form}: {text}" for text in differences(made, structure, OF_A_CASE_A)
        ]
        first = first or made
        problems += [f"{name}, {form}: {text}" for text in unlike(first, made)]
    return len(names), problems


def unlike(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """How two decks differ that should be equivalent: head, lattice record, number of sites."""
    found = []
    first, second = (made["d12"].splitlines() for made in (one, other))
    at = 4 if first[1] == "CRYSTAL" else 3
    if first[1:at] != second[1:at]:
        found.append(f"{second[1:at]} instead of {first[1:at]}")
        return found
    lattices = [np.array(lines[at].split(), dtype=float) for lines in (first, second)]
    if lattices[0].shape != lattices[1].shape or np.abs(lattices[0] - lattices[1]).max() > 0.01:
        found.append(f"lattice {second[at]} instead of {first[at]}")
    many = [sorted(made["report"]["multiplicities"]) for made in (one, other)]
    if many[0] != many[1]:
        found.append(f"multiplicities {many[1]} instead of {many[0]}")
    return found
