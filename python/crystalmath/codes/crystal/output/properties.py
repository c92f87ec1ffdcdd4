"""The files of a properties run beside its output, in its results document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.crystal.output.curves import Bands, Dos, load_curves

_UNIT: Final = "Hartree relative to the Fermi energy"
_NAMES: Final = ("BAND.DAT", "DOSS.DAT", "fort.25")
_ENDINGS: Final = (".BAND", ".DOSS", ".f25")


def curve_files(output: Path) -> Iterator[Path]:
    """The files that may hold curves: named as the output is, or as the program names them."""
    directory, stem = output.parent, output.stem
    for ending in _ENDINGS:
        yield directory / f"{stem}{ending}"
    if (directory / ".cm").is_dir() or output.name in ("stdout.log", "OUTPUT"):
        yield from (directory / name for name in _NAMES)
        for ending in _ENDINGS:
            yield from sorted(directory.glob(f"*{ending}"))


def curves_beside(output: Path) -> tuple[Bands | None, Dos | None]:
    """The first band structure and the first density of states; the files with both spins win."""
    bands: Bands | None = None
    dos: Dos | None = None
    for path in dict.fromkeys(curve_files(output)):
        if bands is not None and dos is not None:
            break
        if path.is_file():
            found_bands, found_dos = load_curves(path)
            bands = bands or next(iter(found_bands), None)
            dos = dos or next(iter(found_dos), None)
    return bands, dos


def curves_document(bands: Bands | None, dos: Dos | None) -> dict[str, Any]:
    """What is there; the curves themselves are given as series."""
    document: dict[str, Any] = {}
    if bands is not None:
        document["band_file"] = {
            "k_points": bands.n_kpoints,
            "bands": bands.n_bands,
            "spins": bands.n_spins,
            "energies_unit": _UNIT,
            "fermi_hartree": bands.fermi,
        }
        if bands.labels:
            document["band_file"] |= {
                "panels": len(bands.labels) - 1,
                "label_k_indices": [label.index for label in bands.labels],
                f"labels_in_units_of_1_over_{bands.labels[0].per}": [
                    list(label.place) for label in bands.labels
                ],
            }
    if dos is not None:
        document["doss_file"] = {
            "points": dos.n_points,
            "projections": dos.n_projections,
            "spins": dos.n_spins,
            "energies_unit": _UNIT,
            "fermi_hartree": dos.fermi,
        }
    return document
