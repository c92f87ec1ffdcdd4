"""A database with many finished jobs, written through the storage room, without a daemon.

The rows are made up; they have the fields and about the lengths that real ones have.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict
from pathlib import Path

from sqlalchemy import insert, text

from crystalmath.services.ports import InputFile, Prepared
from crystalmath.storage.migrate import migrate
from crystalmath.storage.store import open_store
from crystalmath.storage.tables import job_documents, job_events, jobs

INPUTS = ("structure.json", "job.json")
OUTPUTS = ("stdout.log", "stderr.log", "result.json")
_EPOCH_S = 1_767_225_600.0  # 2026-01-01


def fill(database: Path, count: int) -> None:
    """Make the database and put ``count`` completed jobs into it."""
    store = open_store(database)
    migrate(store.engine, database, lambda _text: None)
    numbers = range(1, count + 1)
    with store.engine.begin() as connection:
        connection.execute(insert(jobs), [_row(n) for n in numbers])
        connection.execute(insert(job_documents), [_documents(n) for n in numbers])
        connection.execute(insert(job_events), [_event(n) for n in numbers])
        connection.execute(text("UPDATE counters SET value = :n WHERE name = 'rev'"), {"n": count})
    store.close()


def make_directory(data_dir: Path, number: int) -> Path:
    """Make the directory of one of the jobs, with the files that a finished job has."""
    directory = data_dir / "jobs" / key_of(number)
    directory.mkdir(parents=True)
    for name in (*INPUTS, *OUTPUTS):
        (directory / name).write_text("{}\n", encoding="utf-8")
    return directory


def key_of(number: int) -> str:
    """The uuid of a job of the database."""
    return uuid.UUID(int=number).hex


def _row(number: int) -> dict[str, object]:
    started_at = _EPOCH_S + 60.0 * number
    return {
        "id": number,
        "uuid": key_of(number),
        "name": f"copper relax {number}",
        "code": "forces",
        "task": "relax",
        "engine": "emt",
        "state": "COMPLETED",
        "runner": "local",
        "formula": "Cu",
        "n_atoms": 4,
        "science_status": "converged",
        "energy_ev": -0.0229 * number,
        "energy_per_atom_ev": -0.0057 * number,
        "converged": 1,
        "progress_text": "step 12 of 200",
        "progress_fraction": 1.0,
        "created_at": started_at - 3.0,
        "started_at": started_at,
        "finished_at": started_at + 21.5,
        "tags_json": '["copper","scan"]',
        "rev": number,
    }


def _documents(number: int) -> dict[str, object]:
    submission = {"name": f"copper relax {number}", "code": "forces", "task": "relax"}
    files = tuple(InputFile(path=name, content="{}") for name in INPUTS)
    prepared = Prepared(task="relax", argv=("true",), files=files)
    return {
        "job_id": number,
        "submission_json": json.dumps(submission),
        "prepared_json": json.dumps(asdict(prepared)),
        "resources_json": json.dumps({"nodes": 1, "ntasks": 1, "cpus_per_task": 1}),
        "provenance_json": json.dumps({"code": "forces"}),
    }


def _event(number: int) -> dict[str, object]:
    return {
        "job_id": number,
        "at": _EPOCH_S + 60.0 * number + 22.0,
        "from_state": "FINISHED",
        "to_state": "COMPLETED",
        "why": "judged good",
    }
