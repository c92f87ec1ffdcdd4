"""``events.*``: tell clients what happens, instead of being asked again and again.

Thin: the rules are in ``services.events``, the sending is the server's.
"""

from __future__ import annotations

from collections.abc import Callable

from crystalmath.contract.events import (
    SubscribeParams,
    SubscribeResult,
    UnsubscribeParams,
    UnsubscribeResult,
)
from crystalmath.contract.rpc import Call, rpc
from crystalmath.errors import NotFound, Overloaded
from crystalmath.services.events import EventHub


class EventsService:
    """Subscriptions of the calling connection; they end with it.

    Parameters
    ----------
    on_subscribed
        Called after each new subscription.
    """

    def __init__(self, hub: EventHub, on_subscribed: Callable[[], None] = lambda: None) -> None:
        self._hub = hub
        self._on_subscribed = on_subscribed

    @rpc(errors=(Overloaded,), lane="inline")
    def subscribe(self, params: SubscribeParams, call: Call) -> SubscribeResult:
        """Be told what happens under some topics, by ``events.notify`` notifications.

        None is sent before this reply. With ``since`` and ``instance`` of an earlier subscription
        nothing is lost in between; where that cannot be promised the first event is ``resync``.
        """
        number, seq = self._hub.subscribe(
            call.connection.id, params.topics, params.since, params.instance
        )
        self._on_subscribed()
        return SubscribeResult(subscription=number, seq=seq, instance=self._hub.instance)

    @rpc(errors=(NotFound,), lane="inline")
    def unsubscribe(self, params: UnsubscribeParams, call: Call) -> UnsubscribeResult:
        """End a subscription of this connection; nothing of it follows this reply."""
        self._hub.unsubscribe(call.connection.id, params.subscription)
        return UnsubscribeResult(subscription=params.subscription)
