"""Asking several providers at once, and keeping what those on the network gave.

Every provider has a thread and a time of its own: whoever does not answer is told as such and holds
up nobody. What is kept serves for a day, and when its provider cannot be asked.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from crystalmath.contract.material_search import ProviderAnswer
from crystalmath.contract.rpc import Call
from crystalmath.domain.material_query import OWN_ORIGINS, Query
from crystalmath.errors import CrystalMathError, MaterialsError, NotFound
from crystalmath.services.material_join import Found
from crystalmath.services.ports_materials import Asked, KeptAnswer, Provider, SearchCache

_log = logging.getLogger(__name__)

FRESH_S: Final = 86_400.0
"""For so long a kept answer stands for the provider's own."""
LOCAL_WORK_S: Final = 60.0
"""Longest wait for providers that need no network."""
GRACE_S: Final = 1.0
"""How much later than its deadline a provider may answer: it ends its own work first."""
MOST_THREADS: Final = 32


@dataclass(frozen=True, slots=True)
class Told:
    """What came of asking one provider."""

    provider: Provider
    answer: ProviderAnswer
    found: tuple[Found, ...] = ()
    notices: tuple[str, ...] = ()


Answers = queue.SimpleQueue[Told | None]


class Federation:
    """Asks providers.

    Parameters
    ----------
    clock
        Seconds since 1970.
    """

    def __init__(self, cache: SearchCache, clock: Callable[[], float]) -> None:
        self._cache = cache
        self._clock = clock
        self._threads = threading.BoundedSemaphore(MOST_THREADS)

    def ask(
        self, chosen: Sequence[Provider], asked: Asked, refresh: bool, call: Call
    ) -> list[Told]:
        """Ask all at once; who does not answer in time is told as such."""
        answers: Answers = queue.SimpleQueue()
        call.on_cancel(lambda: answers.put(None))
        began = time.monotonic()
        waiting: dict[str, float] = {}
        told: dict[str, Told] = {}
        for provider in chosen:
            if self._start(provider, asked, refresh, answers):
                end = asked.deadline + GRACE_S if provider.network else began + LOCAL_WORK_S
                waiting[provider.name] = end
            else:
                told[provider.name] = self._failed(provider, asked, _too_many(), began)
        while waiting:
            left = max(waiting.values()) - time.monotonic()
            try:
                one = answers.get(timeout=max(left, 0.0))
            except queue.Empty:
                break
            call.check()
            if one is not None:
                told[one.provider.name] = one
                waiting.pop(one.provider.name, None)
        for provider in chosen:
            if provider.name in waiting:
                told[provider.name] = self._failed(provider, asked, _late(provider.name), began)
        return [told[provider.name] for provider in chosen]

    def one(
        self, provider: Provider, key: str, deadline: float, *, refresh: bool = False
    ) -> tuple[Found, bool]:
        """One structure, and whether it was kept from an earlier answer.

        Raises
        ------
        NotFound, MaterialsError
        """
        if provider.network and not refresh:
            kept = self._cache.entry(provider.name, key)
            if kept is not None:
                return Found(provider.name, kept.entry, kept.retrieved_at), True
        problem = provider.problem()
        if problem is not None:
            raise problem
        entry = provider.get(key, Asked(Query(), 1, deadline))
        now = self._clock()
        if provider.network:
            self._cache.keep_entry(provider.name, entry, now)
        return Found(provider.name, entry, now), False

    def _start(self, provider: Provider, asked: Asked, refresh: bool, answers: Answers) -> bool:
        """Ask in a thread; False when too many still wait for somebody who never answers."""
        if not self._threads.acquire(blocking=False):
            return False

        def work() -> None:
            began = time.monotonic()
            try:
                answers.put(self._ask(provider, asked, refresh, began))
            except Exception:  # noqa: BLE001 - told as such; the log has the rest
                _log.exception("provider %s failed", provider.name)
                answers.put(_told(provider, began, failure=_broken(provider.name)))
            finally:
                self._threads.release()

        threading.Thread(target=work, name=f"search-{provider.name}", daemon=True).start()
        return True

    def _ask(self, provider: Provider, asked: Asked, refresh: bool, began: float) -> Told:
        try:
            if asked.query.id is not None:
                return self._ask_for_id(provider, asked, refresh, began)
            return self._ask_for_all(provider, asked, refresh, began)
        except CrystalMathError as error:
            return self._failed(provider, asked, error, began)

    def _ask_for_id(self, provider: Provider, asked: Asked, refresh: bool, began: float) -> Told:
        key = asked.query.id or ""
        if asked.query.id_provider in OWN_ORIGINS:
            key = f"{asked.query.id_provider}:{key}"
        try:
            found, cached = self.one(provider, key, asked.deadline, refresh=refresh)
        except NotFound as error:
            return _told(provider, began, notices=(error.message,))
        return _told(provider, began, (found,), cached_at=found.retrieved_at if cached else None)

    def _ask_for_all(self, provider: Provider, asked: Asked, refresh: bool, began: float) -> Told:
        question = _question(provider, asked)
        if provider.network and not refresh:
            kept = self._cache.answer(provider.name, question)
            if kept is not None and self._clock() - kept.retrieved_at < FRESH_S:
                return _of_kept(provider, began, kept)
        problem = provider.problem()
        if problem is not None:
            raise problem
        answer = provider.search(asked)
        now = self._clock()
        if provider.network:
            self._cache.keep(provider.name, question, answer, now)
        found = tuple(Found(provider.name, entry, now) for entry in answer.entries)
        return _told(provider, began, found, more=answer.more, notices=answer.notices)

    def _failed(
        self, provider: Provider, asked: Asked, error: CrystalMathError, began: float
    ) -> Told:
        """What is told of a failure, with an earlier answer where one is kept."""
        kept = None
        if provider.network and asked.query.id is None:
            kept = self._cache.answer(provider.name, _question(provider, asked))
        if kept is None:
            return _told(provider, began, failure=error)
        return _of_kept(provider, began, kept, failure=error)


