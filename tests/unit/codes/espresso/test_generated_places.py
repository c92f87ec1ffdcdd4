"""Where a deck that is written looks: along the path of its lattice, for its pseudopotentials."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crystalmath.codes.espresso.deck import parse_deck
from crystalmath.codes.espresso.generate.deck import generate_inputs
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import StructureData
from support.espresso import crystal, fcc, upf

_SI = fcc("Si Si", 5.43)
_FCC = [[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]
_DIAMOND = [[x + shift for x in place] for place in _FCC for shift in (0.0, 0.25)]
_CUBIC = crystal("Si " * 8, [[5.43, 0, 0], [0, 5.43, 0], [0, 0, 5.43]], _DIAMOND)
_HYDROGEN = StructureData(
    lattice=None,
    pbc=(False, False, False),
    symbols=("H", "H"),
    positions=((0.0, 0.0, 0.0), (0.74, 0.0, 0.0)),
    formula="H2",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory of pseudopotentials."""
    made = tmp_path / "upf"
    made.mkdir()
    for element in ("Si", "H"):
        (made / f"{element}.UPF").write_text(upf(element, valence=4 if element == "Si" else 1))
    return made


def made(
    folder: Path, structure: StructureData, task: str, *, in_place: bool = False, **options: Any
) -> dict[str, Any]:
    return generate_inputs(
        {"document": asdict(structure)},
        {"ecutwfc_ry": 20, **options},
        task,
        {"ESPRESSO_PSEUDO": str(folder)},
        in_place=in_place,
    )


def test_bands_follow_the_path_of_the_lattice(folder: Path) -> None:
    written = made(folder, _SI, "bands")
    card = parse_deck(written["files"][0]["content"]).cards["K_POINTS"]
    assert card.option == "crystal"
    assert int(card.lines[0]) == len(card.lines) - 1 > 100
    assert "path of HPKOT" in written["report"]["k_points_from"]
    points = np.array([[float(word) for word in line.split()[:3]] for line in card.lines[1:]])
    in_units_of_a = np.abs(points @ np.linalg.inv(np.array(_SI.lattice)).T) * 5.43
    for place in ((0, 0, 0), (0.5, 0.5, 0.5)):  # Γ and L
        assert np.isclose(in_units_of_a, place, atol=1e-6).all(axis=1).any()
    with pytest.raises(InvalidParams, match="repeats in 0") as caught:
        made(folder, _HYDROGEN, "bands")
    assert caught.value.field == "options.k_points"
    with pytest.raises(InputRejected, match="holds 4 of them"):
        made(folder, _CUBIC, "bands")


def test_pseudopotentials_can_be_read_where_they_lie(folder: Path, tmp_path: Path) -> None:
    for task in ("scf", "ph"):
        written = made(folder, _SI, task, in_place=True)
        deck = parse_deck(written["files"][0]["content"])
        assert deck.value("control", "pseudo_dir") == str(folder)
    (tmp_path / "Si.UPF").write_text(upf("Si"))
    silane = StructureData(
        lattice=None,
        pbc=(False, False, False),
        symbols=("Si", "H", "H"),
        positions=((0.0, 0.0, 0.0), (1.0, 1.1, 0.0), (-1.0, 1.1, 0.0)),
        formula="H2Si",
    )
    elsewhere = {"Si": str(tmp_path / "Si.UPF")}
    assert made(folder, silane, "scf", pseudos=elsewhere)
    with pytest.raises(InvalidParams, match="from one directory") as caught:
        made(folder, silane, "scf", pseudos=elsewhere, in_place=True)
    assert caught.value.field == "options.pseudos"
