"""The same input once more: what ``jobs.rerun`` submits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from crystalmath.contract.jobs import RerunChanges, RerunParams, SubmitParams
from crystalmath.domain.states import TERMINAL, JobState
from crystalmath.domain.task_list import parse_array, render_tasks
from crystalmath.errors import InvalidParams
from crystalmath.services.job_directory import JobDirectories, hash_file
from crystalmath.services.ports import InputFile, StructureData
from crystalmath.services.ports_store import Store
from crystalmath.services.ports_tasks import TaskRecord
from crystalmath.services.structure_in import decode_structure


@dataclass(frozen=True, slots=True)
class Again:
    """A submission made from an earlier one, with its input already in hand."""

    params: SubmitParams
    structure: StructureData | None
    files: tuple[InputFile, ...]


def again(store: Store, directories: JobDirectories, params: RerunParams) -> Again:
    """Rebuild the submission of a job with the changes asked for.

    Raises
    ------
    NotFound
        There is no such job.
    InvalidParams
        An input file of the first run is neither in its directory nor unchanged at its source.
    """
    row = store.row(params.id)
    documents = store.documents(params.id)
    first = dict(documents.submission)
    known = first.pop("structure_data")
    first["inputs"] = changed_inputs(first["inputs"], params.changes)
    tasks = store.tasks(params.id)
    first |= changes_of(params.changes, first["resources"])
    asked = params.changes.resources
    if params.failed_tasks:
        failed = _failed(tasks, params, row["state"])
        throttle = parse_array(first["resources"]["array"]).throttle
        first["resources"] = {**first["resources"], "array": render_tasks(failed, throttle)}
    elif asked is not None and asked.array is not None:
        _refuse_foreign_tasks(tasks, asked.array, params.id)
    first["after"] = []
    first["client_token"] = params.client_token
    if params.context is not None:
        first["context"] = dict(params.context)
    submitted = SubmitParams.model_validate(first)
    hashes = documents.provenance.get("input_hashes", {})
    files = tuple(
        _same_file(
            InputFile(f.path, f.content, f.source, f.executable),
            directories,
            row["uuid"],
            hashes.get(f.path),
            i,
        )
        for i, f in enumerate(submitted.files)
    )
    return Again(submitted, None if known is None else decode_structure(known), files)


def _failed(tasks: Mapping[int, TaskRecord], params: RerunParams, state: JobState) -> list[int]:
    """The tasks that did not complete."""
    field = "failed_tasks"
    if not tasks:
        raise InvalidParams(f"job {params.id} is no job array", field=field, hint="leave it out")
    if params.changes.resources is not None and params.changes.resources.array is not None:
        raise InvalidParams(
            "give the tasks, or ask for those that failed, not both",
            field="changes.resources.array",
        )
    if state not in TERMINAL:
        raise InvalidParams(
            f"job {params.id} is {state}: more of its tasks may fail",
            field=field,
            hint="wait for its end, or name the tasks: `resources.array`",
        )
    failed = [number for number, task in tasks.items() if task.state != "COMPLETED"]
    if not failed:
        raise InvalidParams(f"every task of job {params.id} completed", field=field)
    return failed


def _refuse_foreign_tasks(tasks: Mapping[int, TaskRecord], array: str, job_id: int) -> None:
    """Another task than those of the first job is another calculation: nothing is repeated then."""
    foreign = [number for number in parse_array(array) if number not in tasks]
    if foreign:
        said = f"it has {render_tasks(tasks)}" if tasks else "it is no job array"
        many = "tasks" if len(foreign) > 1 else "task"
        raise InvalidParams(
            f"job {job_id} never had {many} {render_tasks(foreign)}",
            field="changes.resources.array",
            hint=f"{said}; for others submit it anew",
        )


def changes_of(changes: RerunChanges, resources: Mapping[str, Any]) -> dict[str, Any]:
    """What the changes make of a submission, beside its ``inputs``.

    Parameters
    ----------
    resources
        Those of the first submission: what the changes do not name stays.
    """
    changed = changes.model_dump(mode="json", exclude_none=True, exclude={"inputs", "resources"})
    if changes.resources is not None:
        named = changes.resources.model_dump(mode="json", exclude_unset=True)
        each = named.get("ntasks_per_node")
        if each is not None and "nodes" not in named and named.get("ntasks") == each:
            named["ntasks"] = resources.get("nodes", 1) * each  # it was counted for one node
        changed["resources"] = {**resources, **named}
    return changed


def changed_inputs(inputs: Mapping[str, Any], changes: RerunChanges) -> dict[str, Any]:
    """The ``inputs`` with the changes; one that is null is taken out."""
    merged = {**inputs, **(changes.inputs or {})}
    return {name: value for name, value in merged.items() if value is not None}


def _same_file(
    file: InputFile, directories: JobDirectories, key: str, sha256: str | None, index: int
) -> InputFile:
    """The file with a source that still has the content of the first run."""
    if file.source is None:
        return file
    kept = str(directories.path(key) / file.path)
    for candidate in (kept, file.source):
        try:
            if sha256 is None or hash_file(directories.path(key) / candidate) == sha256:
                return replace(file, source=candidate)
        except OSError:
            continue
    raise InvalidParams(
        f"{file.path}: the file of the first run is gone or has changed",
        field=f"files.{index}.source",
        hint="submit the job anew with the file that you mean",
    )
