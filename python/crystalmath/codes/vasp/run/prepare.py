"""From a request to a job: its inputs given or written, its potentials found, its script.

No side effects, and nothing starts that VASP is certain to refuse. Used by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from crystalmath.codes import mpi
from crystalmath.codes.decks import Given, read_deck
from crystalmath.codes.files import check_files
from crystalmath.codes.options import parse_options, refuse_engine
from crystalmath.codes.vasp import order
from crystalmath.codes.vasp.deck.incar import incar_value, integer, parse_incar, render_incar
from crystalmath.codes.vasp.deck.kpoints import Kpoints, parse_kpoints
from crystalmath.codes.vasp.deck.poscar import PoscarHead, parse_poscar_head
from crystalmath.codes.vasp.lint.incar import Beside, lint_incar
from crystalmath.codes.vasp.lint.numbers import refuse_wrong_numbers
from crystalmath.codes.vasp.options import NEEDS_DENSITY, TASKS, VaspOptions
from crystalmath.codes.vasp.run import density, potcar, potentials, program, script
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import InputFile, JobRequest, Prepared, StructureData
from crystalmath.structures.formula import reduced_formula

CRLF: Final = "which VASP takes as part of its values"
DECKS: Final = ("INCAR", "POSCAR", "KPOINTS", potcar.SPEC)
OUTPUT: Final = "OUTCAR"
_RESERVED: Final = (script.NAME, potcar.RECORD, order.RECORD, "inputs.json", "POTCAR.one")
_FOR_SETS: Final = (
    "set", "kpoints", "k_spacing_inv_angstrom", "fmax_ev_per_a", "max_steps", "cell",
)  # fmt: skip
"""Inputs that only a structure makes sense with."""
_OF_PROGRAM: Final = {"executable", "flavour", "density_from", "atom_order"}


class InputWriter(Protocol):
    """Writes the inputs of a structure: the generator, handed in by ``api``."""

    def write(
        self,
        structure: StructureData,
        options: Mapping[str, Any],
        task: str,
        previous_incar: Mapping[str, Any] | None,
    ) -> Mapping[str, Any]:
        """Return ``files`` and ``report``; raises ``InputRejected`` below ``inputs``."""


@dataclass(slots=True)
class Inputs:
    """The inputs as they go into the job directory.

    Attributes
    ----------
    texts
        INCAR, POSCAR, KPOINTS, POTCAR.spec.
    others
        Every other file of the request.
    fields
        Name of an input → the field of the request that it came in.
    """

    texts: dict[str, str]
    others: tuple[InputFile, ...] = ()
    notes: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    task: str | None = None

    def field_of(self, name: str) -> str:
        """The field of the request, ``structure`` for what was written for one."""
        return self.fields.get(name, "structure")


def prepare(request: JobRequest, writer: InputWriter) -> Prepared:
    """Check the request and say what to run.

    Raises
    ------
    ConfigError, InvalidParams, InputRejected
        With the field at fault.
    """
    refuse_engine(request, "vasp")
    options = parse_options(VaspOptions, request.inputs)
    refuse_wrong_numbers(options.incar, "inputs")
    chosen, launcher = program.choose(options, request)
    inputs = _written(request, options, writer) if request.structure else _given(request, options)
    tags, twice = parse_incar(inputs.texts["INCAR"])
    poscar = parse_poscar_head(inputs.texts["POSCAR"], inputs.field_of("POSCAR"))
    _check_order(request, options, sum(poscar.counts))
    kpoints = _kpoints(inputs)
    task = inputs.task or task_of(tags, kpoints)
    _check_task(request.task, task)
    carried = _density(options, task, inputs, poscar)
    if request.structure is None and options.density_from is not None and task in NEEDS_DENSITY:
        inputs.notes += density.check_tags(tags, options.density_from)
    found = potentials.collect(request, options, inputs.texts, poscar, inputs.fields)
    if options.density_from is not None:
        density.check_potentials(options.density_from, found.texts.get(potcar.RECORD))
    beside = Beside(sum(poscar.counts), len(poscar.elements), _count(kpoints), request.ntasks)
    doubts = _linted(tags, beside, refuse=request.structure is not None)
    texts = {**inputs.texts, **found.texts}
    return Prepared(
        task=task,
        argv=("/bin/sh", script.NAME),
        files=(
            *(InputFile(path, content=text) for path, text in texts.items() if text),
            *carried,
            *found.files,
            *inputs.others,
            _script(request, options, found, chosen, launcher),
        ),
        env={**found.environment, **({} if request.remote else mpi.environment(request.ntasks))},
        formula=reduced_formula(poscar.symbols),
        n_atoms=sum(poscar.counts),
        starts_processes=True,
        warnings=(
            *inputs.notes,
            *(f"INCAR gives {tag} twice; VASP takes the first" for tag in twice),
            *doubts,
            *found.notes,
            *found.cutoff_doubts(tags),
        ),
    )


def _script(
    request: JobRequest,
    options: VaspOptions,
    found: potentials.Found,
    chosen: str,
    launcher: str,
) -> InputFile:
    plan = script.Plan(
        name=program.name_of(options),
        potentials=found.plan,
        ntasks=request.ntasks,
        threads=request.cpus_per_task,
        program=chosen,
        launcher=launcher,
    )
    return InputFile(script.NAME, content=script.render(plan), executable=True)


def task_of(tags: Mapping[str, str], kpoints: Kpoints | None) -> str:
    """What an INCAR asks for, in our words."""
    nsw = integer(tags.get("NSW"), 0)
    ibrion = integer(tags.get("IBRION"), -1 if nsw in (-1, 0, 1) else 0)
    if nsw > 0 and ibrion == 0:
        return "md"
    if nsw > 0 and ibrion in (1, 2, 3):
        return "relax"
    if integer(tags.get("ICHARG"), 2) >= 10:
        path = kpoints is not None and kpoints.kind in ("line", "list")
        return "bands" if path else "dos"
    return "static"


def _written(request: JobRequest, options: VaspOptions, writer: InputWriter) -> Inputs:
    """Inputs that are written for the structure."""
    assert request.structure is not None
    task = request.task or "static"
    files = check_files(request.files)
    _refuse_reserved(files)
    for index, file in enumerate(files):
        if file.path in DECKS:
            raise InvalidParams(
                f"there are a structure and a {file.path}",
                hint="leave one of them out: `incar` and other inputs change what is written",
                field=f"files.{index}.path",
            )
    previous, said = (
        density.tags_before(options.density_from) if options.density_from else (None, [])
    )
    asked = options.model_dump(mode="json", exclude_unset=True, exclude=_OF_PROGRAM)
    made = writer.write(request.structure, asked, task, previous)
    report = made["report"]
    notes = [
        f"{name}: {one['value'] or 'nothing'}, by {one['from']}"
        for name, one in report["settings"].items()
        if "set" in one
    ]
    notes += [*report["warnings"], *said]
    texts = {file["path"]: file["content"] for file in made["files"]}
    if options.density_from is not None and task == "dos":
        coarse = density.coarse_mesh(options.density_from, texts.get("KPOINTS"))
        notes += [] if coarse is None else [coarse]
    texts["inputs.json"] = _document(report)
    texts[order.RECORD] = order.render_order(report["settings"].get("atoms", {}).get("value", ()))
    return Inputs(texts, files, notes, task=task)


def _document(report: Mapping[str, Any]) -> str:
    import json

    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def _given(request: JobRequest, options: VaspOptions) -> Inputs:
    """Inputs that the user has."""
    for name in _FOR_SETS:
        if getattr(options, name) is not None:
            raise InvalidParams(
                f"`{name}` is for inputs that are written for a structure, and there is none",
                hint="give a structure, or set it in INCAR and KPOINTS",
                field=f"inputs.{name}",
            )
    files = check_files(request.files)
    _refuse_reserved(files)
    inputs = Inputs({}, tuple(one for one in files if one.path not in DECKS))
    for index, file in enumerate(files):
        if file.path in DECKS:
            beside = None if file.source is None else Path(file.source).parent
            text, said = read_deck(Given(index, file, beside), crlf=CRLF)
            inputs.texts[file.path] = text
            inputs.fields[file.path] = f"files.{index}"
            inputs.notes += said
    missing = [name for name in ("INCAR", "POSCAR") if name not in inputs.texts]
    if missing:
        raise InvalidParams(
            f"there is no {' and no '.join(missing)} among the files",
            hint="give INCAR, POSCAR and KPOINTS as files, or a structure",
            field="files",
        )
    _with_tags(inputs, options)
    inputs.texts[order.RECORD] = order.render_order(options.atom_order or ())
    return inputs


def _with_tags(inputs: Inputs, options: VaspOptions) -> None:
    """Set the tags of ``inputs.incar`` in an INCAR of the user."""
    if not options.incar:
        return
    tags, _ = parse_incar(inputs.texts["INCAR"])
    for tag, value in options.incar.items():
        before, now = tags.get(tag, "nothing"), incar_value(value)
        tags[tag] = now
        inputs.notes.append(f"{tag}: INCAR had {before}, this job {now} (`incar`)")
    inputs.texts["INCAR"] = render_incar(tags)


def _kpoints(inputs: Inputs) -> Kpoints | None:
    text = inputs.texts.get("KPOINTS")
    return None if text is None else parse_kpoints(text, inputs.field_of("KPOINTS"))


def _count(kpoints: Kpoints | None) -> int | None:
    """Points of the mesh; None where only VASP knows."""
    if kpoints is None:
        return None
    if kpoints.mesh is not None:
        a, b, c = kpoints.mesh
        return a * b * c
    return kpoints.points if kpoints.kind == "list" else None


def _check_task(asked: str | None, found: str) -> None:
    if asked is not None and asked not in TASKS:
        raise InvalidParams(
            f"the code vasp has no task {asked[:60]!r}",
            hint=f"one of {', '.join(TASKS)}",
            field="task",
        )
    if asked is not None and asked != found:
        raise InvalidParams(
            f"the task is {asked!r}, INCAR and KPOINTS ask for {found!r}",
            hint="leave the task out: INCAR decides",
            field="task",
        )


def _check_order(request: JobRequest, options: VaspOptions, n_atoms: int) -> None:
    """An order of atoms is one of all atoms, and belongs to a POSCAR that was given."""
    given = options.atom_order
    if given is None:
        return
    if request.structure is not None:
        raise InvalidParams(
            "`atom_order` is for a POSCAR that is given, and there is a structure",
            hint="leave it out",
            field="inputs.atom_order",
        )
    if not order.is_order(given) or len(given) != n_atoms:
        raise InvalidParams(
            f"`atom_order` is no order of {n_atoms} atoms",
            hint=f"the numbers from 0 to {n_atoms - 1}, each once; or leave it out",
            field="inputs.atom_order",
        )


def _density(
    options: VaspOptions, task: str, inputs: Inputs, poscar: PoscarHead
) -> tuple[InputFile, ...]:
    """CHGCAR, for what starts from one."""
    given = any(file.path == density.CHGCAR for file in inputs.others)
    if options.density_from is not None:
        if given:
            raise InvalidParams(
                "a CHGCAR is among the files",
                hint="leave it or `density_from` out",
                field="inputs.density_from",
            )
        found = density.find_density(options.density_from)
        density.check_density(found, poscar)
        return (found,)
    if task in NEEDS_DENSITY and not given:
        raise InvalidParams(
            f"{task} starts from the charge density of a static run",
            hint="`inputs.density_from`: the directory of that run, with its CHGCAR",
            field="inputs.density_from",
        )
    return ()


def _linted(tags: Mapping[str, str], beside: Beside, *, refuse: bool) -> list[str]:
    """What the linter says; of inputs that are written here an error is refused."""
    findings = lint_incar(tags, beside)
    worst = next((one for one in findings if one.severity == "error"), None)
    if refuse and worst is not None:
        raise InputRejected(worst.message, hint=worst.fix, field=f"inputs.incar.{worst.tag}")
    return [f"INCAR: {one.severity}: {one.message} ({one.fix})" for one in findings]


def _refuse_reserved(files: Sequence[InputFile]) -> None:
    for index, file in enumerate(files):
        if file.path in _RESERVED or file.path.startswith(f"{potcar.FOLDER}/"):
            raise InvalidParams(
                f"{file.path} is written by CrystalMath for this job",
                hint="give the file another name",
                field=f"files.{index}.path",
            )
