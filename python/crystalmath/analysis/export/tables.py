"""Results documents as JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable

from crystalmath.analysis.results.document import Plot, ResultsDocument, Table


def json_text(results: ResultsDocument) -> str:
    """The whole document."""
    return json.dumps(results.document(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def csv_files(results: ResultsDocument) -> dict[str, str]:
    """One file for the quantities, one for each table and one for each plot.

    The first row holds names with units. Numbers are written with all their digits.
    """
    files = {"quantities.csv": _quantities(results)}
    for table in results.tables:
        files[f"{_file_name(table.name)}.csv"] = _table(table)
    for plot in results.plots:
        files[f"plot_{_file_name(plot.name)}.csv"] = _plot(plot)
    return files


def _quantities(results: ResultsDocument) -> str:
    rows = [(item.name, item.value, item.unit, item.error) for item in results.quantities]
    return _csv([("name", "value", "unit", "standard_error"), *rows])


def _table(table: Table) -> str:
    head = tuple(
        f"{column.name} ({column.unit})" if column.unit else column.name for column in table.columns
    )
    return _csv([head, *zip(*(column.values for column in table.columns), strict=True)])


def _plot(plot: Plot) -> str:
    rows = [
        (curve.label, x, y) for curve in plot.curves for x, y in zip(curve.x, curve.y, strict=True)
    ]
    return _csv([("curve", plot.x_label, plot.y_label), *rows])


def _csv(rows: Iterable[tuple[object, ...]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow(["" if value is None else value for value in row])
    return out.getvalue()


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "table"
