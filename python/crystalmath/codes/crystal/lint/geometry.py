"""The geometry section: flags, group, lattice record, sites, keywords."""

from __future__ import annotations

import numpy as np

from crystalmath.codes.crystal.cell.declared import Declared
from crystalmath.codes.crystal.cell.expand import Expanded, wrap
from crystalmath.codes.crystal.deck.records import Deck, Finding, Geometry, Item, Record
from crystalmath.codes.crystal.lint.findings import bad_numbers, error, unknown_words, warning
from crystalmath.codes.crystal.tables import groups
from crystalmath.codes.crystal.tables import keywords as known
from crystalmath.structures.symmetry.settings import RHOMBOHEDRAL, TWO_ORIGINS

_CLOSE_A = 0.5
_SHORT = 0.7
_MOST_COMPARED = 2000
_OUTSIDE = 2.0


def check_geometry(geometry: Geometry) -> list[Finding]:
    """Look at the records up to the list of sites, and at the keywords."""
    return check_records(geometry) + _keywords(geometry)


def check_records(geometry: Geometry) -> list[Finding]:
    """Look at the records that say the crystal: flags, group, lattice, sites."""
    found: list[Finding] = []
    if geometry.kind == "CRYSTAL":
        found += _flags(geometry)
    found += _group(geometry)
    found += _lattice(geometry)
    if geometry.count is not None and (geometry.count.integers() or [None])[0] is None:
        found.append(
            error(geometry.count, "sites-count", "NATR is not a whole number",
                  "is there a second lattice record? It is read as the number of sites")
        )  # fmt: skip
    return found + _sites(geometry)


def _flags(geometry: Geometry) -> list[Finding]:
    record = geometry.flags
    if record is None:
        return []
    flags = record.integers()[:3]
    if len(flags) < 3 or None in flags:
        return [error(record, "flags", "IFLAG IFHR IFSO are three whole numbers", "write 0 0 0")]
    iflag, ifhr, ifso = (flag or 0 for flag in flags)
    found = []
    group = (geometry.group.integers() or [None])[0] if geometry.group is not None else None
    if iflag not in (0, 1):
        found.append(error(record, "flags", "IFLAG is 0 or 1", "write 0, and the group's number"))
    if ifhr not in (0, 1):
        found.append(error(record, "flags", "IFHR is 0 or 1", "write 0 for hexagonal axes", 1))
    elif ifhr == 1 and group is not None and group not in RHOMBOHEDRAL:
        found.append(
            warning(record, "flags", f"group {group} has no rhombohedral axes: IFHR does nothing",
                    "write 0", 1)
        )  # fmt: skip
    if ifso < 0:
        found.append(error(record, "flags", "IFSO is not negative", "write 0", 2))
    elif ifso == 1 and group is not None and group not in TWO_ORIGINS:
        found.append(
            warning(record, "flags", f"group {group} has one origin: IFSO 1 does nothing",
                    "write 0", 2)
        )  # fmt: skip
    if geometry.shift is not None:
        steps = geometry.shift.integers()[:3]
        if len(steps) < 3 or any(step is None or abs(step) >= groups.SHIFT_UNIT for step in steps):
            found.append(
                error(geometry.shift, "origin-shift",
                      "the shift of the origin is three whole numbers, in 1/24 of the axes",
                      "the group stands before it, the lattice after it")
            )  # fmt: skip
    return found


def _group(geometry: Geometry) -> list[Finding]:
    record = geometry.group
    if record is None or geometry.kind not in groups.HIGHEST:
        return []
    if geometry.flags is not None and geometry.flags.integers()[:1] == [1]:
        return [
            warning(record, "group-symbol", "the group is given by its symbol, which is not read",
                    "write IFLAG 0 and the number")
        ]  # fmt: skip
    highest = groups.HIGHEST[geometry.kind]
    number = record.integers()[0]
    if number is None or not 1 <= number <= highest:
        hint = "layer groups go to 80" if geometry.kind == "SLAB" else f"write 1 to {highest}"
        return [
            error(record, "group",
                  f"{record.words[0]} is no group of {geometry.kind}: there are {highest}", hint)
        ]  # fmt: skip
    return []


def _lattice(geometry: Geometry) -> list[Finding]:
    record = geometry.lattice
    number = (geometry.group.integers() or [None])[0] if geometry.group is not None else None
    highest = groups.HIGHEST.get(geometry.kind, 0)
    if record is None or number is None or not 1 <= number <= highest:
        return []
    flags = geometry.flags.integers() if geometry.flags is not None else []
    if flags[:1] == [1]:
        return []
    ifhr = (flags[1] or 0) if len(flags) > 1 else 0
    names = groups.lattice_names(geometry.kind, number, ifhr)
    wrong = bad_numbers([record])
    if wrong:
        return wrong
    values = [value for value in record.numbers() if value is not None]
    if len(values) != len(names):
        return [
            error(record, "lattice-count",
                  f"group {number} of {geometry.kind} has {len(names)} numbers "
                  f"({' '.join(names)}), not {len(values)}",
                  f"write {' '.join(names)}", min(len(values), len(names)))
        ]  # fmt: skip
    return _lattice_values(record, names, values)


