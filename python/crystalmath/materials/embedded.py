"""Structures that are shipped: no network, at once.

The AFLOW prototypes of pymatgen (lattice constants of the example of each structure type), the
elemental crystals with reference volumes and bulk moduli that ASE has of the Delta project, and
some crystals of ``measured.json``. Each file is read as it is: the libraries would be slow to load.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crystalmath.domain.composition import hill, reduced
from crystalmath.domain.material_query import Query, query_of
from crystalmath.errors import MaterialsError, NotFound
from crystalmath.materials.entries import Raw, entry_of, fitting
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_materials import Answer, Asked, Entry

if TYPE_CHECKING:
    from crystalmath.structures.structure import Structure

NAME: Final = "embedded"
FIND: Final = "crystalmath.materials.embedded:find"
STRUCTURE: Final = "crystalmath.materials.embedded:one"
_WORK_S: Final = 30.0
_PROTOTYPES: Final = (
    "analysis/prototypes/aflow_prototypes.json.gz",
    "analysis/aflow_prototypes.json",
)
"""Where the versions of pymatgen have them."""
_ELEMENTS: Final = "collections/dcdft.json"
_DELTA: Final = (
    ("wien2k_volume", "volume_per_atom_angstrom3"),
    ("wien2k_B", "bulk_modulus_gpa"),
    ("wien2k_Bp", "bulk_modulus_derivative"),
    ("exp_volume", "experimental_volume_per_atom_angstrom3"),
    ("exp_B", "experimental_bulk_modulus_gpa"),
    ("exp_Bp", "experimental_bulk_modulus_derivative"),
)
_DELTA_SOURCE: Final = "Delta project, WIEN2k (PBE)"


class EmbeddedProvider:
    """Implements ``services.ports_materials.Provider``.

    Parameters
    ----------
    run
        Runs a function in a worker process.
    """

    name = NAME
    title = "shipped with CrystalMath: prototypes, elements, some crystals"
    kind = "embedded"
    network = False
    address = ""

    def __init__(self, run: RunWorker) -> None:
        self._run = run

    def problem(self) -> MaterialsError | None:
        """Nothing can be wrong with it beforehand."""
        return None

    def search(self, asked: Asked) -> Answer:
        """See ``Provider.search``."""
        arguments = {"query": asked.query.document(), "limit": asked.limit}
        found = self._run(FIND, arguments, _WORK_S)
        return Answer(tuple(found["entries"]), more=found["more"])

    def get(self, key: str, asked: Asked) -> Entry:  # noqa: ARG002 - of the interface
        """See ``Provider.get``."""
        found: Entry = self._run(STRUCTURE, {"key": key}, _WORK_S)
        return found


# -- in a worker process ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kept:
    """One structure of a file, not made yet."""

    id: str
    symbols: tuple[str, ...]
    lattice: list[list[float]]
    positions: list[list[float]]
    name: str | None
    labels: frozenset[str]
    prototype: bool
    properties: Mapping[str, Any]
    file: str
    moments: tuple[float, ...] | None = None

    @cached_property
    def formula(self) -> str:
        return _formula(self.symbols)

    def raw(self) -> Raw:
        return Raw(
            self.id,
            self._structure(),
            name=self.name,
            prototype=self.prototype,
            properties=self.properties,
            check=False,
        )

    def _structure(self) -> Structure:
        import numpy as np

        from crystalmath.structures.structure import SiteData, Structure

        return Structure(
            lattice=np.array(self.lattice, dtype=float),
            pbc=(True, True, True),
            symbols=list(self.symbols),
            positions=np.array(self.positions, dtype=float),
            reader="embedded",
            sites=SiteData(moments=self.moments),
            source={"material": f"{NAME}:{self.id}", "from": self.file},
            warnings=[_OF_A_TYPE] if self.prototype else [],
        )


_OF_A_TYPE: Final = (
    "the lattice constants are those of the example of a structure type: optimise the cell"
)


def find(query: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Find what fits: see ``entries.fitting``."""
    wanted = query_of(dict(query))
    return fitting((_entry(kept.id) for kept in _candidates(wanted)), wanted, limit)


def one(key: str) -> dict[str, Any]:
    """Describe one.

    Raises
    ------
    NotFound
    """
    if key not in shipped():
        raise NotFound(f"there is no {NAME}:{key}", hint="`materials.search` finds what there is")
    return _entry(key)


