"""Lines that go wrong in every way we can think of, from a seed.

Starts from calls that are harmless however they are changed: they read, or are dry runs of a
program that does not exist. Nothing that stops the daemon or deletes is among them.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any, Final

NOWHERE: Final = "/nonexistent-f9d1/program"

CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("system.hello", {"client": "fuzz", "protocol": [1, 1]}),
    ("system.ping", {}),
    ("system.status", {}),
    ("system.config", {}),
    ("jobs.list", {"limit": 5, "sort": "-id", "state": ["RUNNING", "FAILED"], "search": "cu"}),
    ("jobs.list", {"limit": 1, "after": "WyItaWQiLDEsMV0"}),
    ("jobs.get", {"id": 1}),
    ("jobs.log", {"id": 1, "stream": "stdout", "offset": 0, "limit": 100}),
    ("jobs.files", {"id": 1}),
    ("jobs.read_file", {"id": 1, "path": "stdout.log"}),
    ("jobs.cancel", {"ids": [1_000_001, 1_000_002]}),
    (
        "jobs.submit",
        {
            "name": "fuzz",
            "code": "command",
            "dry_run": True,
            "inputs": {"argv": [NOWHERE, "a"], "env": {"A": "b"}},
            "files": [{"path": "a.txt", "content": "x"}],
            "resources": {"ntasks": 1, "memory_mib": "1G", "walltime_s": "1:00"},
        },
    ),
    ("codes.list", {}),
    ("$/cancel", {"id": 5}),
    ("no.such.method", {"a": [1, 2.5, None, True]}),
)

ODD_VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1.5, 2**53, 2**63 - 1, 2**64 - 1, -(2**63), 1e308, "", "x", "2.0",
    "\u0000", "\u00e9\u4e2d\U0001f600", "a" * 5000, "../../etc", "/", [], {}, [[]], {"": None},
    [None] * 200, {"a": {"b": {"c": []}}}, "true", "1", "1e5", "RUNNING",
)  # fmt: skip

ODD_BYTES: Final[tuple[bytes, ...]] = (
    b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\ud800", b"\\u0000", b"NaN",
    b"Infinity", b"-Infinity", b"1e999", b"-0", b"1E400", b"0123", b"1" * 30, b"[" * 70, b"]",
    b"{", b"}", b'"', b"\\", b",", b":", b"//", b"\r", b"\t", b" ", b"\x0c", b"\xe2\x80\xa8",
    b"Content-Length: 5\r\n\r\n", b"\n", b"\n\n", b"'", b"1.", b".5", b"+1", b"\\x41", b"nul",
)  # fmt: skip


class Mutator:
    """An endless, repeatable stream of lines.

    Parameters
    ----------
    rng
        Where all choices come from.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._next_id = 0
        self._of_text: tuple[Callable[[bytearray], None], ...] = (
            self._flip, self._cut, self._drop, self._insert, self._repeat, self._overwrite,
        )  # fmt: skip

    def line(self) -> bytes:
        """The next piece; it may hold newlines of its own and ends with one."""
        rng = self._rng
        kind = rng.random()
        if kind < 0.25:
            text = _text(self._request())
        elif kind < 0.55:
            text = _text(self._bent(self._request()))
        elif kind < 0.65:
            text = _text(
                [self._bent(self._request()) for _ in range(rng.choice((0, 1, 2, 5, 101)))]
            )
        elif kind < 0.68:
            text = bytes(rng.randrange(256) for _ in range(rng.randrange(200)))
        else:
            data = bytearray(_text(self._request()))
            for _ in range(rng.choice((1, 1, 1, 2, 5))):
                rng.choice(self._of_text)(data)
            text = bytes(data)
        return text + b"\n"

    def _request(self) -> dict[str, Any]:
        method, params = self._rng.choice(CALLS)
        self._next_id += 1
        call_id: Any = self._next_id if self._rng.random() < 0.8 else f"s{self._next_id}"
        return {
            "jsonrpc": "2.0", "id": call_id, "method": method, "params": copy.deepcopy(params)
        }  # fmt: skip

    def _bent(self, request: dict[str, Any]) -> Any:
        """Change the structure: a value somewhere, a member too many or too few."""
        rng = self._rng
        what = rng.random()
        odd = rng.choice(ODD_VALUES)
        if what < 0.1:
            return odd
        if what < 0.2:
            del request[rng.choice(list(request))]
        elif what < 0.4:
            request[rng.choice(list(request))] = odd
        elif what < 0.5:
            request[rng.choice(("extra", "result", "error", "ID", ""))] = odd
        else:
            self._bend_params(request["params"], odd)
        return request

    def _bend_params(self, params: dict[str, Any], odd: Any) -> None:
        rng = self._rng
        places: list[tuple[Any, Any]] = []
        waiting: list[Any] = [params]
        while waiting:
            value = waiting.pop()
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for name, child in items:
                places.append((value, name))
                if isinstance(child, dict | list):
                    waiting.append(child)
        if places and rng.random() < 0.8:
            holder, name = rng.choice(places)
            # a dry run that is none would start a job
            if name != "dry_run":
                holder[name] = odd
        else:
            params[rng.choice(("extra", "id", "state", "\u00fc", ""))] = odd

    # --- of the text ------------------------------------------------------------------------------

    def _at(self, data: bytearray) -> int:
        return self._rng.randrange(len(data) + 1)

    def _flip(self, data: bytearray) -> None:
        if data:
            data[self._rng.randrange(len(data))] ^= 1 << self._rng.randrange(8)

    def _cut(self, data: bytearray) -> None:
        del data[self._at(data) :]

    def _drop(self, data: bytearray) -> None:
        start = self._at(data)
        del data[start : start + self._rng.randrange(1, 20)]

    def _insert(self, data: bytearray) -> None:
        start = self._at(data)
        data[start:start] = self._rng.choice(ODD_BYTES)

    def _repeat(self, data: bytearray) -> None:
        start = self._at(data)
        piece = data[start : start + self._rng.randrange(1, 40)]
        data[start:start] = piece * self._rng.choice((1, 2, 50))

    def _overwrite(self, data: bytearray) -> None:
        start = self._at(data)
        piece = self._rng.choice(ODD_BYTES)
        data[start : start + len(piece)] = piece


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
