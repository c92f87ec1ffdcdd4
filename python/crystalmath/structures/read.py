"""Read one structure: the function that a worker process of the ``proc`` lane runs.

Nothing here is idealised: atoms, their order and the cell are those of the file (a CIF's sites
expanded by its own operators). The daemon calls it through ``structures.reader``.
"""

from __future__ import annotations

import warnings as python_warnings
from typing import TYPE_CHECKING, Any

from crystalmath.errors import CrystalMathError, InputRejected
from crystalmath.structures.formula import reduced_formula
from crystalmath.structures.request import check_request
from crystalmath.structures.text import SourceText, from_file, from_text

if TYPE_CHECKING:
    from crystalmath.structures.raw import RawStructure


def read_structure(
    path: str | None = None,
    text: str | None = None,
    format: str | None = None,  # noqa: A002 - the word of the contract
) -> dict[str, Any]:
    """Read and check a structure.

    Parameters
    ----------
    path
        Absolute path of a file, or
    text
        the content itself.
    format
        A key of ``structures.request.FORMATS``; needed for ``text``, else told by the file name.

    Returns
    -------
    dict
        The fields of ``services.ports.StructureData`` as JSON values: ``lattice`` (row vectors, Å,
        or None), ``pbc``, ``symbols``, ``positions`` (Cartesian, Å), ``formula``, ``source``,
        ``warnings``.

    Raises
    ------
    InputRejected
        With ``field`` (``structure``, ``structure.path``, ``structure.text``) and mostly a hint.
    """
    kind = check_request(path, text, format)
    source = from_file(path) if path is not None else from_text(text or "")
    with python_warnings.catch_warnings(record=True) as caught:
        python_warnings.simplefilter("always")
        try:
            raw = _read(kind, source)
            from crystalmath.structures.checks import check

            check(raw)
        except CrystalMathError:
            raise
        except Exception as error:  # a parser's complaint is the user's, whatever its type
            cut_off = isinstance(error, IndexError | StopIteration | EOFError)
            reason = "it ends too early" if cut_off else str(error) or type(error).__name__
            raise InputRejected(
                f"the input cannot be read as {kind}: {reason}",
                hint="is that its format?",
                field=source.field,
            ) from error
    noticed = dict.fromkeys(f"{kind}: {item.message}" for item in caught)
    return _document(raw, source, kind, path, [*source.warnings, *raw.warnings, *noticed])


def _read(kind: str, source: SourceText) -> RawStructure:
    if kind == "cif":
        from crystalmath.structures.cif import read_cif

        return read_cif(source.text, source.field)
    if kind == "poscar":
        from crystalmath.structures.poscar import read_poscar

        return read_poscar(source.text, source.field)
    from crystalmath.structures.ase_formats import read_with_ase

    return read_with_ase(source.text, kind, source.field)


def _document(
    raw: RawStructure, source: SourceText, kind: str, path: str | None, warnings: list[str]
) -> dict[str, Any]:
    origin = {
        "format": kind,
        "reader": raw.reader,
        "encoding": source.encoding,
        "sha256": source.sha256,
        **raw.source,
    }
    if path is not None:
        origin["path"] = path
    return {
        "lattice": None if raw.lattice is None else raw.lattice.tolist(),
        "pbc": list(raw.pbc),
        "symbols": raw.symbols,
        "positions": raw.positions.tolist(),
        "formula": reduced_formula(raw.symbols),
        "source": origin,
        "warnings": warnings,
    }
