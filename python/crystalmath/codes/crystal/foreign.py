"""A CRYSTAL calculation that somebody ran by hand: its output, its deck and what belongs to it.

Used by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from crystalmath.codes.crystal.output.files import sniff
from crystalmath.codes.crystal.output.geometries import formula_of
from crystalmath.codes.crystal.output.results import kind_of
from crystalmath.codes.crystal.run.places import load_with_deck
from crystalmath.codes.crystal.run.staging import (
    COLLECTED,
    ON_FAILURE,
    PROPERTIES_DECK,
    STAGED,
    WAVE_DECK,
)
from crystalmath.codes.outputs import meant_output
from crystalmath.services.ports import Finished, InputFile

PROGRAM = "CRYSTAL"
_BY_HAND = "INPUT"
"""What the program itself calls a deck."""


def find_output(path: Path) -> Path | None:
    """The output of CRYSTAL that a path means; None when it is none.

    Raises
    ------
    InvalidParams
        The directory holds several.
    """
    return meant_output(path, sniff, PROGRAM)


def recognise(path: Path) -> Finished | None:
    """Say what a finished calculation consists of; None when it is not one of CRYSTAL.

    Raises
    ------
    InvalidParams
        The directory holds several.
    """
    output = find_output(path)
    if output is None:
        return None
    run = load_with_deck(output)
    task = kind_of(run)
    deck = _deck_of(output, properties=task == "properties")
    warnings: list[str] = []
    inputs: list[InputFile] = []
    if deck is None:
        warnings.append("its deck was not found, so it can be neither rerun nor continued")
    else:
        name = deck.name
        if deck.name == _BY_HAND:
            name = f"{output.stem}{PROPERTIES_DECK if task == 'properties' else WAVE_DECK}"
        inputs.append(InputFile(name, source=str(deck.resolve())))
        inputs += [InputFile(p.name, source=str(p.resolve())) for p in _beside(output, STAGED)]
    taken = {output.name, *(file.path for file in inputs)}
    results = [
        InputFile(one.name, source=str(one.resolve()))
        for one in (*_beside(output, COLLECTED.values()), *_errors(output))
        if one.name not in taken
    ]
    geometry = run.geometry
    return Finished(
        task=task,
        output=output.name,
        files=(InputFile(output.name, source=str(output)), *inputs, *results),
        input_files=tuple(file.path for file in inputs),
        inputs={} if deck is None else {"deck": inputs[0].path},
        formula=None if geometry is None else formula_of(geometry),
        n_atoms=None if geometry is None else geometry.n_atoms,
        warnings=tuple(warnings),
    )


def _deck_of(output: Path, *, properties: bool) -> Path | None:
    """The deck of the same name, else INPUT."""
    ending = PROPERTIES_DECK if properties else WAVE_DECK
    places = (output.with_suffix(ending), output.parent / _BY_HAND)
    return next((path for path in places if path.is_file() and path != output), None)


def _beside(output: Path, endings: Iterable[str]) -> Iterator[Path]:
    for ending in dict.fromkeys(endings):
        path = output.with_suffix(ending)
        if path.is_file() and path != output:
            yield path


def _errors(output: Path) -> Iterator[Path]:
    """Error files name no run: they belong to it only where the program's own names are used."""
    if output.name in ("OUTPUT", "stdout.log"):
        for pattern in ON_FAILURE:
            yield from (path for path in sorted(output.parent.glob(pattern)) if path.is_file())
