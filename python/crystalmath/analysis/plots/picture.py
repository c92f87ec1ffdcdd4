"""Draws a plot of a results document. What is not in the document is not in the picture.

matplotlib without its pyplot: no window, no state between calls. Run by a worker process.
"""

from __future__ import annotations

import io
from typing import Any, Final, Literal

from crystalmath.analysis.results.document import Curve, Plot
from crystalmath.errors import InputRejected

Format = Literal["png", "svg"]
DPI: Final = 150
_SIZE_INCHES: Final = (6.4, 4.4)
_FEW: Final = 6
"""More curves than this are drawn in one colour and without a legend: the modes of bands."""


def picture(plot: Plot, image: Format) -> bytes:
    """Draw a plot.

    Returns
    -------
    bytes
        A PNG or an SVG file. The same plot gives the same bytes.

    Raises
    ------
    InputRejected
        The format is another one, or there is nothing to draw.
    """
    if image not in ("png", "svg"):
        raise InputRejected(f"{image!r} is no format of pictures: png or svg", field="format")
    if not any(curve.x for curve in plot.curves):
        raise InputRejected(f"the plot {plot.name} has no points", field="kind")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "crystalmath", "svg.fonttype": "path"}):
        figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
        axes = figure.add_subplot()
        _draw(axes, plot)
        if 1 < len(plot.curves) <= _FEW:
            # a place that matplotlib has not to look for, and that hides no point
            figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
        out = io.BytesIO()
        # a date or a version would make two pictures of one result differ
        metadata = {"Date": None} if image == "svg" else {"Software": None}
        figure.savefig(out, format=image, dpi=DPI, metadata=metadata)
    return out.getvalue()


def _draw(axes: Any, plot: Plot) -> None:
    few = len(plot.curves) <= _FEW
    for number, curve in enumerate(plot.curves):
        _curve(axes, curve, f"C{number}" if few else "C0")
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.set_title(plot.title, fontsize="medium")
    if plot.ticks:
        axes.set_xticks([at for at, _ in plot.ticks], [label for _, label in plot.ticks])
        for at, _ in plot.ticks:
            axes.axvline(at, color="0.8", linewidth=0.8, zorder=0)
        for at in plot.breaks:
            axes.axvline(at, color="0.4", linewidth=1.2, zorder=0)
        axes.set_xlim(plot.ticks[0][0], plot.ticks[-1][0])
        axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)


def _curve(axes: Any, curve: Curve, colour: str) -> None:
    if curve.style == "points":
        axes.plot(curve.x, curve.y, "o", color=colour, markersize=4, label=curve.label)
    else:
        axes.plot(curve.x, curve.y, "-", color=colour, linewidth=1.2, label=curve.label)
