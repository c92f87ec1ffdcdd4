"""A pw.x job from the form to its verdict, in the terminal UI."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.conftest import Terminal
from support.daemon import ROOT
from support.screen import Screen

if TYPE_CHECKING:
    from conftest import QuantumEspresso

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(900)]

SI_SCF_RY = -15.84452726
RY_EV = 13.605693122990  # CODATA 2022
_PW_S = 240.0


@pytest.fixture
def desk(qe: QuantumEspresso) -> Iterator[tuple[Terminal, dict[str, str]]]:
    terminal = Terminal()
    yield (
        terminal,
        {**terminal.env, "ESPRESSO_PSEUDO": str(qe.pseudo), "OMP_NUM_THREADS": "1"},
    )
    terminal.daemon.cleanup()


def submit(ui: Screen, deck: Path) -> None:
    """Through the form, as a person does."""
    ui.see("live")
    ui.keys("a")
    ui.see("New job", "file")
    ui.type(str(deck))
    ui.see(deck.name)
    ui.keys("Enter")
    ui.see("espresso", "ready")
    ui.keys("C-s")


def energy_ry(text: str) -> float:
    found = re.search(r"energy +(-\d+\.\d+) eV", text)
    assert found is not None, text
    return float(found[1]) / RY_EV


def test_silicon_to_its_energy(desk: tuple[Terminal, dict[str, str]]) -> None:
    terminal, env = desk
    with Screen(terminal.program, env=env, cwd=ROOT) as ui:
        submit(ui, ROOT / "examples" / "si.scf.in")
        text = ui.see("completed", "converged", "energy", timeout_s=_PW_S)
        assert energy_ry(text) == pytest.approx(SI_SCF_RY, abs=1e-5)


def test_the_scf_is_plotted_while_it_runs(
    desk: tuple[Terminal, dict[str, str]], qe: QuantumEspresso, tmp_path: Path
) -> None:
    terminal, env = desk
    deck = tmp_path / "si.slow.in"
    text = (ROOT / "examples" / "si.scf.in").read_text(encoding="utf-8")
    text = re.sub(r"ecutwfc *= *[\d.]+", "ecutwfc = 60.0", text)
    text = re.sub(r"(?m)^ *\d+ +\d+ +\d+ +\d \d \d *$", " 14 14 14 0 0 0", text)
    deck.write_text(text, encoding="utf-8")
    with Screen(terminal.program, env=env, cwd=ROOT, cols=120, rows=40) as ui:
        submit(ui, deck)
        ui.see("running")
        ui.keys("Tab", "Tab")
        plot = ui.see("[Plots]", "[scf_accuracy]", "running", timeout_s=_PW_S)
        assert "/ Ry" in plot, "the axis has its unit"
        seen = ui.collect(r"last: (\S+)", until="completed", timeout_s=_PW_S)
        assert len(seen) >= 2, "the curve grows while it runs"
        assert float(seen[-1]) < float(seen[0])


def test_job_done_without_convergence_is_a_failure(
    desk: tuple[Terminal, dict[str, str]], qe: QuantumEspresso
) -> None:
    terminal, env = desk
    with Screen(terminal.program, env=env, cwd=ROOT, cols=120, rows=40) as ui:
        submit(ui, qe.decks / "si.noconv.in")
        ui.see("failed", "not converged", timeout_s=_PW_S)
        ui.keys("L")
        ui.see("JOB DONE")
