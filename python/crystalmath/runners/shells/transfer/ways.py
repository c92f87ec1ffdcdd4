"""Which way the bytes take, and what to do when one does not work on a host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from crystalmath.runners.shells.transfer.carriers import (
    CarrierBroken,
    CarrierLost,
    Fetcher,
    Progress,
    Sender,
    Sending,
)

LARGE_BYTES: Final = 64 * 1024 * 1024
MANY_FILES: Final = 50


@dataclass(slots=True)
class Ways:
    """The ways to a host and back.

    Attributes
    ----------
    senders
        By name, in the order in which they are tried.
    broken
        Senders that do not work on this host, and why.
    """

    senders: Mapping[str, Sender]
    fetcher: Fetcher
    broken: dict[str, str] = field(default_factory=dict)

    def send(self, directory: str, sendings: Sequence[Sending], progress: Progress) -> None:
        """Bring bytes by the first sender that works.

        Raises
        ------
        CarrierFailed, CarrierLost
        """
        for name, sender in self.senders.items():
            if name in self.broken:
                continue
            try:
                sender.send(directory, sendings, progress)
            except CarrierBroken as err:
                self.broken[name] = str(err)
            else:
                return
        raise CarrierLost("; ".join(f"{name}: {why}" for name, why in self.broken.items()))


def is_large(sizes: Sequence[int]) -> bool:
    """Whether a transfer is worth a connection of its own."""
    return sum(sizes) > LARGE_BYTES or len(sizes) > MANY_FILES
