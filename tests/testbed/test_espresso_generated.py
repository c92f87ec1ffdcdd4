"""Decks that are written for structures, with the real pw.x: accepted, and right."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.writer import WorkerDecks
from crystalmath.contract.jobs import ContinueParams, Job, JobIdParams
from crystalmath.runners.local.runner import LocalRunner
from crystalmath.structures.reader import WorkerStructureReader
from support.service_fakes import Bench, FakeCall
from support.templates import rendering
from support.workers import run_here

if TYPE_CHECKING:
    from conftest import QuantumEspresso

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(900)]

_BOHR = 0.529177210903
_HANG_S = 120.0
_SI = {"pseudo_family": "pz-vbc", "ecutwfc_ry": 18.0}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """The jobs, with structures that are read and decks that are written."""
    made = Bench(
        tmp_path,
        runner=LocalRunner(),
        code=EspressoAdapter(WorkerDecks(run_here, 60.0)),
        reader=WorkerStructureReader(run_here, 60.0),
    )
    yield made
    made.close()


def poscar(element: str, a_bohr: float, *places: str) -> dict[str, str]:
    """The primitive cell of an fcc lattice."""
    half = a_bohr * _BOHR / 2
    lines = [
        element, "1.0", f"{-half:.12f} 0 {half:.12f}", f"0 {half:.12f} {half:.12f}",
        f"{-half:.12f} {half:.12f} 0", element, str(len(places)), "Direct", *places, "",
    ]  # fmt: skip
    return {"text": "\n".join(lines), "format": "poscar"}


def submit(bench: Bench, qe: QuantumEspresso, structure: dict[str, str], **fields: Any) -> int:
    context = {"ESPRESSO_PSEUDO": str(qe.pseudo)}
    return bench.submit(**{"structure": structure, "context": context, "task": "scf", **fields})


def finish(bench: Bench, *jobs: int) -> list[Job]:
    """Move the jobs until all have ended."""
    deadline = time.monotonic() + _HANG_S
    while not all(bench.state(job) in ("COMPLETED", "FAILED") for job in jobs):
        assert time.monotonic() < deadline, [bench.state(job) for job in jobs]
        bench.pump.turn()
        os.sched_yield()
    return [bench.service.get(JobIdParams(id=job)) for job in jobs]


def test_generated_decks_have_the_energies_of_the_references(
    bench: Bench, qe: QuantumEspresso
) -> None:
    shifted = {"k_shift": [1, 1, 1]}
    silicon = submit(
        bench, qe, poscar("Si", 10.2, "0 0 0", "0.25 0.25 0.25"),
        inputs={**_SI, "k_mesh": [4, 4, 4], **shifted},
    )  # fmt: skip
    aluminium = submit(
        bench, qe, poscar("Al", 7.5, "0 0 0"),
        inputs={"ecutwfc_ry": 15.0, "degauss_ry": 0.05, "k_mesh": [6, 6, 6], **shifted},
    )  # fmt: skip
    nickel = submit(
        bench, qe, poscar("Ni", 6.48, "0 0 0"),
        inputs={
            "pseudos": {"Ni": "Ni.pz-nd-rrkjus.UPF"}, "ecutwfc_ry": 24.0, "ecutrho_ry": 288.0,
            "moments_mu_b": {"Ni": 7.0}, "k_mesh": [4, 4, 4], **shifted,
        },
    )  # fmt: skip
    for job, energy_ry in zip(
        finish(bench, silicon, aluminium, nickel),
        (-15.84452726, -4.18643752, -85.72339901),
        strict=True,
    ):
        assert job.state == "COMPLETED", (job.name, job.message)
        assert job.results["energy_ry"] == pytest.approx(energy_ry, abs=2e-5)
        assert [one["agree"] for one in job.results["pseudopotentials"]] == [True]
        assert job.results["pseudopotentials"][0]["sha256_file"] is not None


def test_relaxations_of_atoms_and_cell(bench: Bench, qe: QuantumEspresso) -> None:
    inputs = {**_SI, "k_mesh": [2, 2, 2]}
    moved = poscar("Si", 10.2, "0 0 0", "0.27 0.24 0.25")
    relaxed = submit(bench, qe, moved, task="relax", inputs={**inputs, "fmax_ev_per_a": 0.02})
    squeezed = poscar("Si", 10.0, "0 0 0", "0.25 0.25 0.25")
    grown = submit(bench, qe, squeezed, task="vc-relax", inputs={**inputs, "cell": "isotropic"})
    short = submit(bench, qe, moved, task="relax", inputs={**inputs, "max_steps": 1})
    atoms, cell, stopped = finish(bench, relaxed, grown, short)
    assert atoms.state == "COMPLETED", atoms.message
    assert atoms.results["fmax_ev_per_a"] <= 0.02
    assert cell.state == "COMPLETED", cell.message
    lattice = cell.results["lattice"]
    assert lattice["a_angstrom"] > 10.0 * _BOHR / 2**0.5
    assert lattice["alpha_deg"] == pytest.approx(60.0, abs=1e-4)
    assert (stopped.state, stopped.reason) == ("FAILED", "not_converged"), stopped.message
    params = ContinueParams(id=stopped.id)
    call: Any = FakeCall()
    again = bench.service.continue_(params, call)
    assert again.job is not None
    (ended,) = finish(bench, again.job.id)
    assert ended.task == "relax"
    assert ended.provenance.input_hashes.keys() == {"Si.relax.in", "pseudo/Si.pz-vbc.UPF"}


def from_template(
    bench: Bench, qe: QuantumEspresso, name: str, inputs: dict[str, Any] | None = None, **given: Any
) -> int:
    """A job of a template with its own example, as small as it computes in a moment."""
    context = {"ESPRESSO_PSEUDO": str(qe.pseudo)}
    chosen = {"pseudo_family": "pz-vbc", "ecutwfc_ry": 10.0, **given}
    made = rendering(Path("/nonexistent")).render(f"espresso/{name}", chosen, context=context)
    files = [{"path": file.path, "content": file.content} for file in made.files]
    return bench.submit(name=name, files=files, inputs=inputs or {}, context=context)


def test_every_template_is_computed(bench: Bench, qe: QuantumEspresso) -> None:
    coarse = {"k_spacing_inv_angstrom": 1.2}
    first = from_template(bench, qe, "scf", **coarse)
    jobs = [
        from_template(bench, qe, "relax", **coarse),
        from_template(bench, qe, "vc_relax", fmax_ev_per_a=0.1, smax_gpa=5.0, **coarse),
        from_template(bench, qe, "md", steps=3, **coarse),
        from_template(bench, qe, "ph", **coarse),
    ]
    (scf,) = finish(bench, first)
    density = {"save_from": scf.directory}
    jobs += [
        from_template(bench, qe, "nscf_dos", density, k_spacing_inv_angstrom=0.6),
        from_template(bench, qe, "bands", density, n_bands=6),
    ]
    done = [scf, *finish(bench, *jobs)]
    assert [(one.state, one.message) for one in done] == [("COMPLETED", None)] * 7
    tasks = ["scf", "relax", "vc-relax", "md", "ph", "nscf", "bands"]
    assert [one.task for one in done] == tasks
    assert done[6].results["n_kpoints"] == 264


def test_phonons_at_gamma_are_those_of_decks_by_hand(bench: Bench, qe: QuantumEspresso) -> None:
    silicon = submit(
        bench, qe, poscar("Si", 10.26, "0 0 0", "0.25 0.25 0.25"), task="ph",
        inputs={**_SI, "ecutwfc_ry": 10.0, "k_mesh": [2, 2, 2], "k_shift": [1, 1, 1]},
    )  # fmt: skip
    (job,) = finish(bench, silicon)
    assert job.state == "COMPLETED", job.message
    acoustic, optical = job.results["frequencies"]["groups"]
    assert optical["thz"] == pytest.approx(15.2156, abs=0.01)
    assert (acoustic["modes"], optical["modes"]) == ([1, 3], [4, 6])
