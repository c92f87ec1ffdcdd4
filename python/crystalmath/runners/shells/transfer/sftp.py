"""Bringing bytes by SFTP. A client belongs to the thread that opened it, so each call has its own.

Files are fetched as a stream instead: the library fetches ahead in threads of its own.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Final

from crystalmath.runners.shells.exchange import start
from crystalmath.runners.shells.transfer.carriers import (
    CarrierBroken,
    CarrierFailed,
    CarrierLost,
    Progress,
    Sending,
)

if TYPE_CHECKING:
    from paramiko import Channel, SFTPClient, SFTPFile

OPEN_S: Final = 10.0
_ONE_WRITE_BYTES: Final = 32768

Channels = Callable[[Callable[[], float]], AbstractContextManager["Channel"]]
"""Lends a channel, given the time until which it is needed."""


class Sftp:
    """SFTP over channels of a pool."""

    def __init__(self, channels: Channels) -> None:
        self._channels = channels

    def send(self, directory: str, sendings: Sequence[Sending], progress: Progress) -> None:
        """Append to files of the host."""
        with self._client(progress) as client:
            for sending in sendings:
                self._send_one(client, f"{directory}/{sending.part}", sending, progress)

    @contextmanager
    def _client(self, progress: Progress) -> Iterator[SFTPClient]:
        with self._channels(progress.until) as channel, _translated(channel):
            client = open_client(channel, min(OPEN_S, progress.left()))
            yield client

    def _send_one(
        self, client: SFTPClient, path: str, sending: Sending, progress: Progress
    ) -> None:
        with _opened(client, path, "r+b" if sending.offset else "wb") as file:
            file.seek(sending.offset)
            file.set_pipelined(sending.source.size - sending.offset > _ONE_WRITE_BYTES)
            for chunk in sending.source.chunks(sending.offset):
                file.settimeout(progress.left())
                file.write(chunk)
                progress.moved(len(chunk))
            file.settimeout(progress.left())
        # Of writes that were not waited for, the library forgets the failures.
        channel = client.get_channel()
        assert channel is not None
        channel.settimeout(progress.left())
        if client.stat(path).st_size != sending.source.size:
            raise CarrierFailed("the file was not written whole")


def open_client(channel: Channel, timeout_s: float) -> SFTPClient:
    """Open an SFTP session.

    Raises
    ------
    CarrierBroken
        The host has none, or its start-up files write into it.
    CarrierLost
    """
    import paramiko

    channel.settimeout(timeout_s)
    began = time.monotonic()
    try:
        start(channel, "subsystem", "sftp")
        return paramiko.SFTPClient(channel)
    except TimeoutError as err:
        raise CarrierBroken(f"no answer within {time.monotonic() - began:.0f} s") from err
    except (paramiko.SSHException, paramiko.SFTPError, EOFError, OSError, struct.error) as err:
        transport = channel.get_transport()
        if transport is None or not transport.is_active():
            raise CarrierLost(str(err)) from err
        garbled = isinstance(err, paramiko.SFTPError)
        said = "start-up files write into it" if garbled else "the host has none"
        raise CarrierBroken(said) from err


@contextmanager
def _opened(client: SFTPClient, path: str, mode: str) -> Iterator[SFTPFile]:
    try:
        file = client.open(path, mode)
    except FileNotFoundError as err:
        # Commands have just seen the directory: this SFTP server shows another tree.
        raise CarrierBroken(f"it does not show {path}") from err
    with file:
        yield file


@contextmanager
def _translated(channel: Channel) -> Iterator[None]:
    """Turn what the library raises into what happened."""
    import paramiko

    try:
        yield
    except (CarrierBroken, CarrierFailed, CarrierLost):
        raise
    except TimeoutError as err:
        raise CarrierLost("nothing moved in time") from err
    except paramiko.SFTPError as err:
        raise CarrierBroken(str(err)) from err
    except (paramiko.SSHException, EOFError) as err:
        raise CarrierLost(str(err) or "connection closed") from err
    except OSError as err:
        transport = channel.get_transport()
        if channel.closed or transport is None or not transport.is_active():
            raise CarrierLost(str(err)) from err
        raise CarrierFailed(str(err)) from err
