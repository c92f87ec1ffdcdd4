"""Mutated lines against the real socket: no crash, no silence, no reply too many.

Lines go out in bursts; after each burst all replies that the rules ask for must come within a
second, and no more. What the rules ask for is said by ``oracle``.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rig import processes
from rig.place import Place
from rig.wire import ClosedError, Wire, request_line
from soak import oracle
from soak.mutations import Mutator
from soak.outcome import Outcome, Progress, Say

BURST = 40
BURSTS_PER_CONNECTION = 25
HANG_S = 1.0
PATIENCE_S = 30.0
INTERNAL_ERROR = -32603


@dataclass(slots=True)
class _Burst:
    lines: list[bytes] = field(default_factory=list)
    replies: int = 0
    ids: Counter[str] = field(default_factory=Counter)
    echoes: Counter[str] = field(default_factory=Counter)

    def add(self, piece: bytes) -> None:
        for line in piece.split(b"\n")[:-1]:
            expected = oracle.expect(line)
            self.lines.append(line)
            self.replies += expected.replies
            self.ids.update(expected.ids)
            self.echoes.update(expected.echoes)


@dataclass(slots=True)
class _Findings:
    replies: int = 0
    slowest_s: float = 0.0
    codes: Counter[int] = field(default_factory=Counter)
    internal: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def run(count: int, seed: int, say: Say, hang_s: float = HANG_S) -> Outcome:
    """Send ``count`` mutated lines.

    Parameters
    ----------
    hang_s
        A burst whose replies take longer is a problem.
    """
    mutator = Mutator(random.Random(seed))
    progress = Progress(count, say)
    found = _Findings()
    sent = 0
    with Place() as place:
        pid = place.start()
        while sent < count and processes.is_running(pid):
            with Wire(place.socket, PATIENCE_S) as wire:
                for _ in range(BURSTS_PER_CONNECTION):
                    burst = _make_burst(mutator, min(BURST, count - sent))
                    sent += len(burst.lines)
                    if not burst.lines or not _exchange(wire, burst, found, hang_s):
                        break
                    progress.at(sent)
        if not processes.is_running(pid) or place.pid() != pid:
            found.problems.append(f"the daemon has died{place.log_tail()}")
        else:
            found.problems += _jobs_made(place)
        found.problems += place.tracebacks()
    codes = ", ".join(f"{n} × {code}" for code, n in sorted(found.codes.items()))
    return Outcome(
        f"{sent} lines, {found.replies} replies, slowest burst {found.slowest_s * 1000:.0f} ms; "
        f"errors: {codes}",
        found.problems,
    )


def _make_burst(mutator: Mutator, lines: int) -> _Burst:
    burst = _Burst()
    while len(burst.lines) < lines:
        burst.add(mutator.line())
    return burst


def _exchange(wire: Wire, burst: _Burst, found: _Findings, hang_s: float) -> bool:
    """Send a burst and judge the replies; False when the connection is of no more use."""
    replies: list[bytes] = []
    begin = time.monotonic()
    try:
        wire.sock.sendall(b"\n".join(burst.lines) + b"\n")
        replies += (wire.read_line() for _ in range(burst.replies))
    except TimeoutError:
        lack = burst.replies - len(replies)
        found.problems.append(f"{lack} replies are missing of {_shown(burst, replies)}")
        return False
    except (ClosedError, OSError) as error:
        found.problems.append(f"cut off ({error}) at {_shown(burst, replies)}")
        return False
    took_s = time.monotonic() - begin
    found.replies += len(replies)
    found.slowest_s = max(found.slowest_s, took_s)
    if took_s > hang_s:
        found.problems.append(f"{took_s:.2f} s for {_shown(burst, [])}")
    _judge(burst, replies, found)
    return _nothing_more(wire, burst, found)


def _judge(burst: _Burst, raw: list[bytes], found: _Findings) -> None:
    got: Counter[str] = Counter()
    for line in raw:
        if not oracle.expect(line).parsed:
            found.problems.append(f"a reply that is no JSON as agreed: {line[:300]!r}")
            continue
        reply = json.loads(line)
        for one in reply if isinstance(reply, list) else [reply]:
            got[oracle.key(one.get("id"))] += 1
            code = one["error"]["code"] if "error" in one else None
            if code is not None:
                found.codes[code] += 1
            if code == INTERNAL_ERROR:
                _note_internal(burst, one.get("id"), found)
    for call_id in burst.ids:
        # an id that more than one line bears may also be refused under null
        if call_id != "null" and burst.echoes[call_id] == 1 and got[call_id] != 1:
            found.problems.append(
                f"{got[call_id]} replies for id {call_id} of {_shown(burst, raw)}"
            )


def _nothing_more(wire: Wire, burst: _Burst, found: _Findings) -> bool:
    """Ping: its reply must be the next thing that comes."""
    sentinel = "the end of the burst"
    wire.sock.sendall(
        request_line("system.ping").replace(b'"id":1', b'"id":"%s"' % sentinel.encode())
    )
    reply: Any = json.loads(wire.read_line())
    if isinstance(reply, dict) and reply.get("id") == sentinel:
        return True
    found.problems.append(f"one reply too many, {json.dumps(reply)[:300]}, of {_shown(burst, [])}")
    return False


def _note_internal(burst: _Burst, call_id: object, found: _Findings) -> None:
    """Note an internal error, once per method: what a client sends must never cause one."""
    key = oracle.key(call_id)
    line = next((line for line in burst.lines if key in oracle.expect(line).ids), b"")
    method = next((e["method"] for e in _flat(json.loads(line)) if oracle.is_call(e)), "?")
    if method not in found.internal:
        found.problems.append(f"{method} ends in an internal error: {line[:500]!r}")
    found.internal[method] += 1


def _shown(burst: _Burst, replies: list[bytes]) -> str:
    """The lines that are not answered, as far as ids tell."""
    answered = {oracle.key(one.get("id")) for line in replies for one in _flat(json.loads(line))}
    left = [
        line
        for line in burst.lines
        if (e := oracle.expect(line)).replies and not (e.ids and set(e.ids) <= answered)
    ]
    return f"{len(burst.lines)} lines, of which {[line[:200] for line in left]!r}"


def _flat(message: Any) -> list[Any]:
    return message if isinstance(message, list) else [message]


def _jobs_made(place: Place) -> list[str]:
    """A mutated dry run may become a submission; its program is nowhere, so it must fail."""
    with Wire(place.socket) as wire:
        jobs = wire.call("jobs.list", {"state": "COMPLETED"})["data"]
    return [f"job {job['id']} of the fuzz has run: {job['name']!r}" for job in jobs]
