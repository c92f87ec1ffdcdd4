"""Who is to be told what: events, the ring of the last ones, and what waits for each connection.

A data structure without I/O and without a thread; the lock in it is held for a few dictionary
operations at a time. Whatever happens is published here by ``services.job_events`` and
``services.log_watch``; the server takes from here what it may send. What waits for a connection is
bounded: of the same thing only its last state waits, and beyond the bounds ``resync`` stands for
everything.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from crystalmath.errors import Cancelled, NotFound, Overloaded

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class EventLimits:
    """How much is kept.

    Attributes
    ----------
    ring
        Events kept for subscribers that come back.
    waiting, waiting_bytes
        Events that may wait for one connection, and about how many bytes of them.
    subscriptions
        Subscriptions of one connection.
    """

    ring: int = 1024
    waiting: int = 1000
    waiting_bytes: int = 8 * MIB
    subscriptions: int = 16


@dataclass(slots=True, eq=False)
class Happening:
    """Something that happened.

    Attributes
    ----------
    topics
        Where it is told; each subscription is told once, under the first topic that fits.
    key
        Of happenings with the same key only the last need be told; None: each must be.
    weight_bytes
        About its length in JSON.
    content
        Makes its members on the wire, without ``topic``; called when somebody is to be told.
    seq
        Its number, given by the hub.
    encoded
        The server's encoded form, kept for the next subscriber.
    """

    topics: tuple[str, ...]
    key: Hashable | None
    weight_bytes: int
    content: Callable[[], Mapping[str, Any]]
    seq: int = 0
    encoded: bytes | None = None


@dataclass(slots=True, eq=False)
class Subscription:
    """One subscription, and what it has not been told yet."""

    number: int
    feed: Feed
    topics: tuple[str, ...]
    held: bool = True
    closed: bool = False
    resync: bool = False
    waiting: dict[Hashable, tuple[str, Happening]] = field(default_factory=dict)

    @property
    def has_news(self) -> bool:
        """Whether there is something to tell."""
        return self.resync or bool(self.waiting)


@dataclass(slots=True, eq=False)
class Feed:
    """All subscriptions of one connection, and the sum of what waits.

    Attributes
    ----------
    held
        There are subscriptions whose reply is not sent yet: nothing is told to them.
    sending
        Held while a notification goes out, so that none follows the reply to unsubscribe.
    """

    connection: int
    subscriptions: dict[int, Subscription] = field(default_factory=dict)
    count: int = 0
    weight_bytes: int = 0
    held: bool = False
    sending: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one subscription is to be told now: first ``resync`` if so, then the rest in order."""

    subscription: Subscription
    seq: int
    resync: bool
    events: Sequence[tuple[str, Happening]]


