"""What a run was computed with, by the run's own word: cutoff, mesh, smearing. Pure.

Used by ``verdict``; results of workflows name it as their origin, and compare the meshes.
"""

from __future__ import annotations

from typing import Any, Final

from crystalmath.codes.vasp.output.run import Run

_NUMBERS: Final = {"sigma_ev": "SIGMA", "ediff_ev": "EDIFF"}
_WORDS: Final = {"prec": "PREC", "lreal": "LREAL", "gga": "GGA", "metagga": "METAGGA"}
_NOTHING: Final = ("", "--")


def settings_of(run: Run) -> dict[str, Any]:
    """The settings that vasprun.xml tells; what it does not tell is left out."""
    found: dict[str, Any] = {
        "encut_ev": run.number("ENMAX") or run.number("ENCUT"),
        "k_points": _mesh(run),
        "ismear": run.integer("ISMEAR"),
        **{name: run.number(tag) for name, tag in _NUMBERS.items()},
    }
    for name, tag in _WORDS.items():
        word = run.word(tag)
        found[name] = None if word in _NOTHING else word
    return {name: value for name, value in found.items() if value is not None}


def _mesh(run: Run) -> str | None:
    """Sizes and half steps beside Γ, as ``9 9 9 0 0 0``; None where the points are no such mesh."""
    sizes = run.mesh.get("divisions")
    if sizes is None or any(size < 1 or size % 1 for size in sizes):
        return None
    if any(abs(step) > 1e-9 for step in run.mesh.get("usershift", (0.0, 0.0, 0.0))):
        return None
    if run.mesh_style == "Gamma":
        steps = [0, 0, 0]
    elif run.mesh_style == "Monkhorst-Pack":  # of even size it lies beside Γ
        steps = [1 - int(size) % 2 for size in sizes]
    else:
        return None
    return " ".join(str(int(n)) for n in (*sizes, *steps))
