"""From a request to the job of a band structure: the job of its SCF, made longer.

No side effects. Used by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from crystalmath.codes.espresso.bands import script
from crystalmath.codes.espresso.bands.decks import decks_of
from crystalmath.codes.espresso.bands.options import OWN, TASK, BandStructureOptions
from crystalmath.codes.espresso.steps import SCF, refuse_clashes, scf_job
from crystalmath.codes.options import parse_options
from crystalmath.services.ports import InputFile, JobRequest, Prepared


def prepare(request: JobRequest, prepare_scf: Callable[[JobRequest], Prepared]) -> Prepared:
    """Check the request and say what to run.

    Parameters
    ----------
    prepare_scf
        Makes the job of an SCF, whatever it is asked with.

    Raises
    ------
    InvalidParams, InputRejected
        With the field at fault.
    """
    options = parse_options(BandStructureOptions, request.inputs)
    scf = scf_job(request, prepare_scf, OWN)
    at = "structure" if request.structure is not None else "files"
    texts = decks_of(scf.deck, options.k_path, options.mesh_factor, at)
    plan = script.Plan(
        prefix=scf.deck.prefix,
        command=scf.command,
        steps=list(texts),
        n_bands=options.n_bands,
        spins=2 if scf.deck.count("system", "nspin") == 2 else 1,
    )
    decks = [
        InputFile(f"{step}.in" if step == SCF else step + script.DECK, content=text)
        for step, text in texts.items()
    ]
    taken = {script.NAME, *(one.path for one in decks), *_written(texts)}
    refuse_clashes(scf.files, taken.__contains__)
    run = InputFile(script.NAME, content=script.render(plan), executable=True)
    return replace(
        scf.prepared,
        task=TASK,
        argv=("/bin/sh", script.NAME),
        files=(*decks, run, *scf.files),
        output=f"{SCF}.out",
        starts_processes=True,
    )


def _written(steps: Iterable[str]) -> list[str]:
    """What the script writes."""
    return [f"{step}{ending}" for step in steps for ending in (".in", ".out", ".xml")]