@cache
def _entry(key: str) -> dict[str, Any]:
    return entry_of(shipped()[key].raw())


def _candidates(query: Query) -> Iterator[_Kept]:
    for kept in shipped().values():
        composition = query.allows(kept.formula, set(kept.symbols), len(kept.symbols))
        if composition and _is_called(kept, query):
            yield kept


def _is_called(kept: _Kept, query: Query) -> bool:
    name = (kept.name or "").casefold()
    if query.prototype is not None:
        wanted = query.prototype.casefold()
        if wanted not in kept.labels and wanted not in name.split(", "):
            return False
    if query.text is not None:
        wanted = query.text.casefold()
        return wanted in name or wanted in kept.labels
    return True


@cache
def shipped() -> dict[str, _Kept]:
    """All structures by id, in the order in which they are preferred."""
    every = [*_measured(), *_elements(), *_prototypes()]
    return {kept.id: kept for kept in every}


def _measured() -> Iterator[_Kept]:
    path = Path(__file__).parent / "measured.json"
    for item in json.loads(path.read_text(encoding="utf-8")):
        a = item["a_angstrom"]
        sites = [(symbol, at) for symbol, places in item["sites"].items() for at in places]
        yield _Kept(
            id=item["id"],
            symbols=tuple(symbol for symbol, _ in sites),
            lattice=[[a, 0.0, 0.0], [0.0, a, 0.0], [0.0, 0.0, a]],
            positions=[[x * a for x in at] for _, at in sites],
            name=item["name"],
            labels=frozenset(),
            prototype=False,
            properties={"reference": item["reference"]},
            file="CrystalMath",
        )


def _elements() -> Iterator[_Kept]:
    for key, row in json.loads(_file("ase", _ELEMENTS)).items():
        if not key.isdigit():
            continue
        from crystalmath.domain.elements import SYMBOLS

        facts = row["key_value_pairs"]
        moments = row.get("initial_magmoms")
        yield _Kept(
            id=f"delta-{facts['name']}",
            symbols=tuple(SYMBOLS[number] for number in row["numbers"]),
            lattice=row["cell"],
            positions=row["positions"],
            name=facts["name"],
            labels=frozenset(),
            prototype=False,
            properties={
                **{ours: facts[theirs] for theirs, ours in _DELTA if theirs in facts},
                "reference": _DELTA_SOURCE,
            },
            file="ase dcdft",
            moments=None if moments is None else tuple(moments),
        )


def _prototypes() -> Iterator[_Kept]:
    rows = json.loads(_file("pymatgen", *_PROTOTYPES))
    types = Counter(row["tags"]["aflow"] for row in rows)
    taken: Counter[str] = Counter()
    for row in rows:
        sites = row["snl"]["sites"]
        symbols = tuple(site["species"][0]["element"] for site in sites)
        key = label = row["tags"]["aflow"]
        if types[label] > 1:  # several compounds stand for one type
            key = f"{label}-{_formula(symbols)}"
            taken[key] += 1
            key = key if taken[key] == 1 else f"{key}-{taken[key]}"
        tags = {name: text for name, text in row["tags"].items() if text not in ("", "None")}
        yield _Kept(
            id=key,
            symbols=symbols,
            lattice=row["snl"]["lattice"]["matrix"],
            positions=[site["xyz"] for site in sites],
            name=tags.get("mineral"),
            labels=frozenset(
                tags[name].casefold()
                for name in ("aflow", "pearson", "strukturbericht")
                if name in tags
            ),
            prototype=True,
            properties=tags,
            file="pymatgen AFLOW prototypes",
        )


def _formula(symbols: tuple[str, ...]) -> str:
    return hill(reduced(Counter(symbols)))


def _file(package: str, *names: str) -> bytes:
    """Read a data file of a library without loading the library.

    Raises
    ------
    MaterialsError
        This version of the library has it elsewhere.
    """
    import gzip

    spec = importlib.util.find_spec(package)
    for folder in () if spec is None else spec.submodule_search_locations or ():
        for name in names:
            path = Path(folder) / name
            if path.is_file():
                content = path.read_bytes()
                return gzip.decompress(content) if path.suffix == ".gz" else content
    raise MaterialsError(
        f"the installed {package} has no {names[0].rpartition('/')[2]}",
        hint="install the versions that uv.lock names",
        provider=NAME,
        status="failed",
    )
