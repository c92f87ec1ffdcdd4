"""The results document of a workflow: what is shown, plotted and exported. Pure data.

One form for all kinds: quantities (a number with its unit), tables, curves, flags, provenance.
Whoever reads it needs to know no kind of workflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, Final

from crystalmath import __version__
from crystalmath.analysis.flags import Flag
from crystalmath.errors import BadResult

FORMAT: Final = "crystalmath results 1"
X_DECIMALS: Final = 9
Y_DECIMALS: Final = 6
"""Of long series in plots. Quantities and tables are not rounded."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number.

    Attributes
    ----------
    name
        For programs: ``bulk_modulus``.
    label
        For people: ``B₀``.
    value
        None where there is none, e.g. the gap of a metal.
    unit
        As it is printed; empty for a pure number.
    error
        Standard error in the same unit.
    """

    name: str
    label: str
    value: float | None
    unit: str = ""
    error: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    unit: str
    values: tuple[float | str | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length."""

    name: str
    title: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot, or points.

    Attributes
    ----------
    style
        ``line`` or ``points``.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    style: str = "line"


@dataclass(frozen=True, slots=True)
class Plot:
    """What one picture shows.

    Attributes
    ----------
    ticks
        Place and label on the x axis where these are not numbers: points of a band path.
    breaks
        Places where two ends of a path meet that are not the same point.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    ticks: tuple[tuple[float, str], ...] = ()
    breaks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultsDocument:
    """What a workflow ends with.

    Attributes
    ----------
    kind
        ``eos``, ``phonon`` …
    provenance
        What was computed with what: structure hash, engine or code with version, libraries.
    """

    kind: str
    title: str
    quantities: tuple[Quantity, ...]
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()
    flags: tuple[Flag, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {"format": FORMAT, **asdict(self), "provenance": dict(self.provenance)}

    def quantity(self, name: str) -> Quantity:
        """The quantity of this name.

        Raises
        ------
        KeyError
        """
        for item in self.quantities:
            if item.name == name:
                return item
        raise KeyError(name)

    def plot(self, name: str) -> Plot | None:
        """The plot of this name, or None."""
        return next((item for item in self.plots if item.name == name), None)


def of_json(document: Mapping[str, Any]) -> ResultsDocument:
    """Read the JSON form.

    Raises
    ------
    BadResult
        It is none, or of a version that this one does not know.
    """
    if document.get("format") != FORMAT:
        raise BadResult(f"this is no results document of the form {FORMAT!r}")
    return ResultsDocument(
        kind=document["kind"],
        title=document["title"],
        quantities=tuple(Quantity(**item) for item in document["quantities"]),
        tables=tuple(
            Table(
                item["name"],
                item["title"],
                tuple(Column(c["name"], c["unit"], tuple(c["values"])) for c in item["columns"]),
            )
            for item in document["tables"]
        ),
        plots=tuple(plot_of_json(item) for item in document["plots"]),
        flags=tuple(Flag(**item) for item in document["flags"]),
        provenance=dict(document["provenance"]),
    )


def numbers(values: Sequence[float] | Any, decimals: int | None = None) -> tuple[float, ...]:
    """Plain finite numbers of an array.

    Parameters
    ----------
    decimals
        To which they are rounded: digits that mean nothing make a long series twice as long.

    Raises
    ------
    BadResult
        JSON has no form for one that is not finite.
    """
    found = tuple(float(value) for value in values)
    if decimals is not None:
        # + 0.0: no −0
        found = tuple(round(value, decimals) + 0.0 for value in found)
    if not all(isfinite(value) for value in found):
        raise BadResult("a result holds a number that is not finite")
    return found


def provenance_of(libraries: Sequence[str], **known: str) -> dict[str, str]:
    """What is known of the origin, with the versions of this program and of libraries."""
    from importlib.metadata import version

    return {**known, "crystalmath": __version__, **{name: version(name) for name in libraries}}


def plot_of_json(item: Mapping[str, Any]) -> Plot:
    """Read the JSON form of one plot."""
    return Plot(
        name=item["name"],
        title=item["title"],
        x_label=item["x_label"],
        y_label=item["y_label"],
        curves=tuple(
            Curve(c["label"], tuple(c["x"]), tuple(c["y"]), c["style"]) for c in item["curves"]
        ),
        ticks=tuple((float(at), str(label)) for at, label in item["ticks"]),
        breaks=tuple(float(at) for at in item["breaks"]),
    )
