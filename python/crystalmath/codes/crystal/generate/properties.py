"""A deck of properties for a wave function: what a worker process of the ``proc`` lane runs.

BAND, then NEWK and DOSS, then records of the user's own; the linter reads it with the deck of the
wave function before it leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from crystalmath.codes.crystal.cell.mesh import reciprocal_rotations
from crystalmath.codes.crystal.deck.properties import parse_properties
from crystalmath.codes.crystal.deck.shrink import Shrink
from crystalmath.codes.crystal.generate.mesh import asked_mesh
from crystalmath.codes.crystal.generate.path import DeckPath, deck_path
from crystalmath.codes.crystal.lint.lint import read_input
from crystalmath.codes.crystal.lint.properties import lint_properties
from crystalmath.codes.crystal.lint.states import BY_ENERGY
from crystalmath.codes.crystal.tables.properties import NEED_NEWK
from crystalmath.codes.crystal.wave import Wave, wave_of
from crystalmath.contract.d3 import BandStructure, D3Options, DensityOfStates
from crystalmath.errors import InputRejected, InvalidParams

_FINER: Final = 2
"""Times the mesh of the wave function: a density of states needs more points than the energy."""
_PLOT: Final = "1 0"
"""IPLO and LPR66: a formatted file for plots, no list of eigenvalues."""


def generate_properties(deck: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Make a deck of properties.

    Parameters
    ----------
    deck
        ``path`` or ``text`` of the deck of the wave function.
    options
        The members of ``contract.d3.D3Options`` that were given, as JSON values.

    Returns
    -------
    dict
        The fields of ``contract.d3.D3Result``.

    Raises
    ------
    InputRejected
        The deck of the wave function cannot be read, or extra records are wrong.
    InvalidParams
        An option does not fit the wave function.
    """
    text = deck.get("text")
    if text is None:
        text = read_input(deck["path"], "deck.path")
    return make_properties(text, D3Options.model_validate(options))


def make_properties(text: str, asked: D3Options) -> dict[str, Any]:
    """Make a deck of properties for the text of a deck; see :func:`generate_properties`."""
    wave = wave_of(text)
    if not wave.kind:
        raise InputRejected(
            "the deck is none of a wave function: its second record is no dimension",
            hint="give the .d12 that made the wave function",
            field="deck",
        )
    if not (asked.band or asked.dos or asked.extra):
        raise InvalidParams(
            "nothing is asked for",
            hint="give `options.band`, `options.dos` or `options.extra`",
            field="options",
        )
    lines: list[str] = []
    path = None
    if asked.band is not None:
        path = _path(asked.band, wave)
        lines += _band_lines(asked.band, path, wave)
    own = [line.rstrip() for records in asked.extra for line in records.splitlines()]
    needs = any(line.split()[:1] and line.split()[0].upper() in NEED_NEWK for line in own)
    mesh = None
    if asked.dos is not None or asked.shrink is not None or needs:
        mesh = _mesh(asked.shrink, wave)
        lines += ["NEWK", *mesh.lines(), "1 0"]
    if asked.dos is not None:
        lines += _dos_lines(asked.dos, wave)
    lines += own
    made = "\n".join([*lines, "END", ""])
    warnings = _check(made, wave, asked, len(lines) - len(own))
    return {"d3": made, "report": _report(made, wave, path, mesh, warnings)}


def _path(asked: BandStructure, wave: Wave) -> DeckPath:
    if wave.axes == 0:
        raise InvalidParams("a molecule has no bands", hint="leave it out", field="options.band")
    if asked.segments is None:
        if asked.iss is not None:
            raise InvalidParams(
                "the unit belongs to segments, and there are none",
                hint="leave it out, or give `options.band.segments`",
                field="options.band.iss",
            )
        return deck_path(wave, asked.path)
    if asked.path is not None:
        raise InvalidParams(
            "give `options.band.path` or `options.band.segments`, not both",
            field="options.band.segments",
        )
    if asked.iss is None:
        raise InvalidParams(
            "segments need their unit",
            hint="with iss 8 a segment 0 0 0 4 0 4 ends at 1/2 0 1/2",
            field="options.band.iss",
        )
    return DeckPath(asked.iss, tuple(tuple(segment) for segment in asked.segments))


