"""The calculator: the protocol of ASE's calculators without the state machinery of ``Calculator``.

The last answer is kept with the bytes that identify its structure, so energy and forces of one
structure are one evaluation. Arrays that are given out belong to whoever asked.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

import numpy as np

from crystalmath.errors import (
    CrystalMathError,
    EngineChanged,
    InputRejected,
    UnsupportedSpecies,
)
from crystalmath.forces.as_ase import as_ase, not_given, voigt
from crystalmath.forces.batch import evaluate_all
from crystalmath.forces.connection import Floats
from crystalmath.forces.geometry import (
    FAR_ANGSTROM,
    Geometry,
    check_arrays,
    check_cell,
    check_finite,
    check_near,
    geometry_of,
)
from crystalmath.forces.source import Source
from crystalmath.forces.spread import Spread, spread_of
from crystalmath.forces.sums import Terms
from crystalmath.forces.worker import wire
from crystalmath.forces.worker.elements import NUMBERS

_FIRST: Final = wire.mask_of(("energy", "free_energy", "forces"))
_STRESS: Final = wire.mask_of(("stress", "stresses"))
_NOTHING: Final = Geometry(b"", b"", b"", b"", "")
"""Equal to no structure."""


class LeanCalculator:
    """Energies and forces from a worker, as an ASE calculator.

    Parameters
    ----------
    source
        Gives the connections; several are the terms of a sum.
    allow_toy_elements
        Accept elements for which the engine has parameters without meaning.
    ignore_info
        Keys of ``atoms.info`` that are not for the engine.
    allowance_s
        Seconds that one request may take; 0: the worker's default.

    Notes
    -----
    Safe in threads. Pickles as its parameters, and connects anew after a fork.
    """

    name = "crystalmath"

    def __init__(
        self,
        source: Source,
        *,
        allow_toy_elements: bool = False,
        ignore_info: Iterable[str] = (),
        allowance_s: float = 0.0,
    ) -> None:
        self._source = source
        self._allow_toy_elements = allow_toy_elements
        self._ignored = frozenset(ignore_info)
        self._allowance_s = allowance_s
        self._lock = threading.RLock()
        self._terms: Terms | None = None
        self._pid = 0
        self._known: tuple[tuple[str, ...], ...] | None = None
        self._forget()

    def _forget(self) -> None:
        self._key: Geometry = _NOTHING
        self._has: int = 0
        self._asked: int = 0
        self._checked: tuple[bytes, bytes, str] | None = None
        self._cell: tuple[bytes, bytes] | None = None
        self._flat = ""

    # --- what it is -----------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Any]:
        """What it was made with."""
        return dict(self._source.parameters)

    def todict(self) -> dict[str, Any]:
        """What it was made with, for ASE's databases and trajectories."""
        return self.parameters

    @property
    def implemented_properties(self) -> list[str]:
        """Properties that the loaded engine gives; loads it if it is not."""
        return list(self._connected().properties)

    @property
    def identity(self) -> list[dict[str, Any]]:
        """Where the numbers come from, one entry for each term."""
        return [dict(connection.identity) for connection in self._connected().connections]

    @property
    def capabilities(self) -> list[dict[str, Any]]:
        """What each term's worker said after loading."""
        return [dict(connection.capabilities) for connection in self._connected().connections]

    @property
    def connected(self) -> bool:
        """Whether its connections are there and whole."""
        with self._lock:
            return self._terms is not None and self._terms.usable

    # --- the protocol of ASE --------------------------------------------------------------------

    def get_potential_energy(self, atoms: Any = None, force_consistent: bool = False) -> float:
        """Energy in eV; the free energy when it must be consistent with the forces."""
        name = "free_energy" if force_consistent else "energy"
        with self._lock:
            return float(self._property(name, atoms)[0])

    def get_forces(self, atoms: Any = None) -> Floats:
        """Forces in eV/Å."""
        with self._lock:
            return self._property("forces", atoms).copy()

    def get_stress(self, atoms: Any = None) -> Floats:
        """Stress in eV/Å³ as (xx, yy, zz, yz, xz, xy), positive under tension."""
        with self._lock:
            return voigt(self._property("stress", atoms))

    def get_stresses(self, atoms: Any = None) -> Floats:
        """Stress of each atom, (n, 6)."""
        with self._lock:
            return voigt(self._property("stresses", atoms))

    def get_potential_energies(self, atoms: Any = None) -> Floats:
        """Energy of each atom in eV."""
        return self._array("energies", atoms)

    def get_charges(self, atoms: Any = None) -> Floats:
        """Charge of each atom in e."""
        return self._array("charges", atoms)

    def get_magnetic_moments(self, atoms: Any = None) -> Floats:
        """Magnetic moment of each atom in μB."""
        return self._array("magmoms", atoms)

    def get_dipole_moment(self, atoms: Any = None) -> Floats:
        """Dipole moment in e·Å."""
        return self._array("dipole", atoms)

    def get_spread(self, atoms: Any = None) -> Spread:
        """How far the members of a committee are from their mean."""
        with self._lock:
            return spread_of(
                self._property("committee_energy", atoms), self._property("committee_forces", atoms)
            )

    def get_property(self, name: str, atoms: Any = None, allow_calculation: bool = True) -> Any:
        """One property by its name, as ASE shapes it; None if it would have to be computed."""
        with self._lock:
            if not allow_calculation and self.calculation_required(atoms, [name]):
                return None
            return as_ase(name, self._property(name, atoms))

    def calculation_required(self, atoms: Any, properties: Sequence[str]) -> bool:
        """Whether something would have to be computed."""
        with self._lock:
            if atoms is not None and geometry_of(atoms, self._ignored) != self._key:
                return True
            return any(not self._has & wire.BITS.get(name, 0) for name in properties)

    def calculate(
        self,
        atoms: Any = None,
        properties: Sequence[str] = ("energy",),
        system_changes: Sequence[str] = (),  # noqa: ARG002 - it compares for itself
    ) -> None:
        """Compute properties; they are in :attr:`results` afterwards."""
        with self._lock:
            for name in properties:
                self._property(name, atoms)

    @property
    def results(self) -> dict[str, Any]:
        """What the last evaluation gave, as ASE shapes it; copies."""
        with self._lock:
            if self._terms is None:
                return {}
            return {n: as_ase(n, self._terms.arrays[n]) for n in wire.names_of(self._has)}

    def reset(self) -> None:
        """Forget the last evaluation."""
        with self._lock:
            self._key, self._has = _NOTHING, 0

    # --- several structures ---------------------------------------------------------------------

    def evaluate(
        self,
        structures: Sequence[Any],
        properties: Sequence[str] = ("energy", "forces"),
        *,
        errors: str = "raise",
    ) -> list[Any]:
        """Compute several structures at once.

        Parameters
        ----------
        structures
            ``ase.Atoms``, of any sizes.
        errors
            ``raise`` the error of the first structure that fails, or ``return`` the errors in the
            places of their structures.

        Returns
        -------
        list of dict
            Property → number or array for each structure; stresses are 3 by 3.
        """
        if hasattr(structures, "arrays"):
            raise InputRejected(
                "this is one structure", hint="give a list: evaluate([atoms])", field="structures"
            )
        with self._lock:
            terms = self._connected()
            mask = terms.check(properties)
            for i, atoms in enumerate(structures):
                self._check(terms, atoms, f"structures.{i}")
            self.reset()
            while True:
                try:
                    return evaluate_all(terms, structures, mask, self._ignored, errors=errors)
                except BaseException as error:
                    if not self._lost(terms, error):
                        raise
                terms = self._connected()

    # --- ends -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connections, and end the workers if they are its own."""
        with self._lock:
            self._disconnect()
            self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        settings = {
            "allow_toy_elements": self._allow_toy_elements,
            "ignore_info": tuple(self._ignored),
            "allowance_s": self._allowance_s,
        }
        return _rebuild, (type(self), self._source, settings)

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self._source.parameters.items())
        return f"{type(self).__name__}({given})"

    # --- how ------------------------------------------------------------------------------------

    def _array(self, name: str, atoms: Any) -> Floats:
        with self._lock:
            return self._property(name, atoms).copy()

    def _property(self, name: str, atoms: Any) -> Floats:
        """The array of a property in the bytes of the last answer, which is made to fit."""
        bit = wire.BITS.get(name, 0)
        if atoms is None:
            if self._has & bit and self._terms is not None:
                return self._terms.arrays[name]
            raise not_given(f"{name} was not computed")
        key = geometry_of(atoms, self._ignored)
        if key != self._key or not self._has & bit or self._pid != os.getpid():
            self._update(atoms, key, name, bit)
        assert self._terms is not None
        return self._terms.arrays[name]

    def _update(self, atoms: Any, key: Geometry, name: str, bit: int) -> None:
        terms = self._terms
        if terms is None or self._pid != os.getpid():
            terms = self._connected()
        if not terms.mask & bit:
            raise not_given(terms.lacks(name))
        if self._checked != (key.numbers, key.pbc, key.info):
            self._check(terms, atoms, "structure")
            self._checked = (key.numbers, key.pbc, key.info)
        if self._cell != (key.cell, key.pbc):
            if not np.isfinite(atoms.cell.array).all():
                check_finite(atoms)
            self._flat = terms.without_stress(key)
            self._cell = (key.cell, key.pbc)
        if bit & _STRESS and self._flat:
            raise not_given(self._flat)
        _check_numbers(atoms, key)
        self._asked |= bit
        mask = (_FIRST | self._asked) & terms.mask
        if self._flat:
            mask &= ~_STRESS
        self._key, self._has = _NOTHING, 0
        try:
            terms.evaluate(key, mask)
        except BaseException as error:
            if not self._lost(terms, error):
                raise
            self._update(atoms, key, name, bit)
            return
        self._key, self._has = key, mask

    def _lost(self, terms: Terms, error: BaseException) -> bool:
        """Let go of connections that a failure has broken; whether to ask anew on others."""
        if terms.usable:
            return False
        self._disconnect()
        return isinstance(error, CrystalMathError) and self._source.again(error)

    def _check(self, terms: Terms, atoms: Any, where: str) -> None:
        """Refuse what no term can compute; where it is looked at only when it changes."""
        check_arrays(atoms, where)
        check_finite(atoms, where)
        check_near(atoms, where)
        geometry = geometry_of(atoms, self._ignored)
        check_cell(geometry.cell, geometry.pbc, where)
        terms.check_info(geometry.info, where)
        if self._allow_toy_elements:
            return
        toys = {NUMBERS[s] for s in terms.toy_elements} & {int(z) for z in atoms.numbers}
        if toys:
            names = ", ".join(sorted(s for s in terms.toy_elements if NUMBERS[s] in toys))
            raise UnsupportedSpecies(
                f"{terms.name} has only toy parameters for {names}",
                hint="give allow_toy_elements=True if numbers without meaning will do",
                field=where,
            )

    def _connected(self) -> Terms:
        with self._lock:
            if self._terms is None or self._pid != os.getpid():
                self._disconnect()
                terms = Terms(self._source.connect(), self._allowance_s)
                self._recognize(terms)
                self._terms, self._pid = terms, os.getpid()
            return self._terms

    def _recognize(self, terms: Terms) -> None:
        """Refuse workers that replace others and are something else: numbers would not fit."""
        if self._known is None:
            self._known = terms.known_by
        if terms.known_by != self._known:
            terms.close()
            raise EngineChanged(
                f"{terms.name} has changed since this calculator was first used: its numbers do "
                "not belong to the earlier ones",
                hint="make a new calculator, and compute again what shall be compared",
            )

    def _disconnect(self) -> None:
        if self._terms is not None:
            self._terms.close()
        self._terms = None
        self._forget()


def _rebuild(
    kind: type[LeanCalculator], source: Source, settings: Mapping[str, Any]
) -> LeanCalculator:
    return kind(source, **settings)


def _check_numbers(atoms: Any, key: Geometry) -> None:
    """Refuse positions that are not finite, or not the float64 that the bytes are taken for."""
    if 3 * len(key.numbers) != len(key.positions) or len(key.cell) != 72:
        check_arrays(atoms)
        raise InputRejected("the arrays of the structure do not fit together", field="structure")
    try:
        total = np.add.reduce(atoms.arrays["positions"], axis=None)
    except RuntimeWarning:  # where warnings are errors: infinities of both signs
        total = math.nan
    if not -FAR_ANGSTROM < total < FAR_ANGSTROM:
        check_finite(atoms)
        check_near(atoms)
