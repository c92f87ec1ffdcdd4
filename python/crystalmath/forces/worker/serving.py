"""The loop of a loaded worker: one request of each client in turn, and the words of the host."""

from __future__ import annotations

import select
import socket

from . import wire
from .client import Client, ClientGone
from .control import Control, HostGone
from .desk import Desk

_MAX_CLIENTS = 4_096


class Server:
    """See the module docstring."""

    def __init__(self, control: Control, desk: Desk) -> None:
        self._control = control
        self._desk = desk
        self._clients: dict[int, Client] = {}
        self._events: dict[int, int] = {}
        self._poll = select.poll()
        self._leaving = False

    def run(self) -> None:
        """Serve until the host says EXIT or is gone."""
        control_fd = self._control.sock.fileno()
        self._poll.register(control_fd, select.POLLIN)
        self._obey()
        clients, desk, poll = self._clients, self._desk, self._poll.poll
        while not self._leaving:
            ready = poll()
            desk.waiting = len(ready)
            for fd, _event in ready:
                desk.waiting -= 1
                if fd == control_fd:
                    self._hear()
                elif (client := clients.get(fd)) is not None:
                    self._serve(fd, client)
        for client in clients.values():
            client.close()

    def _serve(self, fd: int, client: Client) -> None:
        try:
            events = client.turn()
        except ClientGone:
            self._drop(fd, client)
            return
        if events != self._events[fd]:
            self._events[fd] = events
            self._poll.modify(fd, events)

    def _hear(self) -> None:
        try:
            self._control.fill()
        except HostGone:
            self._leaving = True
            return
        self._obey()

    def _obey(self) -> None:
        for message in self._control.messages():
            if message.header.word == wire.EXIT:
                self._leaving = True
            elif message.header.word == wire.ATTACH:
                self._attach()
            else:
                raise wire.WireError(f"{message.header.word!r} on the control channel")

    def _attach(self) -> None:
        sock = socket.socket(fileno=self._control.take_descriptor())
        if len(self._clients) >= _MAX_CLIENTS:
            sock.close()
            return
        client = Client(sock, self._desk)
        fd = sock.fileno()
        self._clients[fd] = client
        self._events[fd] = select.POLLIN
        self._poll.register(fd, select.POLLIN)
        self._desk.page.attached(len(self._clients))

    def _drop(self, fd: int, client: Client) -> None:
        self._poll.unregister(fd)
        del self._clients[fd], self._events[fd]
        client.close()
        self._desk.page.attached(len(self._clients))
