"""Events as an iterator, on a connection of their own. Made by ``Client.events``."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from crystalmath.client.errors import Disconnected

if TYPE_CHECKING:
    from crystalmath.client import Client


class EventStream:
    """What happens, one event at a time; see ``events.notify`` for their members.

    When the connection breaks it is made again, and goes on where it was. Where something may have
    been missed the next event is ``{"kind": "resync"}``: read again what you need.

    Parameters
    ----------
    client
        A client whose connection nobody else uses; closed with the stream.
    topics
        What to be told of: ``jobs``, ``job:ID``, ``log:ID``, …
    timeout_s
        Seconds to wait for an event before ``TimeoutError``; None: for ever.
    """

    def __init__(self, client: Client, topics: Sequence[str], timeout_s: float | None) -> None:
        self._client = client
        self._topics = list(topics)
        self._timeout_s = timeout_s
        self._seen: dict[str, Any] = {}
        self._waiting: deque[dict[str, Any]] = deque()
        self._subscribe()

    def __iter__(self) -> Self:
        """Return the stream itself."""
        return self

    def __next__(self) -> dict[str, Any]:
        """Wait for the next event."""
        while not self._waiting:
            try:
                notice = self._client.notification(self._timeout_s)
            except Disconnected:
                self._subscribe()
                continue
            if notice["method"] == "events.notify":
                self._seen["since"] = notice["params"]["seq"]
                self._waiting += notice["params"]["events"]
        return self._waiting.popleft()

    def __enter__(self) -> Self:
        """Return the stream itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """End the subscription."""
        self.close()

    def close(self) -> None:
        """End the subscription."""
        self._client.close()

    def _subscribe(self) -> None:
        answer = self._client.call("events.subscribe", topics=self._topics, **self._seen)
        self._seen = {"since": answer["seq"], "instance": answer["instance"]}