class EventHub:
    """See the module docstring.

    Parameters
    ----------
    instance
        Unique id of this run; sequence numbers count within it.
    on_news
        Called, outside the lock, when there is something to send.
    """

    def __init__(
        self,
        instance: str,
        limits: EventLimits | None = None,
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        self.instance = instance
        self._limits = limits or EventLimits()
        self._on_news = on_news
        self._lock = threading.Lock()
        self._ring: deque[Happening] = deque(maxlen=self._limits.ring)
        self._seq = 0
        self._numbers = 0
        self._feeds: dict[int, Feed] = {}
        self._by_topic: dict[str, dict[Subscription, None]] = {}
        self._with_news: dict[Feed, None] = {}

    # --- for whoever notices that something happened --------------------------------------------

    def publish(self, happenings: Sequence[Happening]) -> None:
        """Tell everybody who wants to know, in this order; never waits."""
        with self._lock:
            for happening in happenings:
                self._seq += 1
                happening.seq = self._seq
                self._ring.append(happening)
                told: set[int] = set()
                for topic in happening.topics:
                    for subscription in self._by_topic.get(topic, ()):
                        if subscription.number not in told:
                            told.add(subscription.number)
                            self._push(subscription, topic, happening)
            news = bool(self._with_news)
        if news:
            self._on_news()

    def watched(self, prefix: str) -> set[int]:
        """Ids of the things of a kind that somebody watches: ``log:`` → {12, 13}."""
        with self._lock:
            return {int(t.removeprefix(prefix)) for t in self._by_topic if t.startswith(prefix)}

    # --- for subscribers ------------------------------------------------------------------------

    def subscribe(
        self,
        connection: int,
        topics: Iterable[str],
        since: int | None = None,
        instance: str | None = None,
    ) -> tuple[int, int]:
        """Add a subscription; it is told nothing before :meth:`release`.

        Returns
        -------
        tuple of int
            Its number, and the number of the event after which everything will be told.

        Raises
        ------
        Overloaded
            The connection has too many subscriptions already.
        Cancelled
            The connection is gone.
        """
        with self._lock:
            feed = self._feeds.get(connection)
            if feed is None:
                raise Cancelled("The client is gone.")
            if len(feed.subscriptions) >= self._limits.subscriptions:
                raise Overloaded(
                    f"a connection may have {self._limits.subscriptions} subscriptions",
                    hint="unsubscribe first, or name more topics in one subscription",
                )
            self._numbers += 1
            subscription = Subscription(self._numbers, feed, tuple(dict.fromkeys(topics)))
            feed.subscriptions[subscription.number] = subscription
            feed.held = True
            for topic in subscription.topics:
                self._by_topic.setdefault(topic, {})[subscription] = None
            seq = self._seq
            if since is not None:
                seq = self._replay(subscription, since, instance)
            return subscription.number, seq

    def unsubscribe(self, connection: int, number: int) -> None:
        """Remove a subscription of this connection; raises ``NotFound``."""
        with self._lock:
            feed = self._feeds.get(connection)
            subscription = None if feed is None else feed.subscriptions.get(number)
            if feed is None or subscription is None:
                raise NotFound(
                    f"this connection has no subscription {number}",
                    hint="subscriptions end with their connection",
                    field="subscription",
                )
        with feed.sending, self._lock:
            self._remove(subscription)

    # --- for the server -------------------------------------------------------------------------

    def open(self, connection: int) -> Feed:
        """Let a connection subscribe."""
        with self._lock:
            feed = self._feeds[connection] = Feed(connection)
            return feed

    def close(self, connection: int) -> None:
        """Forget a connection with all its subscriptions."""
        with self._lock:
            feed = self._feeds.pop(connection, None)
            if feed is not None:
                for subscription in list(feed.subscriptions.values()):
                    self._remove(subscription)
                self._with_news.pop(feed, None)

    def release(self, feed: Feed) -> None:
        """Begin to tell: the replies to the subscriptions of this connection are sent."""
        with self._lock:
            feed.held = False
            for subscription in feed.subscriptions.values():
                subscription.held = False
                if subscription.has_news:
                    self._with_news[feed] = None
            news = feed in self._with_news
        if news:
            self._on_news()

    def feeds_with_news(self) -> list[Feed]:
        """The connections that are to be told something."""
        with self._lock:
            return list(self._with_news)

    def take(self, feed: Feed) -> list[Delivery]:
        """Take everything that waits for a connection; it is the caller's to send."""
        with self._lock:
            self._with_news.pop(feed, None)
            found = []
            for subscription in feed.subscriptions.values():
                if subscription.held or not subscription.has_news:
                    continue
                events = list(subscription.waiting.values())
                feed.count -= len(events)
                feed.weight_bytes -= sum(event.weight_bytes for _, event in events)
                found.append(Delivery(subscription, self._seq, subscription.resync, events))
                subscription.waiting = {}
                subscription.resync = False
            return found

    # --- inside, under the lock -----------------------------------------------------------------

    def _replay(self, subscription: Subscription, since: int, instance: str | None) -> int:
        known = instance is None or instance == self.instance
        oldest = self._ring[0].seq if self._ring else self._seq + 1
        if not known or not oldest - 1 <= since <= self._seq:
            subscription.resync = True
            return self._seq
        wanted = set(subscription.topics)
        for happening in self._ring:
            if happening.seq > since:
                topic = next((t for t in happening.topics if t in wanted), None)
                if topic is not None:
                    self._push(subscription, topic, happening)
        return since

    def _push(self, subscription: Subscription, topic: str, happening: Happening) -> None:
        feed = subscription.feed
        key = happening.key if happening.key is not None else ("once", happening.seq)
        old = subscription.waiting.pop(key, None)
        if old is not None:
            feed.count -= 1
            feed.weight_bytes -= old[1].weight_bytes
        limits = self._limits
        if (
            feed.count >= limits.waiting
            or feed.weight_bytes + happening.weight_bytes > limits.waiting_bytes
        ):
            _overflow(feed)
        # At the end, where the order of the commits puts it.
        subscription.waiting[key] = (topic, happening)
        feed.count += 1
        feed.weight_bytes += happening.weight_bytes
        if not subscription.held:
            self._with_news[feed] = None

    def _remove(self, subscription: Subscription) -> None:
        subscription.closed = True
        feed = subscription.feed
        feed.subscriptions.pop(subscription.number, None)
        for topic in subscription.topics:
            others = self._by_topic.get(topic, {})
            others.pop(subscription, None)
            if not others:
                self._by_topic.pop(topic, None)
        feed.count -= len(subscription.waiting)
        feed.weight_bytes -= sum(event.weight_bytes for _, event in subscription.waiting.values())
        subscription.waiting = {}


def _overflow(feed: Feed) -> None:
    """Too much waits: whoever waits for something is to read everything again instead."""
    for subscription in feed.subscriptions.values():
        if subscription.waiting:
            subscription.resync = True
            subscription.waiting = {}
    feed.count = 0
    feed.weight_bytes = 0
