"""The task blocks of the geometry section: OPTGEOM, FREQCALC, ELASTCON, EOS."""

from __future__ import annotations

from crystalmath.codes.crystal.generate.placed import Placed
from crystalmath.contract.d12 import D12Options, FreqCalc, OptGeom, PhononDispersion
from crystalmath.errors import InvalidParams

PERIODIC_AXES = {"CRYSTAL": 3, "SLAB": 2, "POLYMER": 1, "MOLECULE": 0}
_OF_THE_CELL = ("FULLOPTG", "CELLONLY", "ITATOCEL", "CVOLOPT")


def task_lines(options: D12Options, dimension: str, placed: Placed) -> list[str]:
    """The records of the task, none for a single point.

    Raises
    ------
    InvalidParams
        What the dimension does not have.
    """
    if options.optgeom is not None:
        return ["OPTGEOM", *_optgeom(options.optgeom, dimension, "options.optgeom"), "END"]
    if options.freqcalc is not None:
        return _freqcalc(options.freqcalc, dimension, placed)
    if options.elastcon is not None:
        _refuse_molecule(dimension, "elastcon", "elastic constants")
        before = _preoptgeom(options.elastcon.preoptgeom, dimension, "options.elastcon")
        return ["ELASTCON", *before, "NUMDERIV", str(options.elastcon.numderiv), "END"]
    if options.eos is not None:
        _refuse_molecule(dimension, "eos", "equation of state")
        eos = options.eos
        before = _preoptgeom(eos.preoptgeom, dimension, "options.eos")
        return ["EOS", *before, "RANGE", f"{eos.vmin:g} {eos.vmax:g} {eos.points}", "END"]
    return []


def task_warnings(options: D12Options) -> list[str]:
    """What the manual would have to confirm."""
    found = []
    if options.eos is not None:
        found.append("the record RANGE of EOS is not confirmed by an output: see the manual")
    if options.elastcon is not None and options.elastcon.numderiv == 3:
        found.append("NUMDERIV 3 of ELASTCON is not confirmed by an output: see the manual")
    if options.freqcalc is not None and options.freqcalc.raman:
        found.append("INTRAMAN of FREQCALC is not confirmed by an output: see the manual")
    return found


def _refuse_molecule(dimension: str, field: str, what: str) -> None:
    if dimension == "MOLECULE":
        raise InvalidParams(
            f"a molecule has no {what}", hint="leave it out", field=f"options.{field}"
        )


def _optgeom(given: OptGeom, dimension: str, field: str) -> list[str]:
    if dimension == "MOLECULE" and given.type in _OF_THE_CELL:
        raise InvalidParams(
            f"a molecule has no cell: {given.type} is not for it",
            hint="ATOMONLY and INTREDUN are",
            field=f"{field}.type",
        )
    # A molecule has nothing but atoms. Of anything else the program moves the cell too unless it is
    # told: "NEW DEFAULT: OPTGEOM OPTIMIZES BOTH ATOMIC COORDINATES AND CELL PARAMETERS", it prints.
    kind = [] if dimension == "MOLECULE" and given.type == "ATOMONLY" else [given.type]
    return [
        *kind,
        "TOLDEG", _decimal(given.toldeg),
        "TOLDEX", _decimal(given.toldex),
        "MAXCYCLE", str(given.maxcycle),
        "FINALRUN", str(given.finalrun),
    ]  # fmt: skip


def _preoptgeom(given: OptGeom | None, dimension: str, field: str) -> list[str]:
    if given is None:
        return []
    return ["PREOPTGEOM", *_optgeom(given, dimension, f"{field}.preoptgeom"), "END"]


def _decimal(value: float) -> str:
    return f"{value:.12f}".rstrip("0")


def _freqcalc(given: FreqCalc, dimension: str, placed: Placed) -> list[str]:
    before: list[str] = []
    inside: list[str] = []
    if given.dispersion is not None:
        before, inside = _dispersion(given.dispersion, dimension)
    lines = [*before, "FREQCALC"]
    lines += _preoptgeom(given.preoptgeom, dimension, "options.freqcalc")
    lines += ["NUMDERIV", str(given.numderiv)]
    if given.isotopes:
        lines += _isotopes(given.isotopes, placed)
    if given.raman:
        lines += ["INTENS", "INTRAMAN", "INTCPHF", "END"]
    elif given.intens:
        lines.append("INTENS")
    if given.temperat is not None:
        count, first, last = given.temperat
        lines += ["TEMPERAT", f"{count} {first:g} {last:g}"]
    return [*lines, *inside, "END"]


def _isotopes(given: dict[str, float], placed: Placed) -> list[str]:
    """ISOTOPES counts the atoms of the primitive cell in the order of the deck."""
    rows = []
    first = 1
    found: set[str] = set()
    for site in placed.sites:
        masses = {given[str(atom + 1)] for atom in site.atoms if str(atom + 1) in given}
        if masses:
            all_given = all(str(atom + 1) in given for atom in site.atoms)
            if len(masses) > 1 or not all_given:
                raise InvalidParams(
                    "atoms that the symmetry makes of one another have different masses",
                    hint=f"give the same mass to {', '.join(str(atom + 1) for atom in site.atoms)}",
                    field="options.freqcalc.isotopes",
                )
            mass = masses.pop()
            rows += [f"{first + step} {mass:g}" for step in range(site.multiplicity)]
            found.update(str(atom + 1) for atom in site.atoms)
        first += site.multiplicity
    unknown = sorted(set(given) - found, key=int)
    if unknown:
        raise InvalidParams(
            f"there is no atom {unknown[0]}", field=f"options.freqcalc.isotopes.{unknown[0]}"
        )
    return ["ISOTOPES", str(len(rows)), *rows]


def _dispersion(given: PhononDispersion, dimension: str) -> tuple[list[str], list[str]]:
    """The supercell before the block, and what stands inside it."""
    axes = PERIODIC_AXES[dimension]
    field = "options.freqcalc.dispersion"
    if axes == 0:
        raise InvalidParams("a molecule has no phonon dispersion", hint="leave it out", field=field)
    rows = given.supercell
    if len(rows) != axes or any(len(row) != axes for row in rows):
        raise InvalidParams(
            f"the supercell of a {dimension.lower()} is a matrix of {axes} by {axes}",
            field=f"{field}.supercell",
        )
    before = ["SCELPHONO", *(" ".join(map(str, row)) for row in rows)]
    inside = ["DISPERSI"]
    if given.bands is not None:
        bands = given.bands
        for index, segment in enumerate(bands.segments):
            if len(segment) != 2 * axes:
                raise InvalidParams(
                    f"a segment has {2 * axes} integers: {axes} for each end",
                    field=f"{field}.bands.segments.{index}",
                )
        inside += ["BANDS", f"{bands.iss} {bands.nsub}", str(len(bands.segments))]
        inside += [
            " ".join(map(str, segment[:axes])) + "  " + " ".join(map(str, segment[axes:]))
            for segment in bands.segments
        ]
    return before, inside
