"""The tables and the JSON document of a run."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.measure import Row, Target

SCHEMA = "crystalmath-bench-1"


def print_rows(rows: Sequence[Row]) -> None:
    """Print the figures; ratios are over the p50 of the base of the same round."""
    width = max(len(row.name) for row in rows)
    print(f"{'name':{width}}  {'n':>6} {'p50 µs':>10} {'p99 µs':>10} {'ratio p50':>10} {'p99':>8}")
    for row in rows:
        print(
            f"{row.name:{width}}  {row.n:6d} {row.p50_us:10.1f} {row.p99_us:10.1f} "
            f"{_ratio(row.ratio_p50):>10} {_ratio(row.ratio_p99):>8}"
        )


def print_targets(targets: Sequence[Target]) -> None:
    """Print the limits and whether they were kept."""
    width = max(len(target.name) for target in targets)
    print(f"\n{'target':{width}}  {'limit':>8} {'value':>9}")
    for target in targets:
        print(
            f"{target.name:{width}}  {_limit(target):>8} {target.value:9.2f}  "
            f"{_verdict(target)}".rstrip()
        )


def write_json(
    path: Path, rows: Sequence[Row], targets: Sequence[Target], codecs: Sequence[str], rounds: int
) -> None:
    """Write the document."""
    document = {
        "schema": SCHEMA,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "codec": "+".join(codecs),
        "rounds": rounds,
        "rows": [
            {
                "name": row.name,
                "n": row.n,
                "p50_us": round(row.p50_us, 2),
                "p99_us": round(row.p99_us, 2),
                "ratio_p50": row.ratio_p50,
                "ratio_p99": row.ratio_p99,
            }
            for row in rows
        ],
        "targets": [
            {
                "name": target.name,
                "limit": target.limit,
                "least": target.least,
                "value": target.value,
                "ok": target.ok,
                "provisional": target.provisional,
            }
            for target in targets
        ],
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _limit(target: Target) -> str:
    if target.limit is None:
        return ""
    return f"{'≥' if target.least else '≤'} {target.limit:g}"


def _verdict(target: Target) -> str:
    if target.limit is None:
        return ""
    if target.ok:
        return "ok"
    return "missed (provisional)" if target.provisional else "MISSED"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
