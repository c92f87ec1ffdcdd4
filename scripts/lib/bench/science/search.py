"""The search in what is shipped, by a daemon that may ask nobody on the network: cold and warm."""

from __future__ import annotations

import time
from statistics import median
from typing import Any, Final

from bench.measure import US_PER_S, Ledger, Target
from rig.place import Place, RigError
from rig.wire import Wire

COLD: Final = "search MgO, the first one of a daemon, offline"
WARM: Final = "search MgO, offline"
_WARM_COUNT: Final = 30
_NOBODY: Final = {
    "CRYSTALMATH_MATERIALS_OFFLINE": "true",
    "CRYSTALMATH_MATERIALS_OPTIMADE": "nobody=http://192.0.2.1",
    "MP_API_KEY": "0123456789abcdefghijklmnopqrstuv",
}
"""An address that is none (RFC 5737) and a key that is none: both must answer that they cannot."""


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; returns the targets."""
    cold, warm = [], []
    for _ in range(rounds):
        with Place(_NOBODY) as place:
            place.start()
            with Wire(place.socket, place.patience_s) as wire:
                cold.append(_search(wire))
                warm += [_search(wire) for _ in range(_WARM_COUNT)]
            place.stop()
    ledger.add(COLD, [one * US_PER_S for one in cold])
    ledger.add(WARM, [one * US_PER_S for one in warm])
    return [
        Target("embedded search, the first of a daemon, median, s", 1, median(cold)),
        Target("embedded search, warm, median, ms", 50, median(warm) * 1e3),
    ]


def _search(wire: Wire) -> float:
    begin = time.perf_counter()
    answer: dict[str, Any] = wire.call("materials.search", {"query": "MgO"})
    taken = time.perf_counter() - begin
    status = {one["name"]: one["status"] for one in answer["meta"]["providers"]}
    if not answer["data"] or status["embedded"] != "ok" or status["nobody"] != "offline":
        raise RigError(f"the search answered {status}")
    return taken
