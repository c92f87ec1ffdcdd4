"""A calculation of VASP that somebody ran by hand: its outputs and its inputs, without POTCAR.

Used by ``adapter``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from crystalmath.codes.vasp.deck.poscar import blocks
from crystalmath.codes.vasp.output.files import OSZICAR, OUTCAR, load_run, meant_vasprun
from crystalmath.codes.vasp.output.results import build_results
from crystalmath.codes.vasp.output.run import Run
from crystalmath.codes.vasp.output.verdict import guess_task
from crystalmath.codes.vasp.run.potcar import DEFAULT_FUNCTIONAL, SPEC, labels_of_titles
from crystalmath.services.ports import Finished, InputFile

_INPUTS: Final = ("INCAR", "POSCAR", "KPOINTS", SPEC)
_FAMILIES: Final = {"PAW": "LDA", "PAW_GGA": "PW91", "PAW_PBE": DEFAULT_FUNCTIONAL}
"""First word of a potential's title → its set. The releases of a set (PBE, PBE_52, PBE_54) have the
same word."""
_OUTPUTS: Final = (OUTCAR, OSZICAR, "CONTCAR", "EIGENVAL", "DOSCAR", "vasp.out", "REPORT")
_RELEASE: Final = (
    "its output does not say from which release its potentials are; a rerun takes the set "
    f"{DEFAULT_FUNCTIONAL}: where it was another, such as PBE_54, give potcar_functional"
)


def recognise(path: Path) -> Finished | None:
    """Say what a finished calculation consists of; None when it is not one of VASP.

    Its POTCAR stays where it is: potentials are licensed. A rerun puts it together again.
    """
    output = meant_vasprun(path)
    if output is None:
        return None
    directory, run = output.parent, load_run(output)
    there = {
        name: InputFile(name, source=str((directory / name).resolve()))
        for name in (*_INPUTS, *_OUTPUTS)
        if (directory / name).is_file()
    }
    inputs = [there[name] for name in _INPUTS if name in there]
    warnings: list[str] = []
    if not {"INCAR", "POSCAR"} <= there.keys():
        warnings.append("INCAR or POSCAR is not there, so it can be neither rerun nor continued")
    if (directory / "POTCAR").is_file():
        warnings.append("its POTCAR stays where it is; a rerun needs PMG_VASP_PSP_DIR")
    inputs_of_rerun = {} if SPEC in there else _potentials(run)
    if inputs_of_rerun.get("potcar_functional") == DEFAULT_FUNCTIONAL:
        warnings.append(_RELEASE)
    task = guess_task(run)
    return Finished(
        task=task,
        output=output.name,
        files=(
            InputFile(output.name, source=str(output)),
            *(there[name] for name in _OUTPUTS if name in there),
            *inputs,
        ),
        input_files=tuple(file.path for file in inputs),
        inputs=inputs_of_rerun,
        formula=build_results(run, task).get("formula"),
        n_atoms=run.n_atoms,
        warnings=tuple(warnings),
    )


def _potentials(run: Run) -> dict[str, Any]:
    """The potentials by their titles, as a rerun names them."""
    labels = labels_of_titles(run.titles)
    elements = [element for element, _ in blocks(run.symbols)]
    if len(labels) != len(elements) or not all(labels):
        return {}
    families = {_FAMILIES.get(title.split()[0]) for title in run.titles}
    functional = families.pop() if len(families) == 1 else None
    if functional is None:
        return {}
    return {"potcars": dict(zip(elements, labels, strict=True)), "potcar_functional": functional}
