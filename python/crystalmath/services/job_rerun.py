"""The same input once more: what ``jobs.rerun`` submits."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crystalmath.contract.jobs import RerunParams, SubmitParams
from crystalmath.errors import InvalidParams
from crystalmath.services.job_directory import JobDirectories, hash_file
from crystalmath.services.ports import InputFile, StructureData
from crystalmath.services.ports_store import Store
from crystalmath.services.submission import decode_structure


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
    changed = params.changes.model_dump(mode="json", exclude_none=True, exclude={"inputs"})
    inputs = {**first["inputs"], **(params.changes.inputs or {})}
    first |= changed
    first["inputs"] = {k: v for k, v in inputs.items() if v is not None}
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
