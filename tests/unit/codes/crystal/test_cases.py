"""Every value of the collection of real outputs, to its printed digits, with the verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from soak import outputs
from support.crystal import CASES, crystal

_NOT_OF_THE_OUTPUT: Final = {
    "deck", "parser_traps", "likely_cause", "d3_decks", "note", "warnings", "reason", "path",
}  # fmt: skip
_ELSEWHERE: Final = {
    "final_bond_length_angstrom": ("final_geometry", "shortest_distance_angstrom"),
    "input_bond_length_angstrom": ("geometry", "shortest_distance_angstrom"),
}
_FILES: Final = sorted(CASES.glob("*.expected.json")) if CASES.is_dir() else []

SEED: Final = 20260106
CUTS: Final = 12
LARGE_BYTES: Final = 16 * 1024**2

pytestmark = pytest.mark.skipif(not _FILES, reason="no folder of outputs (CRYSTALMATH_CASES)")


def differences(got: Any, wanted: Any, at: str) -> Iterator[str]:
    """What is not as it should be, with its place."""
    if isinstance(wanted, dict):
        for name, value in wanted.items():
            if name in _NOT_OF_THE_OUTPUT:
                continue
            found = got.get(name) if isinstance(got, dict) else None
            yield from differences(found, value, f"{at}.{name}")
    elif isinstance(wanted, list):
        same = isinstance(got, list) and len(got) >= len(wanted)
        if not same:
            yield f"{at}: {got!r} instead of {wanted!r}"
        else:
            for i, value in enumerate(wanted):
                yield from differences(got[i], value, f"{at}.{i}")
    elif at.endswith(".version"):
        if not str(got).startswith(wanted):
            yield f"{at}: {got!r} instead of {wanted!r}"
    elif not _agree(got, wanted):
        yield f"{at}: {got!r} instead of {wanted!r}"


def _agree(got: Any, wanted: Any) -> bool:
    if not isinstance(wanted, float):
        return bool(got == wanted)
    digits = len(f"{wanted!r}".partition(".")[2])
    return isinstance(got, float) and abs(got - wanted) <= 0.5000001 * 10.0**-digits


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.name.partition(".")[0])
def test_a_real_output_gives_its_values_and_its_verdict(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    output = next(name for name in case["files"] if name.endswith((".out", ".outp")))
    reading = crystal().read(CASES / output)
    assert reading is not None
    verdict, expected = reading.verdict, case["expected"]
    results = dict(verdict.results)
    for name, (part, member) in _ELSEWHERE.items():
        results[name] = results.get(part, {}).get(member)
    assert list(differences(results, expected, "")) == []
    assert verdict.completed == (expected["status"] == "completed")
    assert verdict.reason == expected["reason"]
    for text in expected.get("warnings", []):
        assert any(text in warning for warning in verdict.warnings)


@pytest.mark.parametrize("name", ["23_out_incomplete", "24_out_too_many_cycles"])
def test_a_piece_of_an_output_has_its_status(name: str) -> None:
    folder = CASES.parent / "structures"
    expected = json.loads((folder / f"{name}.expected.json").read_text("utf-8"))["expected"]
    reading = crystal().read(folder / f"{name}.out")
    assert reading is not None
    results = reading.verdict.results
    assert results["status"] == expected["status"]
    assert reading.verdict.reason == expected["reason"]
    assert "final_energy_hartree" not in results
    if "energy_hartree_unconverged" in expected:
        assert results["scf"]["energy_hartree"] == expected["energy_hartree_unconverged"]


def test_pieces_of_outputs_are_never_completed() -> None:
    """A sample of what ``scripts/soak outputs`` does with every line."""
    found = outputs.run(CUTS, SEED, print, size_bytes=LARGE_BYTES)
    assert found.ok, "\n".join([found.facts, *found.problems[:10]])
