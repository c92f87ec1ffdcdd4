"""Large outputs are read in a worker process: a reader of lines holds the interpreter for seconds.

An adapter is put in front of the same adapter in a worker. What is small, and what the pump asks
while a program runs, it answers here. Shared by the adapters; put together by ``api``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from crystalmath.services.ports import (
    CodeAdapter,
    Continuation,
    EndReceipt,
    Finished,
    JobRequest,
    Prepared,
    Progress,
    Reading,
    RunWorker,
    Verdict,
)

SMALL_BYTES: Final = 256 * 1024
"""Outputs up to this size are read where they are asked for, within some milliseconds."""
JUDGE_S: Final = 600.0
"""Seconds for a verdict, which nobody waits for;"""
ANSWER_S: Final = 100.0
"""for what a method answers, below its deadline."""

Find = Callable[[Path], Path | None]


class LargeOutputs:
    """Implements ``services.ports.CodeAdapter`` with an adapter, here and in workers.

    Parameters
    ----------
    function
        What a worker runs: it calls :func:`answer` with an adapter of its own.
    of_job
        The output in the directory of a job.
    meant
        The output that a path means, which may be a directory.
    follows
        The adapter knows what it has read of a growing output: its curves cost only what was added.
    """

    def __init__(
        self,
        adapter: CodeAdapter,
        function: str,
        run: RunWorker,
        *,
        of_job: Find,
        meant: Find,
        follows: bool,
    ) -> None:
        self.name = adapter.name
        self.title = adapter.title
        self.tasks = adapter.tasks
        self._adapter = adapter
        self._function = function
        self._run = run
        self._of_job = of_job
        self._meant = meant
        self._follows = follows

    def describe(self) -> Mapping[str, Any]:
        """See the protocol."""
        return self._adapter.describe()

    def prepare(self, request: JobRequest) -> Prepared:
        """See the protocol."""
        return self._adapter.prepare(request)

    def progress(self, directory: Path) -> Progress | None:
        """See the protocol."""
        return self._adapter.progress(directory)

    def series(self, directory: Path) -> Mapping[str, Any]:
        """See the protocol."""
        if self._follows or not is_large(self._of_job(directory)):
            return self._adapter.series(directory)
        found: Mapping[str, Any] = self._ask("series", directory, {}, ANSWER_S)
        return found

    def judge(self, directory: Path, end: EndReceipt | None) -> Verdict:
        """See the protocol."""
        if not is_large(self._of_job(directory)):
            return self._adapter.judge(directory, end)
        given = {"end": None if end is None else _form(EndReceipt).dump_python(end, mode="json")}
        verdict: Verdict = self._ask("judge", directory, given, JUDGE_S)
        return verdict

    def recognise(self, path: Path) -> Finished | None:
        """See the protocol."""
        if not is_large(self._meant(path)):
            return self._adapter.recognise(path)
        found: Finished | None = self._ask("recognise", path, {}, ANSWER_S)
        return found

    def read(self, path: Path) -> Reading | None:
        """See the protocol."""
        if not is_large(self._meant(path)):
            return self._adapter.read(path)
        found: Reading | None = self._ask("read", path, {}, ANSWER_S)
        return found

    def proceed(self, directory: Path, request: JobRequest, reason: str | None) -> Continuation:
        """See the protocol."""
        if not is_large(self._of_job(directory)):
            return self._adapter.proceed(directory, request, reason)
        form = _form(JobRequest).dump_python(request, mode="json")
        given = {"request": form, "reason": reason}
        found: Continuation = self._ask("proceed", directory, given, ANSWER_S)
        return found

    def _ask(self, what: str, path: Path, given: Mapping[str, Any], deadline_s: float) -> Any:
        asked = {"what": what, "path": str(path), **given}
        said = self._run(self._function, asked, deadline_s)
        return None if said is None else _form(_ANSWERS[what]).validate_python(said)


def is_large(output: Path | None) -> bool:
    """Whether reading an output takes so long that others would wait for it."""
    try:
        return output is not None and output.stat().st_size > SMALL_BYTES
    except OSError:
        return False


def answer(
    adapter: CodeAdapter,
    what: str,
    path: str,
    end: Mapping[str, Any] | None = None,
    request: Mapping[str, Any] | None = None,
    reason: str | None = None,
) -> Any:
    """In a worker: ask the adapter, and return what it says as JSON values.

    Parameters
    ----------
    what
        The name of the adapter's method.
    """
    place = Path(path)
    said: Any
    if what == "judge":
        receipt = None if end is None else _form(EndReceipt).validate_python(end)
        said = adapter.judge(place, receipt)
    elif what == "recognise":
        said = adapter.recognise(place)
    elif what == "read":
        said = adapter.read(place)
    elif what == "series":
        said = adapter.series(place)
    elif what == "proceed":
        said = adapter.proceed(place, _form(JobRequest).validate_python(request), reason)
    else:
        raise ValueError(f"{what} is not asked of workers")
    return None if said is None else _form(_ANSWERS[what]).dump_python(said, mode="json")


_ANSWERS: Final[Mapping[str, Any]] = {
    "judge": Verdict,
    "recognise": Finished,
    "read": Reading,
    "series": Mapping[str, Any],
    "proceed": Continuation,
}


@cache
def _form(kind: Any) -> TypeAdapter[Any]:
    """What turns a value of the ports into JSON values and back; made when it is first needed."""
    return TypeAdapter(kind)
