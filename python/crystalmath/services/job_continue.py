"""A job that did not complete goes on as a new one: what ``jobs.continue`` submits.

The code adapter says how; here its proposal is joined with the first submission and with what the
user changes. Used by ``services.jobs``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crystalmath.contract.jobs import ContinueParams, FileChange, FileIn, SubmitParams
from crystalmath.domain.states import TERMINAL
from crystalmath.errors import IllegalTransition
from crystalmath.services.differences import differences
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.job_moments import kept_moments
from crystalmath.services.job_rerun import changed_inputs, changes_of
from crystalmath.services.ports import (
    CodeAdapter,
    InputFile,
    JobRequest,
    Prepared,
    StructureData,
)
from crystalmath.services.ports_store import Row, Store
from crystalmath.services.structure_in import decode_structure
from crystalmath.services.submission import decode_prepared

MAX_COMPARED_BYTES: Final = 8 * 1024**2


@dataclass(frozen=True, slots=True)
class Onward:
    """The submission of the job that goes on.

    Attributes
    ----------
    fix
        What it does differently.
    before
        What the first job was made of.
    provenance
        What is known of the first job and stays true.
    directory
        Where the first job ran.
    """

    params: SubmitParams
    structure: StructureData | None
    files: tuple[InputFile, ...]
    fix: str
    before: Prepared
    directory: Path
    provenance: Mapping[str, object]


def onward(
    store: Store,
    directories: JobDirectories,
    codes: Mapping[str, CodeAdapter],
    params: ContinueParams,
) -> Onward:
    """Make the submission that goes on where a job stopped.

    Raises
    ------
    NotFound
        There is no such job.
    IllegalTransition
        It has not ended, or it completed.
    InputRejected
        There is nothing to go on from.
    """
    row = store.row(params.id)
    _check_state(row)
    if store.tasks(params.id):
        raise IllegalTransition(
            f"job {params.id} is a job array, and each of its tasks stopped at a place of its own",
            hint="run the tasks again that did not complete: `jobs.rerun` with `failed_tasks`",
        )
    documents = store.documents(params.id)
    submission = dict(documents.submission)
    known = submission.pop("structure_data")
    first = SubmitParams.model_validate(submission)
    directory = directories.path(row["uuid"])
    found = codes[row["code"]].proceed(directory, _request(first, known), row["reason"])

    files = [FileIn(path=f.path, content=f.content, source=f.source) for f in found.files]
    merged = {
        **submission,
        **changes_of(params.changes, submission["resources"]),
        "inputs": changed_inputs(found.inputs, params.changes),
        "files": [file.model_dump(mode="json") for file in files],
        "after": [],
        "structure": None,
        "client_token": params.client_token,
    }
    if params.context is not None:
        merged["context"] = dict(params.context)
    return Onward(
        params=SubmitParams.model_validate(merged),
        structure=found.structure,
        files=found.files,
        fix=found.fix,
        before=decode_prepared(documents.prepared),
        directory=directory,
        provenance=kept_moments(documents.provenance),
    )


def changes(job: Onward, prepared: Prepared) -> list[FileChange]:
    """What differs from the input of the first job, in the files whose text is known."""
    found: list[FileChange] = []
    for file in prepared.files:
        if file.content is not None:
            found += differences(file.path, _text_before(job, file.path), file.content)
    return found


def _check_state(row: Row) -> None:
    if row["state"] not in TERMINAL:
        raise IllegalTransition(
            f"job {row['id']} is {row['state']}",
            hint="it can be continued when it has ended; cancel it first to change it",
        )
    if row["state"] == "COMPLETED":
        raise IllegalTransition(
            f"job {row['id']} is COMPLETED: there is nothing to continue",
            hint="`jobs.rerun` repeats it with changes",
        )


def _request(first: SubmitParams, structure: Mapping[str, object] | None) -> JobRequest:
    return JobRequest(
        name=first.name,
        task=first.task,
        engine=first.engine,
        model=first.model,
        structure=None if structure is None else decode_structure(structure),
        inputs=first.inputs,
        files=tuple(InputFile(f.path, f.content, f.source, f.executable) for f in first.files),
        context={str(key): value for key, value in first.context.items()},
        ntasks=first.resources.ntasks,
        cpus_per_task=first.resources.cpus_per_task,
        walltime_s=first.resources.walltime_s,
    )


def _text_before(job: Onward, path: str) -> str:
    for file in job.before.files:
        if file.path == path and file.content is not None:
            return file.content
    try:
        with (job.directory / path).open("rb") as stream:
            return stream.read(MAX_COMPARED_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
