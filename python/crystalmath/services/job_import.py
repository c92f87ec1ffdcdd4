"""A calculation that somebody ran by hand becomes a job: what ``jobs.import_results`` stores.

Its files are copied, large ones are left where they are and named in the provenance. It is judged
like any other job, and never started. Used by ``services.jobs``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from crystalmath.contract.jobs import FileIn, ImportParams, SubmitParams
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import CodeAdapter, Finished, InputFile, Prepared
from crystalmath.services.ports_store import NewJob
from crystalmath.services.submission import Checked, new_job

MAX_OUTPUT_BYTES: Final = 1024**3
"""The main output is copied up to this size; a larger one is refused."""
MAX_FILE_BYTES: Final = 64 * 1024**2
MAX_TOTAL_BYTES: Final = 256 * 1024**2
"""Other files that are larger, or come after so much, stay where they are."""


def take_in(codes: Mapping[str, CodeAdapter], params: ImportParams, now: float) -> NewJob:
    """Recognise a finished calculation and make a job of it.

    Raises
    ------
    InvalidParams
        The path cannot be read, or it is not clear which output is meant.
    InputRejected
        No code knows it, or its main output is too large to be copied.
    """
    path = Path(params.path)
    check_readable(path)
    code, found = recognise(codes, path, params.code)
    copied, left = _divided(found)
    kept = {file.path for file in copied}
    submission = SubmitParams(
        name=params.name or _name_of(path, code),
        code=code,
        task=found.task,
        engine=found.engine,
        inputs=dict(found.inputs),
        files=[
            FileIn(path=file.path, source=file.source)
            for file in found.files
            if file.path in found.input_files and file.path in kept
        ],
        client_token=params.client_token,
    )
    prepared = Prepared(
        task=found.task,
        argv=(),
        files=copied,
        engine=found.engine,
        formula=found.formula,
        n_atoms=found.n_atoms,
        output=found.output,
        warnings=found.warnings,
    )
    output = next(file.source for file in found.files if file.path == found.output)
    imported: dict[str, Any] = {
        "path": str(path),
        "output": output,
        "finished_at": Path(str(output)).stat().st_mtime,
        "left": left,
    }
    return new_job(
        Checked(submission, found.structure, prepared),
        now=now,
        why=f"imported from {path}",
        provenance={"imported": imported},
    )


def check_readable(path: Path) -> None:
    """Refuse a path that is not there.

    Raises
    ------
    InvalidParams
    """
    try:
        path.stat()
    except OSError as error:
        raise InvalidParams(
            f"{path.name}: {error.strerror}", field="path", hint="check the path"
        ) from error


def chosen(codes: Mapping[str, CodeAdapter], code: str | None) -> list[CodeAdapter]:
    """The adapters to ask: the one that is named, or all.

    Raises
    ------
    InvalidParams
        There is no such code.
    """
    if code is None:
        return [codes[name] for name in sorted(codes)]
    if code not in codes:
        raise InvalidParams(
            f"there is no code {code!r} here",
            field="code",
            hint=f"codes here: {', '.join(sorted(codes))}",
        )
    return [codes[code]]


def recognise(
    codes: Mapping[str, CodeAdapter], path: Path, code: str | None
) -> tuple[str, Finished]:
    """Ask the adapters what a path holds.

    Raises
    ------
    InvalidParams, InputRejected
    """
    for adapter in chosen(codes, code):
        found = adapter.recognise(path)
        if found is not None:
            return adapter.name, found
    raise InputRejected(
        f"no finished calculation of {code or 'a known code'} was found in {path}",
        hint=f"codes here: {', '.join(sorted(codes))}; name the output file itself",
        field="path",
    )


def _divided(found: Finished) -> tuple[tuple[InputFile, ...], dict[str, str]]:
    """What is copied, and which files (path → where they lie) are not."""
    copied: list[InputFile] = []
    left: dict[str, str] = {}
    total = 0
    for file in found.files:
        size = Path(str(file.source)).stat().st_size
        if file.path == found.output:
            if size > MAX_OUTPUT_BYTES:
                raise InputRejected(
                    f"{file.path} is larger than 1 GiB",
                    hint="`codes.read_output` reads it where it is",
                    field="path",
                )
            copied.append(file)
        elif size > MAX_FILE_BYTES or total + size > MAX_TOTAL_BYTES:
            left[file.path] = str(file.source)
        else:
            total += size
            copied.append(file)
    return tuple(copied), left


def _name_of(path: Path, code: str) -> str:
    name = re.sub(r"[/\\\x00-\x1f\x7f]", "_", path.name).strip()[:100]
    return name if name.strip(". ") else f"imported {code}"