def _told(
    provider: Provider,
    began: float,
    found: tuple[Found, ...] = (),
    *,
    more: bool = False,
    notices: tuple[str, ...] = (),
    cached_at: float | None = None,
    failure: CrystalMathError | None = None,
) -> Told:
    answer = ProviderAnswer(
        name=provider.name,
        status=_status(failure),
        error=None if failure is None else failure.message,
        hint=None if failure is None else failure.hint,
        elapsed_ms=round((time.monotonic() - began) * 1000, 1),
        n_found=len(found),
        more=more,
        cached_at=None if cached_at is None else datetime.fromtimestamp(cached_at, UTC),
    )
    return Told(provider, answer, found, notices)


def _of_kept(
    provider: Provider, began: float, kept: KeptAnswer, failure: CrystalMathError | None = None
) -> Told:
    found = tuple(Found(provider.name, one.entry, one.retrieved_at) for one in kept.entries)
    return _told(
        provider,
        began,
        found,
        more=kept.more,
        cached_at=kept.retrieved_at,
        failure=failure,
    )


def _status(failure: CrystalMathError | None) -> Any:
    if failure is None:
        return "ok"
    return failure.status if isinstance(failure, MaterialsError) else "failed"


def _question(provider: Provider, asked: Asked) -> str:
    document = {"address": provider.address, "limit": asked.limit, **asked.query.document()}
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _late(name: str) -> MaterialsError:
    return MaterialsError(
        f"{name} did not answer in time",
        hint="give more `timeout_s`",
        provider=name,
        status="timeout",
    )


def _broken(name: str) -> MaterialsError:
    return MaterialsError(f"{name} failed", hint="the daemon's log tells more", provider=name)


def _too_many() -> MaterialsError:
    return MaterialsError(
        "too many questions still wait for an answer", hint="try again in a minute"
    )
