"""A foreign force program as an ASE calculator.

    calculator = IpiCalculator("pw", ["pw.x", "-in", "si.in"], directory=folder)
    atoms.calc = calculator

Arrays are compared directly, and the arrays that come back belong to the caller. Species and
periodicity stand in the program's own input and must not change.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from crystalmath.errors import BadResult, InputRejected
from crystalmath.forces.ipi import quirks as known
from crystalmath.forces.ipi.codec import Forces
from crystalmath.forces.ipi.frame import order_for
from crystalmath.forces.ipi.host import DEFAULT_DEADLINES, Deadlines, Host
from crystalmath.forces.ipi.quirks import Quirks
from crystalmath.forces.ipi.template import read_template
from crystalmath.forces.ipi.words import Array

if TYPE_CHECKING:
    from ase import Atoms

_FLAT_ANGSTROM3 = 1e-9
_NOTHING = (b"", b"", b"", b"")
_VOIGT = ((0, 1, 2, 1, 0, 0), (0, 1, 2, 2, 2, 1))


class IpiCalculator:
    """Energy, forces and stress of a program that speaks i-PI; it starts with the first question.

    Threads take turns. Pickled as its parameters: the copy starts a program of its own.

    Parameters
    ----------
    program
        A record of ``quirks``, or its name.
    command
        See :class:`~crystalmath.forces.ipi.host.Host`.
    species
        Chemical symbols in the order of the program's input; by default that of the atoms.
    template
        The file from which the program takes its atoms, relative to ``directory``: gives
        ``species``, and other atoms than those here are noticed before LAMMPS computes nonsense.
    stress
        Whether the program's input asks for the stress; needed only where the record says
        ``on_request``, as its absence looks like a stress of zero.
    """

    name = "ipi"
    implemented_properties: ClassVar[list[str]] = ["energy", "free_energy", "forces", "stress"]

    def __init__(
        self,
        program: Quirks | str,
        command: Sequence[str] = (),
        *,
        directory: str | Path | None = None,
        species: Sequence[str] | None = None,
        template: str | Path | None = None,
        stress: bool = False,
        transport: Literal["unix", "inet"] = "unix",
        name: str | None = None,
        port: int = 0,
        deadlines: Deadlines = DEFAULT_DEADLINES,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.quirks = known.find(program) if isinstance(program, str) else program
        self.parameters: dict[str, Any] = {
            "program": program,
            "command": list(command),
            "directory": None if directory is None else str(directory),
            "species": None if species is None else list(species),
            "template": None if template is None else str(template),
            "stress": stress,
            "transport": transport,
            "name": name,
            "port": port,
            "deadlines": deadlines,
            "environment": dict(environment or {}),
        }
        self.host: Host | None = None
        self._lock = threading.RLock()
        self._kind = (b"", b"")
        self._forces: Array | None = None
        self.reset()

    def __getstate__(self) -> dict[str, Any]:
        return self.parameters

    def __setstate__(self, parameters: dict[str, Any]) -> None:
        self.__init__(**parameters)  # type: ignore[misc]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program; the next question would start it anew."""
        with self._lock:
            if self.host is not None:
                self.host.close()
                self.host = None
            self.reset()

    def reset(self) -> None:
        """Forget the last result."""
        self._answer: Forces | None = None
        self._key = _NOTHING
        self._given = {"energy", "free_energy", "forces"}

    def todict(self) -> dict[str, Any]:
        """Return what identifies it, for the trajectories of ASE."""
        command, directory = self.parameters["command"], self.parameters["directory"]
        return {"program": self.quirks.name, "command": command, "directory": directory}

    def open(self, atoms: Atoms) -> Host:
        """Return the host for these atoms; its ``door`` says where the program must connect."""
        if self.host is None:
            settings = dict(self.parameters)
            del settings["stress"], settings["template"]
            species, directory = self._their_species(), settings.pop("directory")
            del settings["species"]
            symbols = atoms.get_chemical_symbols()
            self.host = Host(
                **settings,
                atoms=len(atoms),
                directory=None if directory is None else Path(directory),
                order=None if species is None else order_for(symbols, species),
            )
            self._kind, self._forces = _identity(atoms)[2:], None
        elif self._kind != _identity(atoms)[2:]:
            raise InputRejected(
                "i-PI cannot tell a program that species, count or periodicity have changed",
                hint="make another calculator for these atoms",
                field="atoms",
            )
        return self.host

    def _their_species(self) -> list[str] | None:
        species: list[str] | None = self.parameters["species"]
        if (template := self.parameters["template"]) is None:
            if species is None and self.quirks.silent_about_count:
                raise InputRejected(
                    f"{self.quirks.title} does not notice when it has other atoms than those here",
                    hint="give its structure file as template, or species in its order",
                    field="template",
                )
            return species
        if species is not None:
            raise InputRejected("give species or a template, not both", field="template")
        path = Path(self.parameters["directory"] or ".") / template
        structure = read_template(path, file_format=self.quirks.template_format)
        return structure.symbols()

    def calculation_required(self, atoms: Atoms, properties: Sequence[str]) -> bool:  # noqa: ARG002
        """Whether these atoms are others than those of the last result."""
        return self._key != _identity(atoms)

    def calculate(
        self,
        atoms: Atoms | None = None,
        properties: Sequence[str] = ("energy",),
        system_changes: Sequence[str] = (),  # noqa: ARG002 - found out here
    ) -> None:
        """Evaluate if the atoms have changed; ``results`` has the properties then."""
        with self._lock:
            if atoms is not None:
                self._update(atoms)
            for name in properties:
                self._look_up(name)

    def get_property(
        self, name: str, atoms: Atoms | None = None, allow_calculation: bool = True
    ) -> Any:
        """Return one property; None where it is not there and must not be calculated."""
        with self._lock:
            if atoms is not None:
                if not allow_calculation and self._key != _identity(atoms):
                    return None
                self._update(atoms)
            return self._look_up(name)

    def get_potential_energy(
        self,
        atoms: Atoms | None = None,
        force_consistent: bool = False,  # noqa: ARG002 - i-PI has one energy, that of the forces
    ) -> float:
        """Return the energy in eV."""
        return float(self.get_property("energy", atoms))

    def get_forces(self, atoms: Atoms | None = None) -> Array:
        """Return the forces in eV/Å."""
        forces: Array = self.get_property("forces", atoms)
        return forces

    def get_stress(self, atoms: Atoms | None = None) -> Array:
        """Return the stress in eV/Å³ as xx yy zz yz xz xy, positive under tension."""
        stress: Array = self.get_property("stress", atoms)
        return stress

    def _update(self, atoms: Atoms) -> None:
        key = _identity(atoms)
        if key == self._key:
            return
        host = self.host
        if host is None or key[2:] != self._kind:
            host = self.open(atoms)
        self.reset()
        positions, cell = atoms.arrays["positions"], atoms.cell.array
        self._answer = host.evaluate(positions, cell, out=self._forces)
        self._forces = self._answer.forces_ev_per_angstrom
        self._key = key

    def _look_up(self, name: str) -> Any:
        if name not in self.implemented_properties:
            raise _not_there(f"{self.quirks.title} has no {name} over i-PI")
        answer = self._answer
        if answer is None:
            raise InputRejected("nothing has been calculated yet", field="atoms")
        if name == "forces":
            return answer.forces_ev_per_angstrom.copy()
        if name == "stress":
            stress = self._stress(answer)
            self._given.add(name)
            return stress
        return answer.energy_ev

    @property
    def results(self) -> dict[str, Any]:
        """What the last evaluation gave; copies."""
        with self._lock:
            if self._answer is None:
                return {}
            return {name: self._look_up(name) for name in sorted(self._given)}

    def _stress(self, answer: Forces) -> Array:
        record = self.quirks
        if record.stress == "never":
            raise _not_there(f"{record.title} has no stress over i-PI")
        if record.stress == "on_request" and not self.parameters["stress"]:
            raise _not_there(
                f"{record.title} gives the stress only when its input asks for it: "
                f"{record.stress_request}, and say stress=True here"
            )
        volume = abs(float(np.linalg.det(np.frombuffer(self._key[1]).reshape(3, 3))))
        if volume < _FLAT_ANGSTROM3 or not any(self._key[3]):
            raise _not_there("a structure without a periodic cell has no stress")
        if (
            record.stress == "on_request"
            and not answer.virial_ev.any()
            and answer.forces_ev_per_angstrom.any()
        ):
            raise BadResult(
                f"{record.title} sent a virial of zeros: it has not calculated the stress",
                hint=record.stress_request,
            )
        full = answer.virial_ev / -volume
        voigt: Array = (0.5 * (full + full.T))[_VOIGT]
        return voigt


def _identity(atoms: Atoms) -> tuple[bytes, bytes, bytes, bytes]:
    """Bytes of positions, cell, numbers and pbc; faster to compare than arrays."""
    arrays = atoms.arrays
    return (
        arrays["positions"].tobytes(),
        atoms.cell.array.tobytes(),
        arrays["numbers"].tobytes(),
        atoms.pbc.tobytes(),
    )


def _not_there(message: str) -> Exception:
    from ase.calculators.calculator import PropertyNotImplementedError

    error: Exception = PropertyNotImplementedError(message)
    return error
