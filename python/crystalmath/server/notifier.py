"""Sends subscribers what happened: one thread for all connections, which waits for none of them.

What happens within a few hundredths of a second goes out together, once per subscription. To a
peer that does not read nothing is sent until it has read what came before; meanwhile its news wait
in the hub, which bounds them. Called by ``connection`` (open, close, replies that are sent) and by
the hub (news).
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from crystalmath.contract.event_names import NOTIFY
from crystalmath.server.outbox import Outbox
from crystalmath.server.settings import WireLimits
from crystalmath.server.strict_json import UnencodableError, encode
from crystalmath.services.events import Delivery, EventHub, EventLimits, Feed, Happening

_log = logging.getLogger(__name__)

_RESYNC: Final = b'{"kind":"resync"}'
_HEAD: Final = b'{"jsonrpc":"2.0","method":"%b","params":' % NOTIFY.encode()


class Notifier:
    """See the module docstring.

    Parameters
    ----------
    instance
        Unique id of this run.
    every_s
        Least time between two rounds of notifications.

    Attributes
    ----------
    hub
        Where events are published and subscribed to.
    """

    def __init__(self, instance: str, limits: WireLimits, every_s: float) -> None:
        self.hub = EventHub(
            instance,
            EventLimits(
                ring=limits.kept_events,
                waiting=limits.waiting_events,
                waiting_bytes=limits.outbox_bytes,
                subscriptions=limits.subscriptions,
            ),
            on_news=self.wake,
        )
        self._every_s = every_s
        self._outboxes: dict[Feed, Outbox] = {}
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self, connection: int, outbox: Outbox) -> Feed:
        """Let a connection subscribe."""
        feed = self.hub.open(connection)
        with self._lock:
            self._outboxes[feed] = outbox
        return feed

    def close(self, feed: Feed) -> None:
        """Forget a connection."""
        self.hub.close(feed.connection)
        with self._lock:
            del self._outboxes[feed]

    def release(self, feed: Feed) -> None:
        """The replies to its subscriptions are sent: begin to tell."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="notifier", daemon=True)
                self._thread.start()
        self.hub.release(feed)

    def wake(self) -> None:
        """There are news, or a peer has read everything."""
        self._news.set()

    def _run(self) -> None:
        last_s = 0.0
        while True:
            self._news.wait()
            early_s = last_s + self._every_s - time.monotonic()
            if early_s > 0:
                time.sleep(early_s)
            self._news.clear()
            last_s = time.monotonic()
            for feed in self.hub.feeds_with_news():
                try:
                    self._tell(feed)
                except Exception:  # noqa: BLE001 - one connection must not take the others with it
                    _log.exception("cannot notify connection %d", feed.connection)

    def _tell(self, feed: Feed) -> None:
        with self._lock:
            outbox = self._outboxes.get(feed)
        # The outbox wakes us when it has become empty.
        if outbox is None or not outbox.is_empty:
            return
        for delivery in self.hub.take(feed):
            message = notification(delivery)
            with feed.sending:
                if not delivery.subscription.closed:
                    outbox.send(message)


def notification(delivery: Delivery) -> bytes:
    """The line for what one subscription is told."""
    events = [_RESYNC] if delivery.resync else []
    events += [_with_topic(topic, happening) for topic, happening in delivery.events]
    params = b'{"subscription":%d,"seq":%d,"events":[%b]}' % (
        delivery.subscription.number,
        delivery.seq,
        b",".join(events),
    )
    return b"%b%b}\n" % (_HEAD, params)


def _with_topic(topic: str, happening: Happening) -> bytes:
    """Encode once, however many are told."""
    body = happening.encoded
    if body is None:
        try:
            body = encode(dict(happening.content()))
        except UnencodableError:
            _log.exception("an event has no form in JSON")
            return _RESYNC
        happening.encoded = body
    return b'{"topic":"%b",%b' % (topic.encode(), body[1:])
