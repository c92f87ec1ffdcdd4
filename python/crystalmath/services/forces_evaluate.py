"""``forces.evaluate``: from the structures of a request to a worker and back.

Of several engines in a sum each computes everything, and the numbers are added here.
"""

from __future__ import annotations

import math
import statistics
import time
import uuid
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from crystalmath.contract.forces import (
    MAX_JSON_ATOMS,
    EvaluateParams,
    EvaluateResult,
    ForceStructure,
    StructureForces,
)
from crystalmath.contract.jobs import StructureIn
from crystalmath.contract.rpc import Call
from crystalmath.domain.composition import hill
from crystalmath.domain.elements import NUMBERS
from crystalmath.domain.moments import unused_by
from crystalmath.errors import CrystalMathError, InputRejected, InvalidParams
from crystalmath.services import forces_rows
from crystalmath.services.forces_files import WRITTEN, check_file, floats, write_arrays
from crystalmath.services.forces_resolve import check_elements, find_engine, find_wanted
from crystalmath.services.ports import StructureData
from crystalmath.services.ports_forces import EnvironmentProvider
from crystalmath.services.ports_pool import (
    Computed,
    Evaluation,
    ForcePool,
    PlainStructure,
    Wanted,
)
from crystalmath.units import EV_PER_ANGSTROM3_GPA

ADDED: Final = frozenset({"energy", "free_energy", "forces", "stress", "energies", "stresses"})
"""What may be asked of a sum: charges or moments of two engines have none."""

