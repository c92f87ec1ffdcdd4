"""What is particular about each force program that speaks i-PI: the table that ``host`` goes by.

``evidence`` says how a record is known: ``run`` (this project's tests drive the program) or
``source`` (its source and issue reports). ``docs/ipi.md`` shows what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from crystalmath.errors import NotFound
from crystalmath.forces.ipi.words import CODATA, Units

SOCKET_PREFIX: Final = "/tmp/ipi_"  # noqa: S108 - where every program looks, hard-coded
MAX_SOCKET_PATH_BYTES: Final = 107
"""LAMMPS copies a longer one over what lies behind it."""

Placeholder = Literal["name", "path", "host", "port"]


@dataclass(frozen=True, slots=True)
class Quirks:
    """One program.

    Attributes
    ----------
    starts_in
        What it answers to its first STATUS.
    needs_init
        When it answers NEEDINIT: ``never``, ``once``, or after ``every_step``. INIT is sent only
        then, in any case.
    consolidated
        Takes POSDATA and GETFORCE in one go, without STATUS before and between, after the first.
    virial
        ``full``, or ``upper``: only the upper triangle as it is sent, the rest zero.
    stress
        ``always``; ``on_request`` of its own input (``stress_request`` says how), zeros otherwise;
        ``never``.
    cell
        ``any``; ``triangular``: a along x, b in the xy plane, right-handed (the host turns the
        structure and turns the results back); ``ignored``: it works without one.
    calculates_before_connecting
        Its first connection comes after a whole calculation.
    end
        How it takes EXIT. The exit code is no verdict.
    spins_when_closed
        Does not notice a closed connection and must be killed.
    unix_arguments, inet_arguments
        How it is told the address, appended to a command that has no ``{name}``, ``{path}``,
        ``{host}`` or ``{port}``; empty where that is in an input file of its own.
    structure, template_format
        Where it takes species and their order from, as i-PI carries neither; and how ASE calls the
        format of that file.
    wrong_count, silent_about_count
        What it does when it gets another number of atoms than it has; whether that goes unnoticed.
    units
        Its own bohr and hartree.
    """

    name: str
    title: str
    evidence: Literal["run", "source"]
    versions: str
    starts_in: Literal["READY", "NEEDINIT"]
    needs_init: Literal["never", "once", "every_step"]
    consolidated: bool
    structure: str
    end: str
    virial: Literal["full", "upper"] = "full"
    stress: Literal["always", "on_request", "never"] = "always"
    stress_request: str = ""
    cell: Literal["any", "triangular", "ignored"] = "any"
    calculates_before_connecting: bool = False
    spins_when_closed: bool = False
    inet: bool = True
    unix: bool = True
    unix_arguments: tuple[str, ...] = ()
    inet_arguments: tuple[str, ...] = ()
    extras: str = "none"
    wrong_count: str = ""
    silent_about_count: bool = False
    units: Units = CODATA
    template_format: str | None = None
    notes: tuple[str, ...] = ()


ASE: Final = Quirks(
    name="ase",
    title="ASE SocketClient",
    evidence="run",
    versions="3.29",
    starts_in="READY",
    needs_init="never",
    consolidated=True,
    structure="the Atoms object that its script makes",
    end="EXIT or a closed connection ends it, exit code 0",
    stress="on_request",
    stress_request="call SocketClient.run with use_stress=True",
    cell="ignored",
    extras="one byte",
    wrong_count="an exception of numpy in the client",
    units=Units(0.5291772105638411, 27.211386024367243),  # its CODATA 2014
    notes=("a NaN fails a bare assertion and ends it", "INIT fails an assertion"),
)

PW: Final = Quirks(
    name="pw",
    title="Quantum ESPRESSO pw.x --ipi",
    evidence="run",
    versions="6.7",
    starts_in="NEEDINIT",
    needs_init="every_step",
    consolidated=True,
    structure="the input file",
    end="EXIT: JOB DONE, exit code 0; closed connection: exit code 255; newer ones: 130",
    calculates_before_connecting=True,
    unix_arguments=("--ipi", "{name}:UNIX"),
    inet_arguments=("--ipi", "{host}:{port}"),
    wrong_count="a segmentation fault",
    template_format="espresso-in",
    notes=(
        "INIT while it is READY ends it with exit code 2",
        "an SCF that does not converge ends it without a message",
        "an unknown word ends it with exit code 0",
        "a cell that shrinks ends it, unless its input is for vc-relax and has a cell_factor",
        "the text of INIT goes into 1024 characters without a check",
    ),
)

LAMMPS: Final = Quirks(
    name="lammps",
    title="LAMMPS fix ipi, units metal",
    evidence="run",
    versions="29Sep2021",
    starts_in="READY",
    needs_init="never",
    consolidated=True,
    structure="the data file, species by its section Masses; atom ids must be consecutive",
    end="EXIT or a closed connection: MPI_ABORT, exit code 1",
    virial="upper",
    cell="triangular",
    unix_arguments=("-var", "ipi", "{name} 1 unix"),
    inet_arguments=("-var", "ipi", "{host} {port}"),
    wrong_count="not noticed: it computes nonsense and answers with our count",
    silent_about_count=True,
    template_format="lammps-data",
    units=Units(0.52917721, 8.617343e-5 / 3.1668152e-6),  # posconv; its boltz by fix ipi's
    notes=(
        "write `fix 1 all ipi ${ipi}` in the input script",
        "INIT ends it",
        "atoms are lost in moves that are large for its neighbour list",
        "its hartree in units real is 9e-8 larger than in metal",
    ),
)

IPI_DRIVER: Final = Quirks(
    name="i-pi-driver",
    title="i-PI's Python driver",
    evidence="run",
    versions="3.3",
    starts_in="NEEDINIT",
    needs_init="once",
    consolidated=True,
    structure="the template that its potential is given",
    end="EXIT: exit code 0",
    spins_when_closed=True,
    unix_arguments=("-u", "-a", "{name}"),
    inet_arguments=("-a", "{host}", "-p", "{port}"),
    extras="a string of the potential's own",
    wrong_count="'Atom number changed', but only from the second structure on",
    units=Units(1.0 / 1.8897261, 1.0 / 0.036749326),  # ipi.utils.units
    notes=(
        "reads a word by a single recv",
        "ignores an unknown word, and after a closed connection asks for ever",
    ),
)

CP2K: Final = Quirks(
    name="cp2k",
    title="CP2K",
    evidence="source",
    versions="2023.1",
    starts_in="READY",
    needs_init="never",
    consolidated=False,
    structure="the input file",
    end="EXIT",
    stress="on_request",
    stress_request="set STRESS_TENSOR in its input",
    wrong_count="a printed line",
    notes=(
        "UNIX sockets are broken from 2024.1 on: use TCP",
        "made every cell fully periodic",
    ),
)

AIMS: Final = Quirks(
    name="aims",
    title="FHI-aims",
    evidence="source",
    versions="",
    starts_in="NEEDINIT",
    needs_init="every_step",
    consolidated=False,
    structure="geometry.in",
    end="EXIT",
    stress="on_request",
    stress_request="set compute_analytical_stress in control.in",
    notes=(
        "the energy includes an entropy term",
        "the text of INIT goes into 1024 characters without a check",
    ),
)

DFTBPLUS: Final = Quirks(
    name="dftb+",
    title="DFTB+",
    evidence="source",
    versions="after 2021",
    starts_in="READY",
    needs_init="never",
    consolidated=False,
    structure="the input file",
    end="EXIT",
    notes=("INIT is an error", "versions up to 2021 transpose the cell"),
)

DP_IPI: Final = Quirks(
    name="dp_ipi",
    title="DeePMD-kit dp_ipi",
    evidence="source",
    versions="after 2021",
    starts_in="READY",
    needs_init="never",
    consolidated=False,
    structure="the coordinate file of its input",
    end="EXIT",
    notes=("versions up to 2021 transpose the cell",),
)

GENERIC: Final = Quirks(
    name="generic",
    title="any other program",
    evidence="source",
    versions="",
    starts_in="READY",
    needs_init="every_step",
    consolidated=False,
    structure="its own input",
    end="EXIT",
    stress="on_request",
    stress_request="switch its stress on",
    notes=("asks STATUS before and after every structure and takes nothing for granted",),
)

PROGRAMS: Final = {
    one.name: one for one in (ASE, PW, LAMMPS, IPI_DRIVER, CP2K, AIMS, DFTBPLUS, DP_IPI, GENERIC)
}


def find(name: str) -> Quirks:
    """Return the record of a program.

    Raises
    ------
    NotFound
        There is none; the message lists those that there are.
    """
    try:
        return PROGRAMS[name]
    except KeyError:
        raise NotFound(
            f"no record of the i-PI program {name!r}",
            hint=f"there are {', '.join(PROGRAMS)}",
            field="program",
        ) from None
