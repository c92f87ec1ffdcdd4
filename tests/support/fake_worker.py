"""A worker that lies, hangs and dies on demand; speaks the wire with the standard library alone.

Its ``options`` say how: ``load`` (hang, raise, input, exit, nonsense, print), ``load_s``, ``call``
(hang, exit, segv, spin), ``call_s``, ``rss_mib``, ``stubborn`` (ignores TERM), ``fail_atoms``.
Energy is the sum of the positions; forces are the positions. Run as a program.
"""

from __future__ import annotations

import argparse
import array
import json
import mmap
import os
import selectors
import signal
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

# Started isolated, as workers are: what it needs is brought in by its path.
sys.path.insert(0, str(Path(__file__).parents[2] / "python/crystalmath/forces"))

from worker import plain, wire  # type: ignore[import-not-found]

_ABORT = 11


class Page:
    """The status page."""

    def __init__(self, fd: int) -> None:
        self._map = mmap.mmap(fd, wire.STATUS_BYTES)
        self.fields: list[Any] = [wire.STATUS_MAGIC, 0, 0, 0, 0, 0.0, 0.0, 0, 0, 0.0, 0.0, 0, b""]

    def write(self, **changes: Any) -> None:
        names = ("magic", "begun", "done", "structures", "evaluations", "started_at", "allowance_s",
                 "clients", "atoms", "last_done_at", "computing_s", "waiting", "phase")  # fmt: skip
        for name, value in changes.items():
            self.fields[names.index(name)] = value
        wire.STATUS.pack_into(self._map, 0, *self.fields)


def exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionResetError
        data += more
    return data


def message(word: str, document: Any = None) -> bytes:
    data: bytes = plain.render_message(wire.pad_word(word), document)
    return data


class Worker:
    def __init__(self, control: socket.socket, page: Page) -> None:
        self.control = control
        self.page = page
        self.options: dict[str, Any] = {}
        self.lock = threading.Lock()
        self.phase = "starting"
        self.clients: set[socket.socket] = set()

    def say(self, data: bytes) -> None:
        with self.lock:
            self.control.sendall(data)

    def agree(self) -> dict[str, Any]:
        assert exactly(self.control, 12).strip() == b"STATUS"
        self.say(b"NEEDINIT".ljust(12))
        assert exactly(self.control, 12).strip() == b"INIT"
        _, n = struct.unpack("<ii", exactly(self.control, 8))
        assert exactly(self.control, n).startswith(b"CMW1 ")
        head = wire.HEADER.unpack(exactly(self.control, 64))
        assert head[0].strip() == b"CONFIG"
        config: dict[str, Any] = json.loads(exactly(self.control, head[-2]))
        return config

    def beat(self) -> None:
        while True:
            rss = self.options.get("rss_mib", 10) * 1024 * 1024
            try:
                self.say(message("BEAT", {"phase": self.phase, "rss_bytes": rss,
                                          "memory_points": self.options.get("points", []),
                                          "clients": len(self.clients)}))  # fmt: skip
            except OSError:
                return
            time.sleep(0.1)

    def run(self) -> None:
        config = self.agree()
        self.options = config["options"]
        if self.options.get("stubborn"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.phase = "importing"
        threading.Thread(target=self.beat, daemon=True).start()
        self.load()
        self.say(message("CONFIG", {
            "properties": ["energy", "forces"], "elements": None, "info_keys": [],
            "dtype": config["dtype"] or "float64", "device": config["device"],
            "versions": {"fake": "1.0"}, "load_s": 0.25, "threads": config["threads"],
            "pid": os.getpid(), "memory_points": config["memory_points"],
        }))  # fmt: skip
        self.page.write(phase=b"ready")
        self.serve()

    def load(self) -> None:
        how = self.options.get("load")
        if how == "hang":
            time.sleep(1000)
        if how == "raise":
            self.say(message("FAULT", {"kind": "forces", "message": "no such weights"}))
            os._exit(1)
        if how == "input":
            self.say(message("FAULT", {"kind": "input_rejected", "message": "no such option",
                                       "field": "options"}))  # fmt: skip
            os._exit(1)
        if how == "exit":
            sys.stderr.write("cannot import name 'weights'\n")
            os._exit(3)
        if how == "nonsense":
            self.say(b"x" * 256)
        if how == "print":
            sys.stderr.write("p" * 10_000_000)
        time.sleep(self.options.get("load_s", 0))

    def serve(self) -> None:
        selector = selectors.DefaultSelector()
        selector.register(self.control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is self.control:
                    data, rights, _, _ = self.control.recvmsg(64, 64)
                    if not data or data[:12].strip() == b"EXIT":
                        os._exit(0)
                    fds = array.array("i")
                    fds.frombytes(rights[0][2][: fds.itemsize])
                    client = socket.socket(fileno=fds[0])
                    client.setblocking(True)
                    self.clients.add(client)
                    selector.register(client, selectors.EVENT_READ)
                else:
                    self.answer(selector, key.fileobj)
                self.page.write(clients=len(self.clients))

    def answer(self, selector: selectors.BaseSelector, client: Any) -> None:
        try:
            head = wire.parse_header(exactly(client, 64))
            payload = exactly(client, head.payload)
        except OSError:
            selector.unregister(client)
            self.clients.discard(client)
            client.close()
            return
        began = time.monotonic()
        allowance = head.seconds or self.options.get("allowance_s", 300.0)
        self.page.write(begun=self.page.fields[1] + 1, started_at=began, allowance_s=allowance,
                        atoms=head.atoms, phase=b"evaluating")  # fmt: skip
        self.misbehave()
        seconds = time.monotonic() - began
        answered = self.page.fields[3] + head.structures
        self.page.write(done=self.page.fields[2] + 1, structures=answered, evaluations=answered,
                        started_at=0.0,
                        last_done_at=time.monotonic(), phase=b"ready",
                        computing_s=self.page.fields[10] + seconds)  # fmt: skip
        try:
            client.sendall(self.compute(head, payload, seconds))
        except OSError:
            return

    def compute(self, head: Any, payload: bytes, seconds: float) -> bytes:
        structures = plain.parse_request(plain.Message(head, payload))
        arrays, faults = [], []
        for i, one in enumerate(structures):
            positions = [x for position in one.positions for x in position]
            arrays.append({"energy": [sum(positions)], "forces": positions})
            if len(one.numbers) == self.options.get("fail_atoms"):
                faults.append({"index": i, "kind": "unsupported_species", "message": "not these"})
        counts = [len(one.numbers) for one in structures]
        answer: bytes = plain.render_result(head, counts, arrays, faults=faults, seconds=seconds)
        return answer

    def misbehave(self) -> None:
        how = self.options.get("call")
        if how == "hang":
            time.sleep(1000)
        if how == "spin":
            while True:
                pass
        if how == "exit":
            sys.stderr.write("giving up\n")
            os._exit(7)
        if how == "segv":
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.kill(os.getpid(), _ABORT)
        time.sleep(self.options.get("call_s", 0))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--control", type=int)
    parser.add_argument("--status", type=int)
    parser.add_argument("--declaration")
    given = parser.parse_args()
    Worker(socket.socket(fileno=given.control), Page(given.status)).run()


if __name__ == "__main__":
    main()
