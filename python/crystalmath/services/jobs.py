"""``jobs.*``: what clients can do with jobs.

These functions check, store a wish and return; ``services.pump`` carries it out. Nothing here
waits for a program.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crystalmath.contract.job_tasks import TaskView
from crystalmath.contract.jobs import (
    CancelJobsParams,
    ContinueParams,
    ContinueResult,
    DeleteParams,
    FileEntry,
    FilesMeta,
    ImportParams,
    ImportResult,
    Job,
    JobEvent,
    JobIdParams,
    JobOutcome,
    JobSummary,
    ListMeta,
    ListParams,
    LogParams,
    LogResult,
    OutcomesMeta,
    Provenance,
    ReadFileParams,
    RerunParams,
    Series,
    SeriesParams,
    SeriesResult,
    SubmitParams,
    SubmitResult,
    TagParams,
)
from crystalmath.contract.rpc import Call, Listing, rpc
from crystalmath.domain.states import STATES, TERMINAL
from crystalmath.errors import (
    ConfigError,
    Conflict,
    DatabaseError,
    IllegalTransition,
    InputRejected,
    NotFound,
    NotImplementedYet,
)
from crystalmath.services import (
    job_continue,
    job_files,
    job_import,
    job_rerun,
    job_view,
    submission,
)
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.job_ending import Ending, outcome_of
from crystalmath.services.job_rows import EncodedRows
from crystalmath.services.ports import CodeAdapter
from crystalmath.services.ports_store import Move, NewJob, Page, Query, Row, Store

SUBMIT_ERRORS = (InputRejected, ConfigError, NotImplementedYet, Conflict, DatabaseError)


@dataclass(frozen=True, slots=True)
class JobsParts:
    """What the service is made of; put together by ``api``."""

    store: Store
    desk: submission.Desk
    codes: Mapping[str, CodeAdapter]
    directories: JobDirectories
    clock: Callable[[], float]
    wake: Callable[[], None]
    end_unrecorded: Callable[[int], None]
    encode: Callable[[Mapping[str, Any]], bytes] | None = None


class JobsService:
    """Submit, watch, cancel, repeat and remove jobs."""

    def __init__(self, parts: JobsParts) -> None:
        self._store = parts.store
        self._desk = parts.desk
        self._codes = parts.codes
        self._directories = parts.directories
        self._clock = parts.clock
        self._wake = parts.wake
        self._encoded = EncodedRows(parts.store, parts.encode) if parts.encode else None
        self._ending = Ending(parts.store, parts.directories, parts.clock, parts.end_unrecorded)

    @rpc(
        errors=SUBMIT_ERRORS,
        lane="proc",
        deadline_s=60.0,
    )
    def submit(self, params: SubmitParams, call: Call) -> SubmitResult:
        """Accept a calculation. It is in the database when the reply is sent, and it will run.

        Bad input is refused with the field named. With a ``client_token`` the call may be
        repeated: the same token returns the same job.
        """
        if params.client_token is not None and not params.dry_run:
            known = self._store.by_token(params.client_token, submission.fingerprint(params))
            if known is not None:
                return SubmitResult(job=self._summary(known), repeated=True)
        checked = self._desk.check(params)
        if params.dry_run:
            return SubmitResult(dry_run=submission.dry_run(checked))
        call.check()
        job, created = self._accept(submission.new_job(checked, now=self._clock()))
        return SubmitResult(job=job, repeated=not created)

    @rpc(errors=(DatabaseError, InputRejected), read_only=True)
    def list(self, params: ListParams) -> Listing[JobSummary, ListMeta]:
        """List jobs, a page at a time; ``if_rev`` makes an unchanged list cost next to nothing."""
        if params.if_rev is not None:
            rev = self._store.rev()
            if rev == params.if_rev:
                return Listing(data=[], meta=ListMeta(rev=rev), status="unchanged")
        now = self._clock()
        sort = params.sort.removeprefix("-")
        states = (params.state,) if isinstance(params.state, str) else tuple(params.state or ())
        page, rows = self._page(
            Query(
                states=states,
                code=params.code,
                cluster=params.cluster,
                workflow=params.workflow,
                search=params.search,
                sort=sort,
                descending=params.sort.startswith("-"),
                limit=params.limit,
                after=None if params.after is None else job_view.parse_cursor(params.after, sort),
                now=now,
            )
        )
        following = job_view.render_cursor(sort, *page.last) if page.last else None
        return Listing(
            data=rows,
            meta=ListMeta(rev=page.rev, total=page.total, next=following),
        )

    def _page(self, query: Query) -> tuple[Page, Sequence[Mapping[str, Any] | bytes]]:
        if self._encoded is not None:
            return self._encoded.page(query)
        page = self._store.page(query)
        return page, [job_view.summary(row) for row in page.rows]

    @rpc(errors=(NotFound, DatabaseError), read_only=True)
    def get(self, params: JobIdParams) -> Job:
        """Tell everything about one job."""
        known = self._store.everything(params.id)
        row, documents = known.row, known.documents
        directory = self._directories.path(row["uuid"])
        inputs = {file["path"] for file in documents.prepared["files"]}
        files, _ = job_files.list_files(directory, inputs)
        return Job(
            **job_view.summary_of(row, self._clock()),
            inputs={k: v for k, v in documents.submission.items() if k != "structure_data"},
            resources=documents.resources,
            results=dict(documents.results),
            message=row["message"],
            hint=row["hint"],
            warnings=list(documents.warnings),
            events=[JobEvent(**job_view.event_of(line)) for line in known.events],
            files=files,
            directory=str(directory),
            directory_gone=job_files.is_gone(directory, documents.provenance),
            provenance=Provenance(**documents.provenance),
            after=list(known.parents),
            rerun_of=row["rerun_of"],
            attempt=row["attempt"],
            tasks=[TaskView(**job_view.task_of(task, row["state"])) for task in known.tasks],
            usage=job_view.usage_of(known.used),
            plumbing={
                "tries": row["tries"],
                "last_error": row["last_error"],
                "next_try_at": job_view.rfc3339(row["next_try_at"]),
            },
        )

    @rpc(errors=(NotFound, IllegalTransition, DatabaseError))
    def cancel(self, params: CancelJobsParams) -> Listing[JobOutcome, OutcomesMeta]:
        """Ask for jobs to be ended, with everything they started.

        The wish is stored, then carried out. A job that ends by itself first keeps its real end.
        One ``id`` that cannot be cancelled is an error; with ``ids`` each has its own outcome.
        """
        if params.id is not None:
            outcomes = [self._ending.cancel(params.id)]
        else:
            outcomes = [outcome_of(i, self._ending.cancel) for i in dict.fromkeys(params.ids or ())]
        self._wake()
        return Listing(data=outcomes, meta=OutcomesMeta(total=len(outcomes)))

    @rpc(errors=(NotFound, InputRejected, DatabaseError), read_only=True)
    def log(self, params: LogParams) -> LogResult:
        """Read a job's log by byte offset, or its last lines; of a job array that of one task."""
        row = self._store.row(params.id)
        folder, state = job_files.task_log(self._store.tasks(params.id), params.id, params.task)
        relative = folder + self._log_path(row, params.stream)
        ended = row["state"] in TERMINAL or state in TERMINAL
        try:
            with job_files.open_inside(self._directory(row), relative) as descriptor:
                if params.tail is not None:
                    piece = job_files.read_tail(descriptor, params.tail, params.limit)
                else:
                    piece = job_files.read_piece(descriptor, params.offset or 0, params.limit)
        except NotFound as error:
            if error.field == "id":
                raise
            # Not there yet, or never written: an empty log, not an error.
            piece = job_files.Piece("", 0, 0, 0)
        return LogResult(
            text=piece.text,
            offset=piece.end,
            start=piece.start,
            size=piece.size,
            eof=ended and piece.end >= piece.size,
            path=relative,
        )

    @rpc(errors=(NotFound, DatabaseError), read_only=True)
    def files(self, params: JobIdParams) -> Listing[FileEntry, FilesMeta]:
        """List the files of a job."""
        row = self._store.row(params.id)
        prepared = submission.decode_prepared(self._store.documents(params.id).prepared)
        directory = self._directory(row)
        files, truncated = job_files.list_files(directory, {f.path for f in prepared.files})
        meta = FilesMeta(directory=str(directory), total=len(files), truncated=truncated)
        return Listing(data=files, meta=meta)

    @rpc(errors=(NotFound, InputRejected, DatabaseError), read_only=True)
    def read_file(self, params: ReadFileParams) -> LogResult:
        """Read part of a file of a job as text."""
        row = self._store.row(params.id)
        with job_files.open_inside(self._directory(row), params.path) as descriptor:
            piece = job_files.read_piece(descriptor, params.offset, params.limit)
        return LogResult(
            text=piece.text,
            offset=piece.end,
            start=piece.start,
            size=piece.size,
            eof=row["state"] in TERMINAL and piece.end >= piece.size,
            path=params.path,
        )

    @rpc(errors=(NotFound, DatabaseError), read_only=True)
    def series(self, params: SeriesParams) -> SeriesResult:
        """Return the numbers of a job's plots, as far as it has come."""
        row = self._store.row(params.id)
        adapter = self._codes.get(row["code"])
        found = adapter.series(self._directory(row)) if adapter else {}
        if params.name is not None and params.name not in found:
            raise NotFound(
                f"job {params.id} has no series {params.name!r}",
                field="name",
                hint=f"it has: {', '.join(found) or 'none yet'}",
            )
        wanted = {params.name: found[params.name]} if params.name is not None else found
        return SeriesResult(series={name: Series(**value) for name, value in wanted.items()})

    @rpc(
        errors=(NotFound, *SUBMIT_ERRORS),
        lane="proc",
        deadline_s=60.0,
    )
    def rerun(self, params: RerunParams, call: Call) -> SubmitResult:
        """Submit a job again, from the same input, with the changes given.

        The input is the one the first job had, also when the files it came from have changed.
        """
        again = job_rerun.again(self._store, self._directories, params)
        if params.client_token is not None:
            known = self._store.by_token(params.client_token, submission.fingerprint(again.params))
            if known is not None:
                return SubmitResult(job=self._summary(known), repeated=True)
        checked = self._desk.check(again.params, structure=again.structure, files=again.files)
        call.check()
        job, created = self._accept(
            submission.new_job(checked, now=self._clock(), rerun_of=params.id)
        )
        return SubmitResult(job=job, repeated=not created)

    @rpc(
        errors=(NotFound, IllegalTransition, *SUBMIT_ERRORS),
        lane="proc",
        deadline_s=60.0,
        wire_name="jobs.continue",
    )
    def continue_(self, params: ContinueParams, call: Call) -> ContinueResult:
        """Go on where a job stopped that did not complete, as a new job.

        It starts from the saved state, the checkpoint or the last geometry, whatever the code has,
        and sets right what made the job fail. The reply says what it does differently, in words
        and line by line; a dry run says it beforehand.
        """
        onward = job_continue.onward(self._store, self._directories, self._codes, params)
        checked = self._desk.check(onward.params, structure=onward.structure, files=onward.files)
        changes = job_continue.changes(onward, checked.prepared)
        if params.dry_run:
            preview = submission.dry_run(checked)
            return ContinueResult(fix=onward.fix, changes=changes, dry_run=preview)
        call.check()
        new = submission.new_job(
            checked,
            now=self._clock(),
            rerun_of=params.id,
            why=f"continues job {params.id}: {onward.fix}",
            provenance=onward.provenance,
        )
        job, created = self._accept(new)
        return ContinueResult(job=job, fix=onward.fix, changes=changes, repeated=not created)

    @rpc(errors=(InputRejected, Conflict, DatabaseError), lane="proc", deadline_s=120.0)
    def import_results(self, params: ImportParams, call: Call) -> ImportResult:
        """Take in a finished calculation that somebody ran by hand.

        The code is recognised from the files; they are copied and judged like those of any job,
        except that no exit code is known. Files of more than 64 MiB stay where they are.
        """
        new = job_import.take_in(self._codes, params, self._clock())
        call.check()
        job, created = self._accept(new)
        return ImportResult(job=job, repeated=not created)

    @rpc(errors=(NotFound, IllegalTransition, DatabaseError), deadline_s=120.0)
    def delete(self, params: DeleteParams) -> Listing[JobOutcome, OutcomesMeta]:
        """Remove ended jobs from the list, and their directories if asked to."""

        def remove(job_id: int) -> JobOutcome:
            return self._ending.delete(job_id, files=params.files)

        outcomes = [outcome_of(i, remove) for i in dict.fromkeys(params.ids)]
        return Listing(data=outcomes, meta=OutcomesMeta(total=len(outcomes)))

    @rpc(errors=(NotFound, DatabaseError))
    def tag(self, params: TagParams) -> Listing[JobOutcome, OutcomesMeta]:
        """Add labels to jobs and remove labels from them."""

        def relabel(job_id: int) -> JobOutcome:
            row = self._store.row(job_id)
            kept = [t for t in json.loads(row["tags_json"]) if t not in params.remove]
            tags = list(dict.fromkeys([*kept, *params.add]))
            changes = {"tags_json": json.dumps(tags, ensure_ascii=False)}
            self._store.move(Move(job_id, STATES, None, self._clock(), changes=changes))
            return JobOutcome(id=job_id, ok=True, state=row["state"])

        outcomes = [outcome_of(i, relabel) for i in dict.fromkeys(params.ids)]
        return Listing(data=outcomes, meta=OutcomesMeta(total=len(outcomes)))

    def _accept(self, new: NewJob) -> tuple[JobSummary, bool]:
        """Store a job and have it moved; False when its token was known."""
        job_id, created = self._store.insert(new)
        self._wake()
        return self._summary(job_id), created

    def _summary(self, job_id: int) -> JobSummary:
        return JobSummary(**job_view.summary_of(self._store.row(job_id), self._clock()))

    def _directory(self, row: Row) -> Path:
        """The job's directory; raises ``NotFound`` where it was and is not any more."""
        directory = self._directories.path(row["uuid"])
        if not directory.is_dir() and job_files.is_gone(
            directory, self._store.documents(row["id"]).provenance
        ):
            raise job_files.gone(row["id"])
        return directory

    def _log_path(self, row: Row, stream: str) -> str:
        if stream == "output":
            output = self._store.documents(row["id"]).prepared.get("output")
            return str(output or job_files.LOG_FILES["stdout"])
        return job_files.log_files(row)[stream]
