"""Tables of pseudopotentials with their cutoffs, like those of SSSP: JSON, element by element."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

MAX_BYTES: Final = 4 * 1024**2


@dataclass(frozen=True, slots=True)
class Row:
    """What a table says of an element.

    Attributes
    ----------
    wfc_cutoff_ry, rho_cutoff_ry
        None where it says nothing.
    md5
        Of the file that it means, None where it does not say.
    """

    file: str
    wfc_cutoff_ry: float | None
    rho_cutoff_ry: float | None
    md5: str | None


def load_table(path: Path) -> Mapping[str, Row] | None:
    """Read a table; None when the file is none."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict):
        return None
    rows = {element: _row(one) for element, one in document.items() if isinstance(one, dict)}
    known = {element: row for element, row in rows.items() if row is not None}
    return known or None


def _row(given: Mapping[str, Any]) -> Row | None:
    name = given.get("filename")
    if not isinstance(name, str) or not name or "/" in name:
        return None
    wfc = _positive(given.get("cutoff_wfc", given.get("cutoff")))
    rho = _positive(given.get("cutoff_rho"))
    dual = _positive(given.get("dual", given.get("rho_cutoff_factor")))
    if rho is None and wfc is not None and dual is not None:
        rho = wfc * dual
    md5 = given.get("md5")
    return Row(name, wfc, rho, md5.lower() if isinstance(md5, str) and md5 else None)


def _positive(value: Any) -> float | None:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if 0 < found < 1e6 else None