_PER_ATOM: Final = ("forces", "energies", "stresses", "magmoms", "charges", "committee_forces")


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Carries out ``forces.evaluate``.

    Attributes
    ----------
    read
        Reads a structure of ``jobs.submit``.
    results
        Directory for the arrays of large calls.
    """

    provider: EnvironmentProvider
    pool: ForcePool
    read: Callable[[StructureIn], StructureData]
    results: Path

    def evaluate(self, params: EvaluateParams, call: Call) -> EvaluateResult:
        """See ``ForcesService.evaluate``."""
        began = time.monotonic()
        file = None if params.file is None else check_file(params.file)
        properties = list(dict.fromkeys(params.properties))
        wanted = self._wanted(params, properties)
        said: list[str] = []
        structures = [
            self._structure(one, f"structures.{i}", call, said)
            for i, one in enumerate(params.structures)
        ]
        parts = [self._ask(one, params, structures, properties, call) for one in wanted]
        computed = parts[0].structures
        for part in parts[1:]:
            computed = add(computed, part.structures)
        atoms = sum(len(s.symbols) for s in structures)
        if file is not None or atoms > MAX_JSON_ATOMS:
            _check_writable(properties)
        if file is None and atoms > MAX_JSON_ATOMS:
            self.results.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self.results / f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:8]}.npz"
        if file is not None:
            write_arrays(file, structures, computed, properties)
        return EvaluateResult(
            identity=[self._identity(w, p) for w, p in zip(wanted, parts, strict=True)],
            structures=[
                row(i, s, c, arrays=file is None)
                for i, (s, c) in enumerate(zip(structures, computed, strict=True))
            ],
            failed=sum(one.kind is not None for one in computed),
            file=None if file is None else str(file),
            evaluation_s=sum(part.evaluation_s for part in parts),
            elapsed_s=time.monotonic() - began,
            warnings=list(dict.fromkeys(said)),
        )

    def _wanted(self, params: EvaluateParams, properties: Sequence[str]) -> list[Wanted]:
        names = params.engine.split("+")
        options: Mapping[str, Any] = params.options
        if len(names) > 1:
            self._check_sum(names, properties, options)
        return [
            find_wanted(
                self.provider,
                name,
                model=params.model if i == 0 else None,
                dtype=params.dtype if i == 0 else None,
                device=params.device,
                options=options if len(names) == 1 else options.get(name, {}),
            )
            for i, name in enumerate(names)
        ]

    def _check_sum(
        self, names: Sequence[str], properties: Sequence[str], options: Mapping[str, Any]
    ) -> None:
        for name in names[1:]:
            if not find_engine(self.provider, name).additive:
                raise InvalidParams(f"the engine {name} is not made to be added to another",
                                    field="engine", hint="like mace+dftd3")  # fmt: skip
        foreign = sorted(set(properties) - ADDED)
        if foreign:
            raise InvalidParams(f"a sum of engines has no {', '.join(foreign)}", field="properties")
        for name, value in options.items():
            if name not in names or not isinstance(value, dict):
                raise InvalidParams("the options of a sum stand under the engines' names",
                                    field=f"options.{name}")  # fmt: skip

    def _structure(
        self, given: ForceStructure, field: str, call: Call, said: list[str]
    ) -> PlainStructure:
        call.check()
        info = given.info or {}
        if given.symbols is not None:
            periodic = given.cell_angstrom is not None
            pbc = given.pbc if given.pbc is not None else [periodic] * 3
            if any(pbc) and not periodic:
                raise InvalidParams("what is periodic needs a cell", field=f"{field}.cell_angstrom")
            unknown = sorted({x for x in given.symbols if x not in NUMBERS or x == "X"})
            if unknown:
                raise InvalidParams(f"{', '.join(unknown)}: no such element",
                                    field=f"{field}.symbols")  # fmt: skip
            return PlainStructure(
                given.symbols, given.positions_angstrom or [], given.cell_angstrom, pbc, info
            )
        asked = StructureIn(path=given.path, text=given.text, format=given.format, job=given.job)
        try:
            data = self.read(asked)
        except InputRejected as error:
            rest = (error.field or "").removeprefix("structure")
            raise type(error)(error.message, hint=error.hint, field=f"{field}{rest}") from error
        said += data.warnings
        if data.moments is not None:
            said.append(unused_by("a force engine"))
        return PlainStructure(data.symbols, data.positions, data.lattice, data.pbc, info)

    def _ask(
        self,
        wanted: Wanted,
        params: EvaluateParams,
        structures: Sequence[PlainStructure],
        properties: Sequence[str],
        call: Call,
    ) -> Evaluation:
        """Ask one engine; what it cannot describe is refused structure by structure."""
        refused: dict[int, CrystalMathError] = {}
        for i, structure in enumerate(structures):
            try:
                check_elements(
                    wanted.environment.engine,
                    wanted.model.declaration,
                    structure.symbols,
                    allow_toy=params.allow_toy_elements,
                    field=f"structures.{i}",
                )
            except InputRejected as error:
                if len(structures) == 1:
                    raise
                refused[i] = error
        asked = [s for i, s in enumerate(structures) if i not in refused]
        self.provider.touch(wanted.environment.id)
        found = self.pool.evaluate(wanted, asked, properties, call, deadline_s=params.deadline_s)
        answers = iter(found.structures)
        return replace(found, structures=[
            _refusal(s, refused[i]) if i in refused else next(answers)
            for i, s in enumerate(structures)
        ])  # fmt: skip

    def _identity(self, wanted: Wanted, part: Evaluation) -> Any:
        declaration = self.provider.declaration(wanted.environment.engine)
        return forces_rows.identity(declaration, wanted, part.capabilities)


def add(one: Sequence[Computed], other: Sequence[Computed]) -> list[Computed]:
    """Add what two engines gave; a structure that one of them failed on has failed."""
    return [_added(a, b) for a, b in zip(one, other, strict=True)]


def row(index: int, structure: PlainStructure, one: Computed, *, arrays: bool) -> StructureForces:
    """One row of the answer.

    Parameters
    ----------
    arrays
        Whether the arrays of each atom come here, and not in a file.
    """
    values = {name: floats(data) for name, data in one.arrays.items()}
    forces = values.get("forces", [])
    stress = values.get("stress")
    fmax = max((math.hypot(*forces[i : i + 3]) for i in range(0, len(forces), 3)), default=None)
    kept = values if arrays else {k: v for k, v in values.items() if k not in _PER_ATOM}
    return StructureForces(
        index=index,
        n_atoms=one.n_atoms,
        formula=formula_of(structure.symbols),
        kind=one.kind,
        message=one.message,
        energy_ev=_first(kept.get("energy")),
        free_energy_ev=_first(kept.get("free_energy")),
        fmax_ev_per_a=fmax,
        pressure_gpa=None
        if stress is None
        else -(stress[0] + stress[4] + stress[8]) / 3 * EV_PER_ANGSTROM3_GPA,
        stress_ev_per_a3=_rows(kept.get("stress"), 3),
        dipole_e_a=kept.get("dipole"),
        forces_ev_per_a=_rows(kept.get("forces"), 3),
        energies_ev=kept.get("energies"),
        stresses_ev_per_a3=_matrices(kept.get("stresses")),
        magmoms_mub=kept.get("magmoms"),
        charges_e=kept.get("charges"),
        committee_energy_ev=kept.get("committee_energy"),
        energy_spread_ev=_energy_spread(kept.get("committee_energy")),
        committee_forces_ev_per_a=_members(kept.get("committee_forces"), one.members),
        force_spread_ev_per_a=_force_spread(kept.get("committee_forces"), one.members),
    )


def formula_of(symbols: Sequence[str]) -> str:
    """The formula in Hill order, not reduced: ``C2H6O``."""
    return hill(Counter(symbols))


def _added(one: Computed, other: Computed) -> Computed:
    failed = next((x for x in (one, other) if x.kind is not None), None)
    if failed is not None:
        return Computed(one.n_atoms, kind=failed.kind, message=failed.message)
    names = one.arrays.keys() & other.arrays.keys()
    return Computed(
        one.n_atoms, {name: _sum(one.arrays[name], other.arrays[name]) for name in names}
    )


def _sum(one: bytes, other: bytes) -> bytes:
    a, b = array("d", one), array("d", other)
    return array("d", (x + y for x, y in zip(a, b, strict=True))).tobytes()


def _check_writable(properties: Sequence[str]) -> None:
    foreign = sorted(set(properties) - WRITTEN)
    if foreign:
        raise InvalidParams(
            f"{', '.join(foreign)} of so many atoms, or in a file, cannot be given here",
            hint="use crystalmath.calculator",
            field="properties",
        )


def _refusal(structure: PlainStructure, error: CrystalMathError) -> Computed:
    return Computed(len(structure.symbols), kind="unsupported_species", message=error.message)


def _first(values: list[float] | None) -> float | None:
    return None if values is None else values[0]


def _rows(values: list[float] | None, width: int) -> list[list[float]] | None:
    if values is None:
        return None
    return [values[i : i + width] for i in range(0, len(values), width)]


def _members(values: list[float] | None, members: int) -> list[list[list[float]]] | None:
    if values is None or members == 0:
        return None
    size = len(values) // members
    return [_rows(values[k * size : (k + 1) * size], 3) or [] for k in range(members)]


def _energy_spread(energies: list[float] | None) -> float | None:
    """Root mean square of what the members of a committee deviate from their mean."""
    return None if energies is None else statistics.pstdev(energies)


def _force_spread(values: list[float] | None, members: int) -> list[float] | None:
    """The same of the vector on each atom."""
    if values is None or members == 0:
        return None
    size = len(values) // members
    # per component: of x, y and z of each atom in turn
    variances = [statistics.pvariance(values[i::size]) for i in range(size)]
    return [math.sqrt(sum(variances[i : i + 3])) for i in range(0, size, 3)]


def _matrices(values: list[float] | None) -> list[list[list[float]]] | None:
    if values is None:
        return None
    return [_rows(values[i : i + 9], 3) or [] for i in range(0, len(values), 9)]
