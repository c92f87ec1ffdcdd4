"""The clusters as a person sees them, with a cluster that is this machine itself."""

from __future__ import annotations

from pathlib import Path

from e2e.ui.conftest import Open


def test_a_cluster_is_described_tried_changed_and_forgotten(screen: Open, tmp_path: Path) -> None:
    ui = screen(cols=120, rows=40)
    ui.see("No jobs yet", "live")
    ui.keys("7")
    ui.see("No cluster is described")

    ui.keys("a")
    ui.see("New cluster", "not saved yet")
    ui.keys("C-s")
    ui.see("things to correct")
    ui.keys("Enter")
    ui.type("here")
    ui.keys("Enter")
    ui.keys("Right")  # without a scheduler
    ui.see_row("kind", "ssh")
    ui.keys("Down", "Enter")
    ui.type("localhost")
    ui.keys("Enter")
    ui.keys("Down", "Down", "Down", "Down", "Down")
    ui.see("Where job directories are made")
    ui.keys("Enter")
    ui.type(str(tmp_path / "work"))
    ui.keys("Enter", "C-s")
    ui.see("here is saved")
    ui.see_row("never asked", "here", "localhost")

    ui.keys("t")
    ui.see("nothing is wrong")
    ui.see_row("✓ active", "here")
    ui.see_row("reachable", "✓ yes")

    ui.keys("e")
    ui.see("Cluster here", "as it is saved")
    ui.keys("Enter", "2", "Enter", "C-s")
    ui.see("here2 is saved")
    ui.see_row("here2", "localhost")

    ui.keys("d")
    ui.see("Forget 1 cluster, here2?")
    ui.keys("y")
    ui.see("No cluster is described")
    ui.leave()
