"""The same crystal, another one, and its mirror image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crystalmath.structures.identity import content_hash, fingerprint, is_same
from crystalmath.structures.structure import Structure
from support.crystals import random_crystal, repeated, turned


def _mirrored(given: Structure) -> Structure:
    return replace(given, positions=-given.positions)


def test_content_is_what_is_given() -> None:
    given = random_crystal(62, 1)
    shifted = replace(given, positions=given.positions + given.cell[0])
    assert content_hash(given) == content_hash(shifted)
    assert content_hash(given) != content_hash(given.take(range(len(given.symbols))[::-1]))
    moved = given.positions.copy()
    moved[0, 0] += 1e-3
    assert content_hash(given) != content_hash(replace(given, positions=moved))


def test_the_same_crystal_in_another_cell_is_the_same() -> None:
    given = random_crystal(19, 1)
    assert is_same(given, turned(given, 2))
    assert is_same(given, repeated(given, (2, 1, 1)))
    assert not is_same(given, random_crystal(19, 2))


def test_mirror_images_are_two_structures() -> None:
    for group in (1, 19):  # the number of the group is that of the mirror image, too
        given = random_crystal(group, 4)
        assert fingerprint(given).may_be(fingerprint(_mirrored(given)))
        assert not is_same(given, _mirrored(given))
    quartz = random_crystal(152, 5)
    assert fingerprint(_mirrored(quartz)).space_group == 154
    assert not is_same(quartz, _mirrored(quartz))
    centred = random_crystal(62, 6)
    assert is_same(centred, _mirrored(centred))
    assert np.isclose(
        fingerprint(centred).volume_per_atom_angstrom3, centred.volume / len(centred.symbols)
    )
