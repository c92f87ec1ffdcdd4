"""From ``jobs.submit`` to a row: every check that can be made before anything runs.

Bad input ends here with the field named; nothing is stored and no program is started. Used by
``services.jobs`` for submit, dry run and rerun.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from crystalmath.contract.jobs import DryRun, DryRunFile, SubmitParams
from crystalmath.contract.resources import Resources
from crystalmath.contract.rpc import Params
from crystalmath.domain.isotopes import natural_masses
from crystalmath.domain.task_list import parse_array
from crystalmath.errors import InvalidParams, NotImplementedYet
from crystalmath.services import cluster_desk
from crystalmath.services.cluster_desk import ClusterDesk
from crystalmath.services.cluster_key import job_key
from crystalmath.services.job_moments import started_with
from crystalmath.services.ports import (
    CodeAdapter,
    InputFile,
    JobRequest,
    Prepared,
    StructureData,
    StructureReader,
)
from crystalmath.services.ports_cluster import Cluster
from crystalmath.services.ports_materials import MaterialStore
from crystalmath.services.ports_store import Documents, NewJob, Store
from crystalmath.services.ports_templates import TemplateFiller
from crystalmath.services.structure_in import FindMaterial, StructureInputs


@dataclass(frozen=True, slots=True)
class Checked:
    """A submission that passed every check."""

    params: SubmitParams
    structure: StructureData | None
    prepared: Prepared
    cluster: Cluster | None = None
    script: str | None = None
    asked: SubmitParams | None = None
    """As it came, where a template has added files since."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What is needed to check a submission.

    Attributes
    ----------
    cores
        Processor cores of this machine, the bound for local jobs.
    """

    store: Store
    codes: Mapping[str, CodeAdapter]
    reader: StructureReader
    cores: int
    cluster_desk: ClusterDesk | None = None
    materials: MaterialStore | None = None
    templates: TemplateFiller | None = None
    find_material: FindMaterial | None = None

    def check(
        self,
        params: SubmitParams,
        *,
        structure: StructureData | None = None,
        files: tuple[InputFile, ...] | None = None,
    ) -> Checked:
        """Check everything and let the code adapter prepare the job.

        Parameters
        ----------
        structure, files
            Already read, for a rerun, also what a template gave; taken from ``params`` when left
            out.

        Raises
        ------
        InvalidParams, InputRejected, NotImplementedYet
        """
        asked, notes = params, tuple[str, ...]()
        target = self._target(params)
        adapter = self._adapter(params.code)
        if target is None:
            _check_resources(params.resources, self.cores)
        self._check_parents(params.after)
        if files is None:
            params, notes = self._filled_in(params)
            files = _input_files(params)
        if structure is None and params.structure is not None:
            structure = self.structures.read(params.structure)
        prepared = adapter.prepare(
            JobRequest(
                name=params.name,
                task=params.task,
                engine=params.engine,
                model=params.model,
                structure=structure,
                inputs=params.inputs,
                files=files,
                context={str(k): v for k, v in params.context.items()},
                ntasks=params.resources.ntasks,
                cpus_per_task=params.resources.cpus_per_task,
                walltime_s=params.resources.walltime_s,
                remote=target is not None,
                executable=None if target is None else target.record.codes.get(params.code),
            )
        )
        said = (*notes, *prepared.warnings, *_of_structure(params.code, structure))
        prepared = replace(prepared, warnings=tuple(dict.fromkeys(said)))
        script = None
        if target is not None and self.cluster_desk is not None:
            doubts = cluster_desk.doubts(target, params)
            prepared = replace(prepared, warnings=(*prepared.warnings, *doubts))
            script = self.cluster_desk.preview(target, params, prepared)
        return Checked(params, structure, prepared, target, script, asked)

    def _filled_in(self, params: SubmitParams) -> tuple[SubmitParams, tuple[str, ...]]:
        """The submission with the files of its template."""
        if self.templates is not None:
            return self.templates(params)
        if params.template is not None:
            raise InvalidParams(f"there is no template {params.template!r}", field="template")
        return params, ()

    def _target(self, params: SubmitParams) -> Cluster | None:
        """The cluster it is to run on; None: this machine."""
        _check_runner(params)
        if params.cluster is None:
            return None
        if self.cluster_desk is None:
            raise InvalidParams(f"there is no cluster {params.cluster!r}", field="cluster")
        return self.cluster_desk.target(params)

    def _adapter(self, code: str) -> CodeAdapter:
        adapter = self.codes.get(code)
        if adapter is None:
            raise InvalidParams(
                f"there is no code {code!r} here",
                field="code",
                hint=f"codes here: {', '.join(sorted(self.codes))}",
            )
        return adapter

    def _check_parents(self, after: list[int]) -> None:
        states = self.store.states_of(after)
        for i, parent in enumerate(after):
            if parent not in states:
                raise InvalidParams(f"there is no job {parent}", field=f"after.{i}")
            if states[parent] in ("FAILED", "CANCELLED"):
                raise InvalidParams(
                    f"job {parent} is {states[parent]}, so a job after it would never start",
                    field=f"after.{i}",
                    hint="rerun that job first and name the new one",
                )

    @property
    def structures(self) -> StructureInputs:
        """Finds the structures that requests name."""
        return StructureInputs(self.store, self.reader, self.materials, self.find_material)


def new_job(
    checked: Checked,
    *,
    now: float,
    rerun_of: int | None = None,
    why: str | None = None,
    provenance: Mapping[str, Any] | None = None,
    workflow: int | None = None,
) -> NewJob:
    """The row and the documents of a checked submission.

    Parameters
    ----------
    why
        What its first event says.
    provenance
        What is known of it beside the submission.
    workflow
        The workflow that it is a step of.
    """
    params, prepared = checked.params, checked.prepared
    token = params.client_token
    key = uuid.uuid4().hex
    submission = params.model_dump(mode="json", exclude={"client_token", "dry_run"})
    return NewJob(
        row={
            "uuid": key,
            "name": params.name,
            "code": params.code,
            "task": prepared.task,
            "engine": prepared.engine,
            "model": prepared.model,
            "state": "CREATED",
            "runner": "local" if checked.cluster is None else checked.cluster.record.kind,
            "cluster": None if checked.cluster is None else checked.cluster.record.name,
            "formula": prepared.formula,
            "n_atoms": prepared.n_atoms,
            "created_at": now,
            "walltime_s": params.resources.walltime_s,
            "tags_json": json.dumps(list(dict.fromkeys(params.tags)), ensure_ascii=False),
            "progress_text": "waiting for its files",
            "rerun_of": rerun_of,
            "workflow": workflow,
        },
        documents=Documents(
            submission=submission
            | {"structure_data": None if checked.structure is None else asdict(checked.structure)},
            prepared=asdict(prepared),
            resources=params.resources.model_dump(mode="json"),
            warnings=prepared.warnings,
            provenance={
                "code": params.code,
                "structure": dict(checked.structure.source) if checked.structure else {},
                "environment": {str(k): v for k, v in params.context.items()},
                "argv": list(prepared.argv),
                **started_with(checked.structure),
                **(provenance or {}),
            },
        ),
        after=tuple(dict.fromkeys(params.after)),
        why=why or ("submitted" if rerun_of is None else f"submitted again, as job {rerun_of} was"),
        token=token,
        request_sha256=fingerprint(checked.asked or params),
        remote=None
        if checked.cluster is None
        else {
            "cluster_id": checked.cluster.id,
            "key": job_key(key),
            "array": params.resources.array,
        },
        tasks=tuple(parse_array(params.resources.array)) if params.resources.array else (),
    )


def fingerprint(params: Params, **more: str) -> str:
    """SHA-256 of what a request asks for; two calls with one token must agree in it."""
    asked = more | params.model_dump(mode="json", exclude={"client_token"})
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def dry_run(checked: Checked) -> DryRun:
    """What would be written and started."""
    prepared = checked.prepared
    return DryRun(
        files=[
            DryRunFile(path=f.path, content=f.content, source=f.source, executable=f.executable)
            for f in prepared.files
        ],
        argv=list(prepared.argv),
        env=dict(prepared.env),
        script=checked.script,
        task=prepared.task,
        formula=prepared.formula,
        n_atoms=prepared.n_atoms,
        warnings=list(prepared.warnings),
    )


def decode_prepared(document: Mapping[str, Any]) -> Prepared:
    """JSON form → value; the inverse of ``dataclasses.asdict``."""
    return Prepared(
        **{
            **document,
            "argv": tuple(document["argv"]),
            "files": tuple(InputFile(**f) for f in document["files"]),
            "warnings": tuple(document["warnings"]),
        }
    )


def _check_runner(params: SubmitParams) -> None:
    if params.runner == "aiida":
        raise NotImplementedYet(
            "AiiDA is not available: its environment is not part of this version",
            field="runner",
            hint="use runner `local`",
        )
    if params.runner in ("ssh", "slurm") and params.cluster is None:
        raise InvalidParams(
            f"runner {params.runner!r} needs a cluster",
            field="cluster",
            hint="name one of `clusters.list`",
        )
    if params.runner == "local" and params.cluster is not None:
        raise InvalidParams(
            "a local job has no cluster", field="cluster", hint="leave `cluster` or `runner` out"
        )


_TAKES_ISOTOPES = frozenset({"crystal"})
"""Codes that say themselves what becomes of isotopes."""
_FOR_SCHEDULERS = (
    "array",
    "ntasks_per_node",
    "memory_per_cpu_mib",
    "partition",
    "account",
    "qos",
    "constraint",
    "gpus",
    "exclusive",
    "begin",
    "extra",
)


def _check_resources(resources: Resources, cores: int) -> None:
    for name in _FOR_SCHEDULERS:
        if getattr(resources, name):
            raise InvalidParams(
                f"`resources.{name}` is for schedulers, and this machine has none",
                field=f"resources.{name}",
                hint="leave it out, or name a `cluster`",
            )
    if resources.nodes != 1:
        raise InvalidParams("this machine is one node", field="resources.nodes")
    if resources.ntasks * resources.cpus_per_task > cores:
        raise InvalidParams(
            f"{resources.ntasks} processes with {resources.cpus_per_task} threads each need "
            f"{resources.ntasks * resources.cpus_per_task} cores, this machine has {cores}",
            hint="ask for fewer: `resources.ntasks`, `resources.cpus_per_task`",
            field="resources.ntasks",
        )


def _input_files(params: SubmitParams) -> tuple[InputFile, ...]:
    seen: set[str] = set()
    for i, file in enumerate(params.files):
        if file.path in seen:
            raise InvalidParams(f"{file.path} is given twice", field=f"files.{i}.path")
        seen.add(file.path)
        if file.source is not None:
            check_source(file.source, f"files.{i}.source")
    nested = next((p for p in seen if any(q.startswith(p + "/") for q in seen)), None)
    if nested is not None:
        raise InvalidParams(f"{nested} is both a file and a directory", field="files")
    return tuple(InputFile(f.path, f.content, f.source, f.executable) for f in params.files)


def _of_structure(code: str, structure: StructureData | None) -> tuple[str, ...]:
    """What is doubtful of a structure itself, and of what no code takes from it."""
    if structure is None:
        return ()
    lost = () if code in _TAKES_ISOTOPES else natural_masses(structure.sites)
    return (*structure.warnings, *lost)


def check_source(source: str, field: str) -> None:
    """Refuse a file that cannot be copied later.

    Raises
    ------
    InvalidParams
    """
    try:
        info = Path(source).stat()
    except OSError as error:
        raise InvalidParams(
            f"{Path(source).name}: {error.strerror}", field=field, hint="check the path"
        ) from error
    if not stat.S_ISREG(info.st_mode):
        raise InvalidParams(f"{Path(source).name} is not a regular file", field=field)
    if not os.access(source, os.R_OK):
        raise InvalidParams(f"{Path(source).name} may not be read", field=field)
