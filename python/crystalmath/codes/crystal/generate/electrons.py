"""Electrons, spin and basis set: whether they fit the structure, and the basis section."""

from __future__ import annotations

from dataclasses import dataclass

from ase.data import chemical_symbols

from crystalmath.codes.crystal.basis.source import inline_basis
from crystalmath.codes.crystal.generate.hamiltonian import Hamiltonian
from crystalmath.codes.crystal.generate.placed import Placed
from crystalmath.codes.crystal.tables.libraries import LIBRARIES, library_name, missing
from crystalmath.contract.d12 import D12Options, OpenShell
from crystalmath.errors import InvalidParams
from crystalmath.structures.metals import are_metals
from crystalmath.structures.structure import Structure


@dataclass(frozen=True, slots=True)
class BasisRecords:
    """What closes the geometry section and tells the basis set.

    Attributes
    ----------
    name
        The library, or ``inline``.
    labels
        Element → NAT, where an effective core potential makes it another number.
    """

    lines: tuple[str, ...]
    name: str
    labels: dict[int, int]
    warnings: tuple[str, ...] = ()


def is_open_shell(options: D12Options) -> bool:
    """Whether the two spins have orbitals of their own.

    Raises
    ------
    InvalidParams
        UHF, and closed at the same time.
    """
    if options.method == "UHF" and options.spin == "closed":
        raise InvalidParams(
            "UHF is an open shell", hint="give `options.method: HF`", field="options.spin"
        )
    return options.method == "UHF" or options.spin == "open" or isinstance(options.spin, OpenShell)


def basis_records(options: D12Options, energy: Hamiltonian, placed: Placed) -> BasisRecords:
    """Write the basis set.

    Raises
    ------
    InvalidParams
        An element is not covered, a text is no basis set, or a charge needs an inline basis.
    """
    numbers = list(dict.fromkeys(site.z for site in placed.sites))
    given = energy.library or options.basis
    if isinstance(given, dict):
        elements = {chemical_symbols[z]: z for z in numbers}
        species = inline_basis(given, elements)
        lines = [line for one in species for line in one.lines()]
        charged = ["CHARGED"] if options.charge else []
        labels = {one.z: one.nat for one in species}
        return BasisRecords(("END", *lines, "99 0", *charged, "END"), "inline", labels)
    if options.charge:
        raise InvalidParams(
            "a charge needs an inline basis set: CHARGED does not exist with a library",
            hint="give `options.basis` as element → text, or name of a set of basis_set_exchange",
            field="options.charge",
        )
    return _library(given, numbers)


def _library(given: str, numbers: list[int]) -> BasisRecords:
    name = library_name(given)
    if name is None:
        raise InvalidParams(
            f"{given!r} is no basis set library that is known here",
            hint=f"one of {', '.join(LIBRARIES)}; or element → text",
            field="options.basis",
        )
    lacking = [chemical_symbols[z] for z in missing(name, frozenset(numbers))]
    if lacking:
        raise InvalidParams(
            f"{name} has no basis set for {', '.join(lacking)}",
            hint="take another library, or give `options.basis` as element → text",
            field="options.basis",
        )
    warnings: tuple[str, ...] = ()
    if LIBRARIES[name] is None:
        warnings = (f"coverage unknown: whether {name} holds every element here is not known",)
    return BasisRecords(("BASISSET", name), name, {}, warnings)


def check_electrons(options: D12Options, placed: Placed, *, open_shell: bool) -> list[str]:
    """Compare electrons and spin; return what to warn of.

    Raises
    ------
    InvalidParams
        They do not fit.
    """
    electrons = placed.electrons - options.charge
    if electrons <= 0:
        raise InvalidParams(
            f"with this charge {electrons} electrons are left", field="options.charge"
        )
    if open_shell:
        _check_lock(options, electrons)
        return []
    if electrons % 2 == 0 or options.metal:
        return []
    said = "spin" in options.model_fields_set
    if said or options.charge or placed.dimension == "MOLECULE":
        raise InvalidParams(
            f"{electrons} electrons are an odd number, which a closed shell cannot hold",
            hint="give `options.spin: open`, or `options.metal` where bands are partly filled",
            field="options.charge" if options.charge and not said else "options.spin",
        )
    return [
        (
            f"the primitive cell has {electrons} electrons, an odd number: a closed shell is "
            "right only for a metal; give `options.metal` or `options.spin: open`"
        )
    ]


def _check_lock(options: D12Options, electrons: int) -> None:
    if not isinstance(options.spin, OpenShell) or options.spin.n_alpha_minus_beta is None:
        return
    difference = options.spin.n_alpha_minus_beta
    if abs(difference) > electrons or (electrons - difference) % 2:
        raise InvalidParams(
            f"{electrons} electrons cannot differ by {difference} between the spins",
            hint="with an even number of electrons the difference is even, with an odd one odd",
            field="options.spin.n_alpha_minus_beta",
        )


def metal_warnings(options: D12Options, structure: Structure) -> list[str]:
    """Whether what looks like a metal is treated as one."""
    if not are_metals(structure.symbols):
        return []
    if not options.metal:
        return ["all elements are metals: give `options.metal` unless there is a gap"]
    if options.smear_hartree is None:
        return ["no smearing is set; `options.smear_hartree: 0.005` often helps a metal converge"]
    return []