def _lattice_values(record: Record, names: tuple[str, ...], values: list[float]) -> list[Finding]:
    found = []
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        if len(name) == 1 and not 0 < value < 1e5:
            found.append(
                error(record, "lattice", f"{name} = {value:g} Å is no length of a cell",
                      "write it in Å", index)
            )  # fmt: skip
        elif len(name) > 1 and not 0 < value < 180:
            found.append(
                error(record, "lattice", f"{name} = {value:g} is no angle", "write degrees", index)
            )
    if names == ("a", "alpha") and not found and values[1] < 20:
        found.append(
            warning(record, "lattice", f"with IFHR 1 the second number is alpha: {values[1]:g}°",
                    "for a and c write IFHR 0", 1)
        )  # fmt: skip
    return found


def _sites(geometry: Geometry) -> list[Finding]:
    found = []
    fractional = {"CRYSTAL": 3, "SLAB": 2, "POLYMER": 1}.get(geometry.kind, 0)
    for record in geometry.sites:
        nat = record.integers()[0]
        if nat is None or not 1 <= nat % 100 <= 98 or not 1 <= nat < 1000:
            found.append(
                error(record, "nat", f"{record.words[0]} is no NAT",
                      "write the atomic number, plus 200 for an effective core")
            )  # fmt: skip
        wrong = bad_numbers([record], 1)[:1]
        found += wrong
        if wrong:
            continue
        for axis, value in enumerate(record.numbers()[1 : 1 + fractional]):
            if value is not None and abs(value) > _OUTSIDE:
                found.append(
                    warning(record, "coordinate", f"{value:g} is a fraction far outside the cell",
                            "are these Å?", 1 + axis)
                )  # fmt: skip
                break
    return found


def _keywords(geometry: Geometry) -> list[Finding]:
    found = unknown_words(
        [item for item in geometry.items if item.keyword not in known.OPTGEOM - known.GEOMETRY],
        known.GEOMETRY | known.SCF,
        "the geometry section",
    )
    for item in geometry.items:
        if item.keyword in known.OPTGEOM - known.GEOMETRY:
            found.append(outside_optgeom(item))
        elif item.keyword in known.SCF - known.GEOMETRY:
            found.append(
                error(item.record, "wrong-section", f"{item.keyword} belongs to the SCF section",
                      "move it behind the basis set")
            )  # fmt: skip
        allowed = known.INSIDE.get(item.keyword)
        if allowed is not None:
            found += unknown_words(item.children, allowed, item.keyword)
    tasks = [item for item in geometry.items if item.keyword in known.TASKS]
    found += [
        error(item.record, "two-tasks", f"{tasks[0].keyword} and {item.keyword} in one deck",
              "make two decks")
        for item in tasks[1:]
    ]  # fmt: skip
    return found


def outside_optgeom(item: Item) -> Finding:
    """What is said of a parameter of OPTGEOM that stands elsewhere."""
    return error(item.record, "outside-optgeom", f"{item.keyword} stands outside OPTGEOM",
                 "move it between OPTGEOM and its END")  # fmt: skip


def check_atoms(deck: Deck, crystal: Declared, expanded: Expanded) -> list[Finding]:
    """Sites that are images of one another, and atoms on top of each other."""
    from ase.data import covalent_radii

    sites = deck.geometry.sites
    count = len(expanded.fractions)
    if not sites or count > _MOST_COMPARED:
        return []
    gap = wrap(expanded.fractions[:, None, :] - expanded.fractions[None, :, :], crystal.periodic)
    distance = np.linalg.norm(gap @ crystal.cell, axis=2)
    distance[np.tril_indices(count)] = np.inf
    found: list[Finding] = []
    touching = np.argwhere(distance < _CLOSE_A)
    told: set[int] = set()
    for first, second in touching:
        one, other = int(expanded.site[first]), int(expanded.site[second])
        if other in told:
            continue
        told.add(other)
        found.append(_touching(sites, one, other, float(distance[first, second])))
    if found:
        return found
    radii = covalent_radii[np.minimum(crystal.elements(expanded), len(covalent_radii) - 1)]
    relative = distance / (radii[:, None] + radii[None, :])
    at = np.unravel_index(int(relative.argmin()), relative.shape)
    if relative[at] < _SHORT:
        one, other = int(expanded.site[at[0]]), int(expanded.site[at[1]])
        found.append(
            warning(sites[other], "atoms-close",
                    f"sites {one + 1} and {other + 1} are {distance[at]:.3f} Å apart in the "
                    f"{count} atoms that the group makes",
                    "do the origin (IFSO) and the group fit the coordinates?")
        )  # fmt: skip
    return found


def _touching(sites: tuple[Record, ...], one: int, other: int, distance: float) -> Finding:
    if one == other:
        return error(sites[other], "atoms-close",
                     f"images of site {one + 1} are {distance:.3f} Å apart",
                     "write the coordinate of the special position with all decimals")  # fmt: skip
    what = "are images of each other" if distance < 1e-2 else f"are {distance:.3f} Å apart"
    return error(sites[other], "site-twice", f"sites {one + 1} and {other + 1} {what}",
                 "list one site of each orbit")  # fmt: skip
