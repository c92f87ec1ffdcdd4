"""A router and a connection over a socket pair, in this process: the wire without a daemon."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from crystalmath.contract.rpc import Spec
from crystalmath.server.calls import InlineCall
from crystalmath.server.connection import ClientConnection
from crystalmath.server.dispatch import Entry, guarded
from crystalmath.server.notifier import Notifier
from crystalmath.server.router import Router
from crystalmath.server.settings import Settings, WireLimits, load_settings
from support.daemon import RawSocket


def settings(**changes: Any) -> Settings:
    """Make settings that look at nothing of this machine."""
    plain = load_settings({"HOME": "/nowhere", "CRYSTALMATH_SOCKET": "/nowhere/a.sock"})
    return replace(plain, **changes)


class Wire(RawSocket):
    """The client's end; ``lines`` holds what would be logged of finished calls.

    Parameters
    ----------
    handlers
        Method → ``handler(call, *args, **params)``, or (handler, Spec).
    """

    def __init__(
        self,
        handlers: Mapping[str, Callable[..., Any] | tuple[Callable[..., Any], Spec]],
        *,
        limits: WireLimits | None = None,
        ready: bool = True,
        **changes: Any,
    ) -> None:
        self.logged: list[tuple[InlineCall, int]] = []
        chosen = limits or WireLimits()
        made = settings(limits=chosen, **changes)
        self.router = Router(made, lambda call, size: self.logged.append((call, size)))
        self.entries = {}
        for name, handler in handlers.items():
            function, spec = (
                handler if isinstance(handler, tuple) else (handler, Spec(lane="inline"))
            )
            self.entries[name] = Entry(name, guarded(function), spec)
        self.notifier = Notifier("instance-1", chosen, made.notify_every_s)
        if ready:
            self.router.open(self.entries)
        near, far = socket.socketpair()
        near.settimeout(20)
        self.sock = near
        self._buffer = bytearray()
        self._next_id = 1000
        self.closed: list[ClientConnection] = []
        self.connection = ClientConnection(
            1, far, self.router, chosen, "trace-", self.closed.append, notifier=self.notifier
        )
        self.connection.start()
