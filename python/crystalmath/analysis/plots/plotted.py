"""A plot of a results document in the form that somebody asked for. JSON in, JSON out.

Run by a worker process for ``workflows.plot``.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from crystalmath.analysis.plots.drawing import drawing
from crystalmath.analysis.results.document import plot_of_json


def plotted(
    plot: Mapping[str, Any], image: str, columns: int, rows: int, ascii_only: bool
) -> dict[str, str]:
    """Draw a plot.

    Parameters
    ----------
    plot
        As it stands in the results document.
    image
        ``png``, ``svg`` or ``text``.
    columns, rows, ascii_only
        Of a text.

    Returns
    -------
    dict
        ``content``, and its ``encoding``: ``text`` or ``base64``.

    Raises
    ------
    InputRejected
    """
    read = plot_of_json(plot)
    if image == "text":
        text = drawing(read, columns, rows, ascii_only=ascii_only)
        return {"content": f"{text}\n", "encoding": "text"}
    from crystalmath.analysis.plots.picture import picture

    if image == "svg":
        return {"content": picture(read, "svg").decode(), "encoding": "text"}
    # an unknown one is refused there
    drawn = picture(read, image)  # type: ignore[arg-type]
    return {"content": base64.b64encode(drawn).decode("ascii"), "encoding": "base64"}
