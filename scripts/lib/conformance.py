"""What the tests have measured of other programs that speak i-PI, as the tables of docs/ipi.md.

``scripts/conformance`` runs the tests, with the testbed, and writes the record and the page;
``--render`` writes the page from the record as it is, ``--check`` compares only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from crystalmath.forces.ipi.quirks import PROGRAMS, Quirks
from suite.groups import RUN_TESTBED

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/ipi.md"
RECORD = ROOT / "tests/fixtures/ipi/conformance.json"
RECORD_TO = "CRYSTALMATH_CONFORMANCE"
"""Names the file to which the tests append: see ``tests/support/ipi.py``."""
TESTS = ("tests/integration", "tests/testbed")

Row = dict[str, str]
COLUMNS = {
    "transport": "over",
    "energy": "energy, relative",
    "forces": "forces, eV/Å",
    "stress": "stress, eV/Å³",
    "strain": "strain derivatives, eV/Å³",
    "relax": "relaxation",
    "init": "asks for INIT",
    "consolidated": "consolidated",
    "exit_code": "exit code",
}
TITLES = {
    **{name: record.title for name, record in PROGRAMS.items()},
    "ase-server": "ASE SocketIOCalculator drives our worker",
    "i-pi-server": "i-PI's server drives our worker",
}
_LARGEST = frozenset({"energy", "forces", "stress", "strain"})


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; 0 when all is well."""
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--render", action="store_true", help="write the page, run no test")
    how.add_argument("--check", action="store_true", help="compare the page, write nothing")
    given = parser.parse_args(arguments)
    if not (given.render or given.check):
        rows = measure()
        if rows is None:
            print("a test failed: nothing was written", file=sys.stderr)
            return 1
        RECORD.parent.mkdir(exist_ok=True)
        text = json.dumps(rows, indent=1, ensure_ascii=False, sort_keys=True)
        RECORD.write_text(text + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    new = fill_in(page, tables(json.loads(RECORD.read_text(encoding="utf-8"))))
    if given.check:
        if new != page:
            print(f"{PAGE.name} is not up to date: run scripts/conformance --render")
        return int(new != page)
    PAGE.write_text(new, encoding="utf-8")
    print(new)
    return 0


def measure() -> dict[str, Row] | None:
    """Run the tests of foreign programs; None when one failed."""
    with tempfile.TemporaryDirectory(prefix="crystalmath-conformance-") as folder:
        told = Path(folder) / "told.jsonl"
        environment = {**os.environ, RECORD_TO: str(told), RUN_TESTBED: "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-k", "test_ipi", *TESTS]
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        if done.returncode != 0:
            return None
        return merge(json.loads(line) for line in told.read_text(encoding="utf-8").splitlines())


def merge(told: Iterable[Mapping[str, Any]]) -> dict[str, Row]:
    """One row for each program: the largest difference, and all that was seen of the rest."""
    rows: dict[str, Row] = {}
    for one in told:
        row = rows.setdefault(one["program"], {"version": one["version"]})
        if row["version"] != one["version"]:
            raise SystemExit(f"two versions of {one['program']}")
        for check, value in one["checks"].items():
            row[check] = _combine(check, row.get(check), str(value))
    return rows


def _combine(check: str, before: str | None, value: str) -> str:
    if before is None:
        return value
    if check in _LARGEST:
        return max(before, value, key=float)
    return ", ".join(sorted({*before.split(", "), value}))


def tables(rows: Mapping[str, Row]) -> dict[str, str]:
    """Render the tables by the names of their places in the page."""
    return {"measured": _measured(rows), "programs": _programs(rows)}


def _measured(rows: Mapping[str, Row]) -> str:
    lines = [["program", "version", *COLUMNS.values()]]
    for name in (*PROGRAMS, "ase-server", "i-pi-server"):
        if (row := rows.get(name)) is None:
            continue
        cells = [row.get(column, "–") for column in COLUMNS]
        lines.append([TITLES[name], row["version"], *cells])
    return _table(lines)


def _programs(rows: Mapping[str, Row]) -> str:
    lines = [
        ["name", "program", "known by", "structure and order from", "stress", "know before use"]
    ]
    for name, record in PROGRAMS.items():
        known = "driven here" if name in rows else "source and reports"
        lines.append(
            [f"`{name}`", record.title, known, record.structure, _stress(record), _know(record)]
        )
    return _table(lines)


def _stress(record: Quirks) -> str:
    if record.stress == "on_request":
        return f"on request: {record.stress_request}"
    return {"always": "always", "never": "never"}[record.stress]


def _know(record: Quirks) -> str:
    said = [*record.notes]
    if record.wrong_count:
        said.append(f"another number of atoms: {record.wrong_count}")
    if record.spins_when_closed:
        said.append("a host that is killed leaves it behind")
    if record.cell == "triangular":
        said.append(
            "the structure is turned so that a lies along x and b in the xy plane, and back"
        )
    if record.virial == "upper":
        said.append("sends one triangle of the virial; it is mirrored")
    return "; ".join(said)


def _table(lines: Sequence[Sequence[str]]) -> str:
    head, *body = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    rows = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def fill_in(page: str, parts: Mapping[str, str]) -> str:
    """Put the tables between their marks."""
    for name, table in parts.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if len(mark.findall(page)) != 1:
            raise SystemExit(f"{PAGE.name} must have one place for {name}")
        before, after = mark.split(page, maxsplit=1)[::3]
        page = f"{before}<!-- {name} -->\n{table}\n<!-- end -->{after}"
    return page


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