def _bands(given: tuple[int, int] | None, wave: Wave, field: str) -> tuple[int, int]:
    if given is None:
        if wave.n_orbitals is None:
            raise InvalidParams(
                "how many bands there are is known to CRYSTAL alone: the basis set is not in the "
                "deck",
                hint=f"give `{field}`, the first and the last one",
                field=field,
            )
        return 1, wave.n_orbitals
    first, last = given
    if last < first:
        raise InvalidParams(f"the last band, {last}, is before the first, {first}", field=field)
    if wave.n_orbitals is not None and last > wave.n_orbitals:
        raise InvalidParams(
            f"there is no band {last}: there are {wave.n_orbitals}, as many as orbitals",
            field=field,
        )
    return first, last


def _band_lines(asked: BandStructure, path: DeckPath, wave: Wave) -> list[str]:
    first, last = _bands(asked.bands, wave, "options.band.bands")
    title = asked.title or (f"bands along {path.labels}"[:80] if path.labels else "bands")
    return [
        "BAND",
        title,
        f"{len(path.segments)} {path.iss} {asked.points} {first} {last} {_PLOT}",
        *(
            " ".join(map(str, segment[:3])) + "  " + " ".join(map(str, segment[3:]))
            for segment in path.segments
        ),
    ]


def _mesh(given: list[int] | None, wave: Wave) -> Shrink:
    axes = 3 if wave.axes is None else wave.axes
    if axes == 0:
        raise InvalidParams(
            "a molecule has no reciprocal space, so NEWK and DOSS are not for it",
            hint="take `options.shrink` and `options.dos` out",
            field="options",
        )
    if given is None:
        if wave.shrink is None:
            raise InvalidParams(
                "the deck of the wave function has no mesh that could be refined",
                hint="give `options.shrink`",
                field="options.shrink",
            )
        return wave.shrink.times(_FINER, axes)
    rotations = None if wave.crystal is None else reciprocal_rotations(wave.crystal.setting)
    metal = wave.shrink is not None and wave.shrink.isp > max(wave.shrink.factors)
    return asked_mesh(given, axes, rotations, metal=metal)


def _dos_lines(asked: DensityOfStates, wave: Wave) -> list[str]:
    field = "options.dos"
    energies = asked.energies_hartree
    if energies is not None and asked.bands is not None:
        raise InvalidParams(
            f"give `{field}.bands` or `{field}.energies_hartree`, not both", field=f"{field}.bands"
        )
    if energies is not None and energies[0] >= energies[1]:
        raise InvalidParams("the lower energy comes first", field=f"{field}.energies_hartree")
    first, last = BY_ENERGY if energies else _bands(asked.bands, wave, f"{field}.bands")
    parts = asked.projections
    lines = ["DOSS", f"{len(parts)} {asked.points} {first} {last} 1 {asked.polynomials} 0"]
    if energies is not None:
        lines.append(f"{energies[0]:g} {energies[1]:g}")
    for index, part in enumerate(parts):
        members = part.atoms or part.orbitals or []
        limit = wave.n_atoms if part.atoms else wave.n_orbitals
        if limit is not None and max(members) > limit:
            what = "atoms" if part.atoms else "orbitals"
            raise InvalidParams(
                f"there is no {what[:-1]} {max(members)}: the primitive cell has {limit}",
                field=f"{field}.projections.{index}.{what}",
            )
        sign = -1 if part.atoms else 1
        lines.append(" ".join(map(str, (sign * len(members), *members))))
    return lines


def _check(made: str, wave: Wave, asked: D3Options, own_from: int) -> list[str]:
    """Refuse a deck that the linter calls wrong; return its warnings."""
    warnings = []
    for finding in lint_properties(made, wave):
        if finding.severity == "error":
            raise InputRejected(
                f"line {finding.line} of the deck would be wrong: {finding.message}",
                hint=finding.fix or None,
                field="options.extra" if asked.extra and finding.line > own_from else "options",
            )
        warnings.append(f"line {finding.line}: {finding.message}")
    return warnings


def _report(
    made: str, wave: Wave, path: DeckPath | None, mesh: Shrink | None, warnings: list[str]
) -> dict[str, Any]:
    if wave.axes is None:
        said = "the deck of the wave function does not tell the crystal: nothing was compared"
        warnings = [said, *warnings]
    own = wave.shrink
    return {
        "properties": [item.keyword for item in parse_properties(made).items],
        "path": None if path is None else path.labels,
        "special_points": {}
        if path is None or path.points is None
        else {name: list(point) for name, point in path.points.items()},
        "newk": None if mesh is None else mesh.numbers(),
        "wave": None if own is None else own.numbers(),
        "n_atoms_primitive": wave.n_atoms,
        "n_orbitals": wave.n_orbitals,
        "warnings": [*(path.warnings if path is not None else ()), *warnings],
    }
