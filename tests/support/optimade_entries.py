"""Our entries as a database that follows the whole specification holds them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from crystalmath.domain.composition import anonymous, parse_formula
from support.optimade_server import entries

WHOLE = ("1000053", "2000001", "disordered", "layer", *(f"cao-{n}" for n in range(7)))
"""The entries that are no faults of a database."""

MANY = 45
"""More than two of the pages that are asked for."""


def write_jsonl(path: Path) -> None:
    """Write them as the reference server reads them, with what it wants of every structure."""
    lines: list[dict[str, Any]] = [{"x-optimade": {"meta": {"api_version": "1.1.0"}}}]
    whole = [entry for entry in entries() if entry["id"] in WHOLE]
    lines += [
        {**entry, "attributes": entry["attributes"] | _rest(entry["attributes"])}
        for entry in [*whole, *_many(whole)]
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def _many(whole: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """So many crystals of SrO, for more than one page."""
    text = json.dumps(next(entry for entry in whole if entry["id"] == "cao-0"))
    # in the order of the alphabet, as the specification wants it
    text = text.replace("CaO", "OSr").replace('["Ca", "O"]', '["O", "Sr"]').replace('"Ca"', '"Sr"')
    return [json.loads(text) | {"id": f"sro-{n}"} for n in range(MANY)]


def _rest(known: dict[str, Any]) -> dict[str, Any]:
    formula = known["chemical_formula_reduced"]
    amounts: Counter[str] = Counter()
    species = {one["name"]: one for one in known["species"]}
    for name in known["species_at_sites"]:
        one = species[name]
        for symbol, amount in zip(one["chemical_symbols"], one["concentration"], strict=True):
            amounts[symbol] += amount
    total = sum(amounts[symbol] for symbol in known["elements"])
    return {
        "elements_ratios": [amounts[symbol] / total for symbol in known["elements"]],
        "chemical_formula_anonymous": anonymous(parse_formula(formula)),
        "chemical_formula_descriptive": formula,
        "nperiodic_dimensions": sum(known["dimension_types"]),
        "last_modified": "2024-01-01T00:00:00Z",
    }
