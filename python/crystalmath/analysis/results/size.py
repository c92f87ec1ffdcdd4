"""How large a results document may be: what is longer than a reply cannot be shown at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from crystalmath.analysis.flags import Flag
from crystalmath.analysis.results.document import Plot, ResultsDocument

MOST_POINTS: Final = 500_000
"""Of all plots together: about 12 MB of JSON, 16 MB at most; a reply holds 32 MiB."""


def fitting(document: ResultsDocument, most_points: int = MOST_POINTS) -> ResultsDocument:
    """The document, with fewer points in the plots if there are too many, which is then told.

    Every curve keeps its first and its last point, and each n-th between them. Quantities and
    tables stay as they are.
    """
    count = sum(len(curve.x) for plot in document.plots for curve in plot.curves)
    if count <= most_points:
        return document
    every = -(-count // most_points)
    said = Flag(
        "thinned",
        f"of the {count} points of the plots each {_th(every)} is kept, since more do not fit into "
        "one reply; all of them are in the files of its jobs (`jobs.files`)",
    )
    plots = tuple(_thinned(plot, every) for plot in document.plots)
    return replace(document, plots=plots, flags=(*document.flags, said))


def _thinned(plot: Plot, every: int) -> Plot:
    curves = tuple(
        replace(curve, x=_each(curve.x, every), y=_each(curve.y, every)) for curve in plot.curves
    )
    return replace(plot, curves=curves)


def _each(values: tuple[float, ...], every: int) -> tuple[float, ...]:
    kept = values[::every]
    return kept if (len(values) - 1) % every == 0 else (*kept, *values[-1:])


def _th(number: int) -> str:
    return {2: "2nd", 3: "3rd"}.get(number, f"{number}th")
