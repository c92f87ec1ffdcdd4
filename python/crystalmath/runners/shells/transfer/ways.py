"""Which way the bytes take, and what to do when one does not work on a host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from crystalmath.runners.shells.transfer.carriers import (
    Carrier,
    CarrierBroken,
    CarrierLost,
)

LARGE_BYTES: Final = 64 * 1024 * 1024
MANY_FILES: Final = 50


@dataclass(slots=True)
class Ways:
    """The carriers of a host.

    Attributes
    ----------
    carriers
        By name, in the order in which they are tried.
    broken
        Carriers that do not work on this host, and why.
    """

    carriers: Mapping[str, Carrier]
    broken: dict[str, str] = field(default_factory=dict)

    def by(self, move: Callable[[Carrier], None]) -> None:
        """Move bytes by the first carrier that works.

        Raises
        ------
        CarrierFailed, CarrierLost
        """
        for name, carrier in self.carriers.items():
            if name in self.broken:
                continue
            try:
                move(carrier)
            except CarrierBroken as err:
                self.broken[name] = str(err)
            else:
                return
        raise CarrierLost("; ".join(f"{name}: {why}" for name, why in self.broken.items()))


def is_large(sizes: Sequence[int]) -> bool:
    """Whether a transfer is worth a connection of its own."""
    return sum(sizes) > LARGE_BYTES or len(sizes) > MANY_FILES
