"""Telling a command's own output from what the host adds to it. Pure, sans-I/O.

The program that is executed is ``/bin/sh`` alone, whatever the login shell is; the script arrives
on its standard input, so that nothing is quoted twice and nothing shows in the process list. On
both streams the command's bytes stand between ``TOKEN begin`` and ``TOKEN end RC``, with a token
that is random in each call: what lies outside is noise, and without the end the answer is
incomplete.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Final

from crystalmath.services.ports_shell import Ran

_NOISE_BYTES: Final = 16 * 1024
_END = re.compile(rb" end (\d{1,3})\n")
_END_BYTES: Final = len(b" end 255\n")


def new_token() -> str:
    """Return a token that no output holds by accident."""
    return "cm" + secrets.token_hex(16)


def frame_script(
    script: str, token: str, setup_commands: tuple[str, ...] = (), *, takes_input: bool = False
) -> bytes:
    """Return what the shell is given on its standard input.

    Parameters
    ----------
    setup_commands
        Lines that run before, in the same environment, with their output put aside.
    takes_input
        The script reads the standard input of the shell, which was given the script otherwise.
    """
    no_input = "" if takes_input else " </dev/null"
    setup = "\n".join(setup_commands)
    prepared = (
        f"printf '%s setup\\n' {token}\n{{\n{setup}\n}} </dev/null >/dev/null 2>&1\n"
        if setup.strip()
        else ""
    )
    return (
        f"{prepared}printf '%s begin\\n' {token}; printf '%s begin\\n' {token} >&2\n"
        f"(\n{script}\n){no_input}\n"
        f"cm_rc=$?\n"
        f"printf '%s end %d\\n' {token} $cm_rc; printf '%s end %d\\n' {token} $cm_rc >&2\n"
        "exit 0\n"
    ).encode()


class Deframer:
    """Collects one stream.

    Parameters
    ----------
    cap_bytes
        More of the command's bytes than this are dropped, and the answer is incomplete.
    """

    def __init__(self, token: str, cap_bytes: int) -> None:
        self._begin = f"{token} begin\n".encode()
        self._token = token.encode()
        self._setup = f"{token} setup\n".encode()
        self._cap = cap_bytes
        self._noise = bytearray()
        self._body = bytearray()
        self._tail = bytearray()
        self._begun = False
        self._dropped = False
        self.rc: int | None = None

    @property
    def ended(self) -> bool:
        """Whether the end was seen."""
        return self.rc is not None

    @property
    def complete(self) -> bool:
        """Whether the end was seen and nothing was dropped."""
        return self.ended and not self._dropped

    @property
    def body(self) -> bytes:
        """The command's own bytes so far."""
        return bytes(self._body) if self.ended else bytes(self._body + self._tail)[: self._cap]

    @property
    def noise(self) -> bytes:
        """What the host wrote around them."""
        return bytes(self._before()[:_NOISE_BYTES]).replace(self._setup, b"")

    @property
    def in_setup(self) -> bool:
        """Whether the lines before the command have begun, and the command has not."""
        return not self._begun and self._setup in self._before()

    def _before(self) -> bytes:
        return bytes(self._noise if self._begun else self._noise + self._tail)

    def feed(self, data: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        if self.ended:
            self._noise += data[:_NOISE_BYTES]
            return
        self._tail += data
        if not self._begun:
            at = self._tail.find(self._begin)
            if at < 0:
                keep = len(self._begin) - 1
                self._noise += self._tail[:-keep] if len(self._noise) < _NOISE_BYTES else b""
                del self._tail[:-keep]
                return
            self._noise += self._tail[:at]
            del self._tail[: at + len(self._begin)]
            self._begun = True
        self._look_for_end()

    def _look_for_end(self) -> None:
        at = self._tail.find(self._token)
        while at >= 0:
            match = _END.match(self._tail, at + len(self._token))
            if match is not None:
                rc, rest = int(match[1]), bytes(self._tail[match.end() :])
                self._take(at)
                self.rc = rc
                self._noise += rest[:_NOISE_BYTES]
                self._tail.clear()
                return
            if len(self._tail) - at < len(self._token) + _END_BYTES:
                break  # the rest of the mark may still come
            at = self._tail.find(self._token, at + 1)
        # A mark may begin in the last bytes: they wait.
        safe = len(self._tail) - len(self._token) - _END_BYTES if at < 0 else at
        if safe > 0:
            self._take(safe)

    def _take(self, n: int) -> None:
        room = self._cap - len(self._body)
        self._dropped = self._dropped or n > room
        self._body += self._tail[: min(n, max(0, room))]
        del self._tail[:n]


@dataclass(frozen=True, slots=True)
class Streams:
    """Both streams of one command."""

    out: Deframer
    err: Deframer

    @classmethod
    def open(cls, token: str, cap_bytes: int) -> Streams:
        """Two empty streams."""
        return cls(Deframer(token, cap_bytes), Deframer(token, cap_bytes))

    @property
    def ended(self) -> bool:
        """Whether both ends were seen."""
        return self.out.ended and self.err.ended

    def result(self, seconds: float, *, shell_ended: bool = False) -> Ran:
        """The end of the command; without both end marks the exit code is unknown.

        Parameters
        ----------
        shell_ended
            It is known that the shell came to its end, and was not cut off.
        """
        return Ran(
            rc=self.out.rc if self.ended else None,
            out=self.out.body,
            err=self.err.body,
            complete=self.out.complete and self.err.complete,
            seconds=seconds,
            noise=self.out.noise + self.err.noise,
            ended_in_setup=shell_ended and self.out.in_setup,
        )
