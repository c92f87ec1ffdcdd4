"""Occupations of the shells of a neutral atom: by angular momentum, the lowest shells first.

basis_set_exchange writes every shell empty; the program starts from what stands there, and stops
when the electrons do not add up. Pure.
"""

from __future__ import annotations

from typing import Final

from crystalmath.codes.crystal.basis.shells import ANGULAR, CAPACITY, BasisProblem, SpeciesBasis

_LETTERS: Final = "spdf"
_MADELUNG: Final = tuple(
    sorted(
        ((n, letter) for n in range(1, 8) for letter in range(min(n, 4))),
        key=lambda shell: (shell[0] + shell[1], shell[0]),
    )
)
CORES: Final = {
    0: "", 2: "1s", 10: "1s 2s 2p", 18: "1s 2s 2p 3s 3p", 28: "1s 2s 2p 3s 3p 3d",
    36: "1s 2s 2p 3s 3p 3d 4s 4p", 46: "1s 2s 2p 3s 3p 3d 4s 4p 4d",
    54: "1s 2s 2p 3s 3p 3d 4s 4p 4d 5s 5p", 60: "1s 2s 2p 3s 3p 3d 4s 4p 4d 4f",
    68: "1s 2s 2p 3s 3p 3d 4s 4p 4d 4f 5s 5p", 78: "1s 2s 2p 3s 3p 3d 4s 4p 4d 4f 5s 5p 5d",
}  # fmt: skip
"""Electrons of an effective core → the shells that it stands for."""


def neutral_atom(z: int, core: int = 0) -> dict[str, int]:
    """Electrons outside the core by ``s p d f``, in the order in which shells are filled.

    Raises
    ------
    BasisProblem
        There is no core of this size.
    """
    if core not in CORES or core > z:
        raise BasisProblem(f"an effective core of {core} electrons is not known for Z = {z}")
    inside = set(CORES[core].split())
    counts = dict.fromkeys(_LETTERS, 0)
    left = z
    for n, momentum in _MADELUNG:
        letter = _LETTERS[momentum]
        electrons = min(left, 2 * (2 * momentum + 1))
        left -= electrons
        if f"{n}{letter}" in inside:
            if electrons < 2 * (2 * momentum + 1):
                raise BasisProblem(f"an effective core of {core} electrons is too large for {z}")
        else:
            counts[letter] += electrons
    return counts


def occupied(species: SpeciesBasis) -> SpeciesBasis:
    """The basis set with the shells filled for the neutral atom.

    Raises
    ------
    BasisProblem
        The shells cannot take the electrons.
    """
    valence = species.to_fill
    if valence is None:
        raise BasisProblem(f"the core of species {species.nat} is not given", species.record)
    left = neutral_atom(species.z, round(species.z - valence))
    charges = []
    for shell in species.shells:
        charge = 0
        for letter in ANGULAR[shell.lat]:
            room = CAPACITY[0] if letter == "s" else CAPACITY[2]
            limit = room if shell.lat == 1 else CAPACITY[shell.lat]
            taken = min(left.get(letter, 0), limit)
            if letter in left:
                left[letter] -= taken
            charge += taken
        charges.append(float(charge))
    rest = {letter: count for letter, count in left.items() if count}
    if rest:
        what = ", ".join(f"{count} {letter}" for letter, count in rest.items())
        raise BasisProblem(
            f"the shells of species {species.nat} have no room for {what} electrons",
            species.record,
        )
    return species.with_charges(charges)


def checked(species: SpeciesBasis) -> SpeciesBasis:
    """The basis set with occupations that add up: those given, or filled where all are zero.

    Raises
    ------
    BasisProblem
        They do not add up, or a shell holds more than it can.
    """
    for index, shell in enumerate(species.shells, start=1):
        if not 0 <= shell.charge <= CAPACITY[shell.lat]:
            raise BasisProblem(
                f"shell {index} of species {species.nat} holds {shell.charge:g} electrons; "
                f"a shell {ANGULAR[shell.lat].upper()} has room for {CAPACITY[shell.lat]}",
                shell.record,
            )
    if species.electrons == 0:
        return occupied(species)
    wanted = species.to_fill
    if wanted is not None and abs(species.electrons - wanted) > 1e-6:
        raise BasisProblem(
            f"the shells of species {species.nat} hold {species.electrons:g} electrons, "
            f"the neutral atom has {wanted:g}",
            species.record,
        )
    return species
