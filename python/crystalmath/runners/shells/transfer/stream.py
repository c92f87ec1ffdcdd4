"""Moving bytes over exec: ``cat`` and ``tail``, framed like every command.

It needs nothing of a host but a POSIX shell, takes one round trip for any number of small files,
and is deaf to what start-up files print.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from crystalmath.runners.shells.exchange import SHELL, WITH_DATA, Sink, converse
from crystalmath.runners.shells.framing import Deframer, Streams, frame_script, new_token
from crystalmath.runners.shells.places import literal
from crystalmath.runners.shells.transfer.carriers import (
    CarrierFailed,
    CarrierLost,
    Fetching,
    LocalPart,
    Progress,
    Sending,
)

if TYPE_CHECKING:
    from paramiko import Channel

Channels = Callable[[Callable[[], float]], AbstractContextManager["Channel"]]
"""Lends a channel, given the time until which it is needed."""

SMALL_BYTES: Final = 1024 * 1024
_SAID_BYTES: Final = 64 * 1024
_BUNDLE: Final = ".cm-bundle.part"


class Stream:
    """Streams over channels of a pool."""

    def __init__(self, channels: Channels) -> None:
        self._channels = channels

    def send(self, directory: str, sendings: Sequence[Sending], progress: Progress) -> None:
        """Append to files of the host: large ones each, small ones together."""
        small = [s for s in sendings if s.offset == 0 and s.source.size <= SMALL_BYTES]
        for bundle in _bundles(small):
            data = (chunk for sending in bundle for chunk in sending.source.chunks(0))
            self._send(_bundle_script(directory, bundle), data, progress)
        for sending in sendings:
            if sending not in small:
                sign = ">>" if sending.offset else ">"
                script = f"cd {literal(directory)} && cat {sign}{literal(sending.part)}"
                self._send(script, sending.source.chunks(sending.offset), progress)

    def fetch(self, fetchings: Sequence[Fetching], progress: Progress) -> None:
        """Append to local files; all of them in one command."""
        token = new_token()
        streams = Streams.open(token, _SAID_BYTES)
        sink = FetchSink(token, fetchings, progress)
        try:
            with self._channels(progress.until) as channel:
                data = [frame_script(fetch_script(fetchings), token)]
                ended = converse(
                    channel, SHELL, data, sink, streams.err,
                    ended=lambda: sink.ended and streams.err.ended, until=progress.until,
                )  # fmt: skip
        finally:
            sink.close()
        if not ended:
            raise CarrierLost("the connection was lost, or nothing moved in time")
        if not sink.complete:
            said = streams.err.body.decode("utf-8", "replace").strip()
            raise CarrierFailed(said or "a file is shorter than it was")

    def _send(self, script: str, data: Iterable[bytes], progress: Progress) -> None:
        token = new_token()
        framed = frame_script(script, token, takes_input=True)
        streams = Streams.open(token, _SAID_BYTES)
        with self._channels(progress.until) as channel:
            ended = converse(
                channel, WITH_DATA, _after_script(framed, data, progress),
                streams.out, streams.err, ended=lambda: streams.ended, until=progress.until,
            )  # fmt: skip
        ran = streams.result(0.0)
        if not ended:
            raise CarrierLost("the connection was lost, or nothing moved in time")
        if ran.rc != 0:
            raise CarrierFailed(ran.err_text().strip() or f"exit code {ran.rc}")


def _after_script(script: bytes, data: Iterable[bytes], progress: Progress) -> Iterator[bytes]:
    yield f"{len(script)}\n".encode() + script
    for chunk in data:
        yield chunk
        progress.moved(len(chunk))


def _bundles(small: Sequence[Sending]) -> Iterator[list[Sending]]:
    """Group small files, so that a bundle is small itself."""
    bundle: list[Sending] = []
    size = 0
    for sending in small:
        if bundle and (size + sending.source.size > 8 * SMALL_BYTES or len(bundle) >= 100):
            yield bundle
            bundle, size = [], 0
        bundle.append(sending)
        size += sending.source.size
    if bundle:
        yield bundle


def _bundle_script(directory: str, bundle: Sequence[Sending]) -> str:
    """One file is written as it comes; several are cut out of the one that came."""
    if len(bundle) == 1:
        return f"cd {literal(directory)} && cat >{literal(bundle[0].part)}"
    name = shlex.quote(f"{_BUNDLE}.{new_token()[:10]}")
    lines = [f"cd {literal(directory)} || exit 1", f"trap 'rm -f {name}' EXIT", f"cat >{name}"]
    lines[-1] += " || exit 1"
    at = 0
    for sending in bundle:
        part, size = literal(sending.part), sending.source.size
        cut = f"tail -c +{at + 1} {name} | head -c {size} >{part}" if size else f": >{part}"
        lines.append(f"{cut} || exit 1")
        at += size
    return "\n".join(lines)


def fetch_script(fetchings: Sequence[Fetching]) -> str:
    """Write the asked bytes of each file, one after the other, and nothing else."""
    lines = []
    for one in fetchings:
        if one.count:
            path = literal(one.remote)
            lines.append(f"tail -c +{one.offset + 1} {path} | head -c {one.count}")
    return "\n".join(lines) or ":"


class FetchSink(Sink):
    """Writes what comes between the marks into the local files, without holding it."""

    def __init__(self, token: str, fetchings: Sequence[Fetching], progress: Progress) -> None:
        self._begin = f"{token} begin\n".encode()
        self._before: bytearray | None = bytearray()
        self._after = Deframer(token, _SAID_BYTES)
        self._fetchings = list(fetchings)
        self._progress = progress
        self._at = 0
        self._left = 0
        self._part: LocalPart | None = None
        self._next()

    @property
    def ended(self) -> bool:
        """Whether the end mark was seen."""
        return self._after.ended

    @property
    def complete(self) -> bool:
        """Whether every byte came, no more and no less."""
        all_there = self._at > len(self._fetchings) and self._left == 0
        return self.ended and all_there and not self._after.body

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._before is not None:
            self._before += data
            at = self._before.find(self._begin)
            if at < 0:
                del self._before[: -len(self._begin)]
                return
            data = bytes(self._before[at + len(self._begin) :])
            self._before = None
            self._after.feed(self._begin)
        while data and self._part is not None:
            taken, data = data[: self._left], data[self._left :]
            self._part.write(taken)
            self._left -= len(taken)
            self._progress.moved(len(taken))
            if self._left == 0:
                self._next()
        if data:
            self._after.feed(data)

    def close(self) -> None:
        """Close the file that is being written."""
        if self._part is not None:
            self._part.close()
            self._part = None

    def _next(self) -> None:
        self.close()
        while self._at < len(self._fetchings):
            one = self._fetchings[self._at]
            self._at += 1
            self._part, self._left = LocalPart(one), one.count
            if one.count:
                return
            self.close()
        self._at = len(self._fetchings) + 1
