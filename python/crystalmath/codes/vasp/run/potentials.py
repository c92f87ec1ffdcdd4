"""The potentials of a job: found on this machine, brought along, or searched on the cluster.

What goes into the job is labels, places and hashes, never the text of a potential. Used by
``prepare``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crystalmath.codes.vasp.deck.incar import number
from crystalmath.codes.vasp.deck.poscar import PoscarHead
from crystalmath.codes.vasp.options import VaspOptions
from crystalmath.codes.vasp.run import potcar, script
from crystalmath.errors import ConfigError, InputRejected, InvalidParams
from crystalmath.services.ports import InputFile, JobRequest

POTCAR = "POTCAR"


@dataclass(slots=True)
class Found:
    """What a job needs for its POTCAR.

    Attributes
    ----------
    plan
        What the script puts together; None where the job brings its POTCAR.
    """

    plan: Sequence[script.Potential] | None
    texts: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[InputFile] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    enmax_ev: float | None = None

    def cutoff_doubts(self, tags: Mapping[str, str]) -> list[str]:
        """Whether ENCUT is below what the potentials were made for."""
        encut = number(tags.get("ENCUT"))
        if encut is None or self.enmax_ev is None or encut >= self.enmax_ev:
            return []
        return [f"ENCUT = {encut:g} eV is below the {self.enmax_ev:g} eV of the potentials (ENMAX)"]


def collect(
    request: JobRequest,
    options: VaspOptions,
    texts: Mapping[str, str],
    poscar: PoscarHead,
    fields: Mapping[str, str],
) -> Found:
    """Find the potentials of a job.

    Raises
    ------
    ConfigError
        One is missing; it and the directory are named.
    InputRejected, InvalidParams
        They are not in the order of POSCAR, or nothing says which they are.
    """
    own = next((i for i, file in enumerate(request.files) if file.path == POTCAR), None)
    if own is not None:
        return _brought(request, options, own, poscar)
    functional, labels, at = _asked(options, texts, poscar, fields)
    potcar.check_order(labels, poscar.elements, at)
    folders = potcar.folders_of(functional, "inputs.potcar_functional")
    root = potcar.root_of(request.context)
    spec = {potcar.SPEC: potcar.render_spec(functional, labels)}
    if request.remote and (root is None or not root[1].is_dir()):
        plan = [script.Potential(label, folders=folders) for label in labels]
        where = f"{root[0]} {root[1]}" if root else "its PMG_VASP_PSP_DIR or VASP_PP_PATH"
        note = f"the potentials {' '.join(labels)} are looked for on the cluster, in {where}"
        environment = {} if root is None else {root[0]: str(root[1])}
        return Found(plan, spec, environment=environment, notes=(note,))
    if root is None:
        raise ConfigError(
            f"the potentials {' '.join(labels)} of {functional} are needed, and nothing says where "
            "they are",
            hint="set PMG_VASP_PSP_DIR to the directory of your licensed potentials; or give your "
            "own POTCAR among the files",
            field="context.PMG_VASP_PSP_DIR",
        )
    pieces = potcar.find_pieces(labels, functional, *root)
    return _found_here(request, spec, functional, pieces)


def _found_here(
    request: JobRequest,
    spec: Mapping[str, str],
    functional: str,
    pieces: Sequence[potcar.Piece],
) -> Found:
    """Read where they lie on this machine; for a cluster each is sent along."""
    files: list[InputFile] = []
    plan: list[script.Potential] = []
    for index, piece in enumerate(pieces, start=1):
        place = piece.path
        if request.remote:
            place = f"{potcar.FOLDER}/{index}-{piece.label}{'.gz' if piece.is_packed else ''}"
            files.append(InputFile(place, source=piece.path))
        plan.append(script.Potential(piece.label, place, piece.sha256))
    cutoffs = [piece.enmax_ev for piece in pieces if piece.enmax_ev is not None]
    return Found(
        plan,
        {**spec, potcar.RECORD: potcar.render_record(functional, pieces)},
        files,
        enmax_ev=max(cutoffs, default=None),
    )


def _asked(
    options: VaspOptions,
    texts: Mapping[str, str],
    poscar: PoscarHead,
    fields: Mapping[str, str],
) -> tuple[str, list[str], str]:
    """The set of potentials, a label for each block of POSCAR, and the field that says so."""
    spec = texts.get(potcar.SPEC)
    functional, listed = options.potcar_functional, list[str]()
    at = fields.get(potcar.SPEC, "inputs.potcars")
    if spec is not None:
        named, listed = potcar.parse_spec(spec, at)
        functional = functional or named
    functional = functional or potcar.DEFAULT_FUNCTIONAL
    unused = [element for element in options.potcars if element not in poscar.elements]
    if unused:
        raise InvalidParams(
            f"POSCAR has no {unused[0]}", hint="leave it out", field=f"inputs.potcars.{unused[0]}"
        )
    if not listed:
        missing = [one for one in dict.fromkeys(poscar.elements) if one not in options.potcars]
        if missing:
            raise InvalidParams(
                f"nothing says which potential {' and '.join(missing)} shall have",
                hint=f"`potcars`, e.g. {missing[0]}: {missing[0]}; or a {potcar.SPEC} or a POTCAR "
                "among the files",
                field="inputs.potcars",
            )
        listed = [options.potcars[element] for element in poscar.elements]
    else:
        potcar.check_order(listed, poscar.elements, at)
        pairs = zip(poscar.elements, listed, strict=True)
        listed = [options.potcars.get(element, label) for element, label in pairs]
    return functional, listed, at


def _brought(request: JobRequest, options: VaspOptions, index: int, poscar: PoscarHead) -> Found:
    """A POTCAR of the user: copied from where it is, its titles compared with POSCAR."""
    file, at = request.files[index], f"files.{index}"
    if file.source is None:
        raise InvalidParams(
            "a POTCAR is licensed, so that its text is not taken in",
            hint="give its path as `source`, or PMG_VASP_PSP_DIR",
            field=at,
        )
    if options.potcars or options.potcar_functional:
        raise InvalidParams(
            "a POTCAR is among the files, and potentials are named",
            hint="leave one of them out",
            field="inputs.potcars" if options.potcars else "inputs.potcar_functional",
        )
    try:
        with Path(file.source).open("rb") as stream:
            titles = potcar.titles_in(stream.read(potcar.MOST_BYTES))
    except OSError as error:
        raise InputRejected(f"{file.path}: {error.strerror}", field=at) from error
    potcar.check_order(potcar.labels_of_titles(titles), poscar.elements, at)
    return Found(None, notes=(f"POTCAR holds {'; '.join(titles)}",))
