"""Draws a plot as text: braille dots, or plain ASCII. What is not in the document is not drawn.

Lines are dots, points are marks, one kind for each curve. Run by a worker process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Final

from crystalmath.analysis.results.document import Curve, Plot
from crystalmath.errors import InputRejected

COLUMNS: Final = 80
ROWS: Final = 20
SMALLEST: Final = (40, 8)
"""Columns and rows below which a drawing tells nothing."""
_FEW: Final = 6
"""More curves than this are drawn without a legend: the modes of bands."""
_MARKS: Final = "o*+x#@"
_LINES: Final = ((1, 0, "⠒⠒⠒", "."), (4, 4, "⠒ ⠒", ":"), (1, 3, "⠂ ⠂", "'"), (8, 3, "⠒⠒ ", "~"))
"""The lines of few curves: dots, dots left out, the sign in the legend; the sign in ASCII."""
_BITS: Final = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


@dataclass(frozen=True, slots=True)
class _Span:
    """What an axis shows."""

    low: float
    high: float

    def place(self, value: float, cells: int) -> int:
        """The cell of a value among so many."""
        share = (value - self.low) / (self.high - self.low)
        return round(min(1.0, max(0.0, share)) * (cells - 1))


def drawing(plot: Plot, columns: int = COLUMNS, rows: int = ROWS, *, ascii_only: bool) -> str:
    """Draw a plot as lines of text.

    Parameters
    ----------
    columns, rows
        The size of the whole, title, legend and axes included.
    ascii_only
        No character beyond ASCII but those of the labels.

    Raises
    ------
    InputRejected
        It is too small, or there is nothing to draw.
    """
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        raise InputRejected(
            f"a drawing needs {SMALLEST[0]} columns and {SMALLEST[1]} rows", field="columns"
        )
    points = [(x, y) for curve in plot.curves for x, y in zip(curve.x, curve.y, strict=True)]
    if not points:
        raise InputRejected(f"the plot {plot.name} has no points", field="kind")
    x_span = _span([x for x, _ in points])
    if plot.ticks:
        x_span = _Span(plot.ticks[0][0], plot.ticks[-1][0])
    y_span = _span([y for _, y in points])
    legend = _legend(plot, columns, ascii_only)
    heading = [_cut(plot.title, columns), *legend, _cut(plot.y_label, columns)]
    high = rows - len(heading) - 3
    if high < 3:
        raise InputRejected(f"{len(heading)} lines of legend leave no room", field="rows")
    y_marks = _marks(y_span, max(2, high // 4))
    left = max(len(label) for _, label in y_marks)
    canvas = _Canvas(columns - left - 2, high, ascii_only)
    for at in plot.breaks:
        canvas.upright(x_span.place(at, canvas.columns))
    for number, curve in enumerate(plot.curves):
        canvas.curve(curve, x_span, y_span, _MARKS[number % len(_MARKS)], _line_of(plot, number))
    by_row = {high - 1 - y_span.place(at, high): label for at, label in y_marks}
    bar = "|" if ascii_only else "│"
    body = [
        f"{by_row.get(row, ''):>{left}} {bar}{line}".rstrip()
        for row, line in enumerate(canvas.lines())
    ]
    x_marks = list(plot.ticks) or _marks(x_span, max(2, canvas.columns // 14))
    foot = _foot(x_marks, x_span, canvas.columns, ascii_only)
    label = _cut(plot.x_label, canvas.columns).center(canvas.columns).rstrip()
    return "\n".join([*heading, *body, *(" " * (left + 1) + line for line in (*foot, f" {label}"))])


def _span(values: list[float]) -> _Span:
    """The interval that holds all values; a constant gets some room."""
    low, high = min(values), max(values)
    if high - low > 1e-12 * max(abs(low), abs(high)) and isfinite(high - low):
        return _Span(low, high)
    room = max(0.01 * abs(low), 0.5)
    return _Span(low - room, high + room)


def _marks(span: _Span, wanted: int) -> list[tuple[float, str]]:
    """Round values within an interval, with their texts."""
    rough = (span.high - span.low) / wanted
    power = 10.0 ** floor(log10(rough))
    step = next(f * power for f in (1.0, 2.0, 5.0, 10.0) if f * power >= rough / 1.5)
    first, last = ceil(span.low / step - 1e-9), floor(span.high / step + 1e-9)
    return [(n * step, _number(n * step, step)) for n in range(first, last + 1)]


def _number(value: float, step: float) -> str:
    if value == 0:
        return "0"
    if max(abs(value), step) >= 1e7 or step < 1e-9:
        return f"{value:.3e}"
    return f"{value:.{max(0, ceil(-log10(step) - 1e-9))}f}"


def _line_of(plot: Plot, number: int) -> tuple[int, int, str, str]:
    """How a curve is drawn if it is a line: by its place among the lines where they are named."""
    if len(plot.curves) > _FEW:
        return _LINES[0]
    place = sum(curve.style != "points" for curve in plot.curves[:number])
    return _LINES[place % len(_LINES)]


def _legend(plot: Plot, columns: int, ascii_only: bool) -> list[str]:
    """Lines that say which mark is which curve; none for one curve, or for very many."""
    if not 1 < len(plot.curves) <= _FEW:
        return []
    lines: list[str] = []
    for number, curve in enumerate(plot.curves):
        mark = _MARKS[number % len(_MARKS)]
        if curve.style != "points":
            _, _, sign, letter = _line_of(plot, number)
            mark = 3 * letter if ascii_only else sign
        entry = _cut(f"{mark} {curve.label}", columns)
        if lines and len(lines[-1]) + 3 + len(entry) <= columns:
            lines[-1] += f"   {entry}"
        else:
            lines.append(entry)
    return lines


def _foot(
    marks: list[tuple[float, str]], span: _Span, columns: int, ascii_only: bool
) -> tuple[str, str]:
    """The axis, and the texts below it, as many as stand apart."""
    rule, corner, tick = ("-", "+", "+") if ascii_only else ("─", "└", "┴")
    axis, texts = [rule] * columns, [" "] * (columns + 1)
    free = 0
    for at, label in marks:
        place = span.place(at, columns)
        start = min(max(place + 1 - len(label) // 2, 0), max(0, columns + 1 - len(label)))
        if start < free:
            continue
        axis[place] = tick
        texts[start : start + len(label)] = label
        free = start + len(label) + 1
    return corner + "".join(axis), "".join(texts).rstrip()


def _cut(text: str, columns: int) -> str:
    return text if len(text) <= columns else f"{text[: columns - 3]}..."


class _Canvas:
    """Cells between the axes: dots of lines, and marks over them."""

    def __init__(self, columns: int, rows: int, ascii_only: bool) -> None:
        self.columns, self._rows, self._ascii = columns, rows, ascii_only
        self._fine = (1, 1) if ascii_only else (2, 4)
        self._dots = [[0] * columns for _ in range(rows)]
        self._points: dict[tuple[int, int], str] = {}
        self._letters: dict[tuple[int, int], str] = {}
        self._uprights: set[int] = set()

    def upright(self, column: int) -> None:
        """A line from top to bottom, behind everything."""
        self._uprights.add(column)

    def curve(
        self, curve: Curve, x: _Span, y: _Span, mark: str, line: tuple[int, int, str, str]
    ) -> None:
        """One curve."""
        wide, high = self.columns * self._fine[0], self._rows * self._fine[1]
        if curve.style == "points":
            for px, py in zip(curve.x, curve.y, strict=True):
                row = self._rows - 1 - y.place(py, self._rows)
                self._points[row, x.place(px, self.columns)] = mark
            return
        places = [
            (x.place(px, wide), high - 1 - y.place(py, high))
            for px, py in zip(curve.x, curve.y, strict=True)
        ]
        drawn, gap, _, letter = line
        at = 0
        for one, other in zip(places, places[1:] or places, strict=False):
            for column, row in self._line(one, other):
                if self._ascii:
                    self._letters.setdefault((row, column), letter)
                elif at % (drawn + gap) < drawn:
                    self._dots[row // 4][column // 2] |= _BITS[column % 2][row % 4]
                at += 1
            at -= 1  # the next part begins with the dot that this one ends with

    def _line(self, one: tuple[int, int], other: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """Columns and rows from one dot to another, both included."""
        steps = max(abs(other[0] - one[0]), abs(other[1] - one[1]), 1)
        for step in range(steps + 1):
            column = one[0] + round((other[0] - one[0]) * step / steps)
            row = one[1] + round((other[1] - one[1]) * step / steps)
            yield column, row

    def lines(self) -> list[str]:
        """The rows, from the top."""
        return [
            "".join(self._cell(row, column) for column in range(self.columns))
            for row in range(self._rows)
        ]

    def _cell(self, row: int, column: int) -> str:
        for marks in (self._points, self._letters):
            if (row, column) in marks:
                return marks[row, column]
        if dots := self._dots[row][column]:
            return chr(0x2800 + dots)
        if column in self._uprights:
            return "|" if self._ascii else "│"
        return " "
