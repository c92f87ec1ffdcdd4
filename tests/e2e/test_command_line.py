"""What a user types, with the real client, the real daemon and real programs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Terminal
from support.daemon import ROOT, wait_until
from support.espresso import output

COPPER = ("submit", "examples/copper.cif", "--task", "relax", "--engine", "emt")


def test_one_command_ends_with_a_relaxed_crystal(terminal: Terminal) -> None:
    assert not terminal.daemon.answers()
    done = terminal.run(*COPPER, "--wait")
    assert done.returncode == 0, done.stderr
    assert terminal.daemon.answers(), "the daemon was started by itself, and stays"
    lattice = re.search(r"a = (\d\.\d+) Å", done.stdout)
    assert lattice is not None, done.stdout
    assert float(lattice[1]) == pytest.approx(3.590, abs=0.002)
    assert re.search(r"energy +-0\.028\d* eV", done.stdout)
    for later in (("show", "1"), ("log", "1")):
        shown = terminal.run(*later)
        assert shown.returncode == 0
        assert "3.589" in shown.stdout
    (row,) = terminal.json("jobs")["data"]
    assert row["state"] == "COMPLETED"
    assert row["science"]["energy_ev"] == pytest.approx(-0.0281460, abs=1e-6)


def test_a_workflow_ends_with_its_numbers(terminal: Terminal) -> None:
    asked = ("workflows", "relax", "examples/copper.cif", "--engine", "emt")
    refused = terminal.run(*asked, "--max-steps", "0")
    assert refused.returncode == 2
    assert "--max-steps" in refused.stderr
    done = terminal.run(*asked, "--smax", "0.001", "--wait")
    assert done.returncode == 0, done.stderr
    assert re.search(r"a of the relaxed conventional cell +3\.5898\d+ +Å", done.stdout), done.stdout
    assert re.search(r"^relax +COMPLETED \(job 1\)", done.stderr, re.MULTILINE), done.stderr
    assert "" not in done.stderr.splitlines()
    shown = terminal.run("workflows", "show", "1").stdout
    assert re.search(r"^report +COMPLETED +1 +- +symmetry and results", shown, re.MULTILINE)
    again = terminal.run("workflows", "cancel", "1")
    assert (again.returncode, "already ended" in again.stderr) == (1, True)


def test_an_equation_of_state_ends_with_its_plot_and_gives_files(
    terminal: Terminal, tmp_path: Path
) -> None:
    asked = ("workflows", "eos", "examples/copper.cif", "--engine", "emt", "--points", "5")
    done = terminal.run(*asked, "--wait")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^B₀ +134\.\d+ ", done.stdout, re.MULTILINE), done.stdout
    lines = done.stdout.splitlines()
    top = lines.index("Energy over volume")
    plot = lines[top : top + 20]
    assert plot[2] == "energy / eV"
    assert sum(line.count("o") for line in plot[3:-3]) == 5
    assert max(map(len, plot)) <= 80
    picture = tmp_path / "eos.png"
    assert terminal.run("workflows", "plot", "1", "-o", str(picture)).returncode == 0
    assert picture.read_bytes().startswith(b"\x89PNG\r\n")
    again = terminal.run("workflows", "plot", "1", "-o", str(picture))
    assert (again.returncode, "--force" in again.stderr) == (2, True)
    refused = terminal.run("workflows", "plot", "1", "bands")
    assert (refused.returncode, "it has: energy, pressure" in refused.stderr) == (1, True)
    folder = tmp_path / "csv"
    written = terminal.run("workflows", "export", "1", "--format", "csv", "-o", str(folder))
    assert "points.csv" in written.stdout
    assert len((folder / "points.csv").read_text(encoding="utf-8").splitlines()) == 6
    refused = terminal.run("workflows", "export", "1", "--format", "phonopy")
    assert (refused.returncode, "json, csv, pymatgen" in refused.stderr) == (2, True)


def test_a_script_with_arguments_from_another_directory(terminal: Terminal, tmp_path: Path) -> None:
    script = tmp_path / "count.sh"
    script.write_text("#!/bin/sh\nseq 3\n", encoding="utf-8")
    script.chmod(0o755)
    done = terminal.run("submit", "count.sh", "--wait", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert terminal.run("log", "1").stdout == "1\n2\n3\n"
    assert terminal.json("files", "1")["data"]


def test_failures_end_with_one_and_say_why(terminal: Terminal, tmp_path: Path) -> None:
    script = tmp_path / "bad.sh"
    script.write_text("#!/bin/sh\necho the deck is wrong >&2\nexit 4\n", encoding="utf-8")
    script.chmod(0o755)
    done = terminal.run("submit", str(script), "--wait")
    assert done.returncode == 1
    assert "the deck is wrong" in done.stdout + done.stderr
    gone = terminal.run("submit", "nothing.cif", "--task", "relax", "--engine", "emt")
    assert gone.returncode in (1, 2)
    assert "nothing.cif" in gone.stderr
    unknown = terminal.run("show", "99", "--json")
    assert unknown.returncode == 1
    assert json.loads(unknown.stdout)["error"]["kind"] == "not_found"


def test_interrupting_the_wait_leaves_the_job_alone(terminal: Terminal, tmp_path: Path) -> None:
    script = tmp_path / "long.sh"
    script.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    script.chmod(0o755)
    waiting = terminal.popen("submit", str(script), "--wait")
    wait_until(terminal.daemon.answers, "the daemon runs")

    def running() -> bool:
        jobs = terminal.daemon.call("jobs.list")
        return bool(jobs) and jobs[0]["state"] == "RUNNING"

    wait_until(running, "the job runs")
    waiting.send_signal(signal.SIGINT)
    _, err = waiting.communicate(timeout=60)
    assert waiting.returncode == 130
    assert "1" in err
    assert running()
    assert terminal.run("cancel", "1").returncode == 0
    wait_until(lambda: terminal.daemon.call("jobs.list")[0]["state"] == "CANCELLED", "it is ended")


def test_waiting_survives_the_death_of_the_daemon(terminal: Terminal, tmp_path: Path) -> None:
    script = tmp_path / "gate.sh"
    gate = tmp_path / "go"
    script.write_text(
        f"#!/bin/sh\nwhile [ ! -e {gate} ]; do sleep 0.05; done\necho through\n", encoding="utf-8"
    )
    script.chmod(0o755)
    waiting = terminal.popen("submit", str(script), "--wait")
    wait_until(terminal.daemon.answers, "the daemon runs")

    def running() -> bool:
        jobs = terminal.daemon.call("jobs.list")
        return bool(jobs) and jobs[0]["state"] == "RUNNING"

    wait_until(running, "the job runs")
    os.kill(terminal.daemon.pid(), signal.SIGKILL)
    gate.touch()
    _, err = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, err
    assert len(terminal.daemon.call("jobs.list")) == 1


def test_many_first_commands_start_one_daemon(terminal: Terminal) -> None:
    clients = [terminal.popen("jobs", "--json") for _ in range(12)]
    for client in clients:
        out, err = client.communicate(timeout=60)
        assert client.returncode == 0, err
        assert json.loads(out)["data"] == []
    instances = {terminal.json("call", "system.hello")["data"]["instance"] for _ in range(3)}
    assert len(instances) == 1
    starts = [line for line in terminal.daemon.log_lines() if line.get("msg") == "ready"]
    assert len(starts) <= 1


def test_output_into_a_closed_pipe_ends_quietly(terminal: Terminal) -> None:
    terminal.json("jobs")
    done = subprocess.run(
        f"{terminal.program} completions bash | head -n 1", shell=True, env=terminal.env,
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout
    assert done.stderr == ""


def test_a_deck_fails_is_continued_and_read(terminal: Terminal, tmp_path: Path) -> None:
    """A stand-in for pw.x says what the real one once said."""
    said = tmp_path / "said"
    program = tmp_path / "pw.x"
    program.write_text(f"#!/bin/sh\ncat {said}\nexit $(cat {tmp_path}/code)\n", encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "Si.pz-vbc.UPF").write_text("<UPF/>", encoding="utf-8")
    terminal.env["ESPRESSO_PSEUDO"] = str(tmp_path)

    def let_it_say(text: str, code: int) -> None:
        said.write_text(text, encoding="utf-8")
        (tmp_path / "code").write_text(str(code), encoding="utf-8")

    deck = tmp_path / "silicon"
    deck.write_text((ROOT / "examples" / "si.noconv.in").read_text("utf-8"), encoding="utf-8")
    let_it_say(output("si.noconv"), 2)
    failed = terminal.run("submit", str(deck), "--param", f"executable={program}", "--wait")
    assert failed.returncode == 1, failed.stderr
    assert "FAILED (not_converged)" in failed.stdout

    seen = terminal.run("continue", "1", "--dry-run")
    assert seen.returncode == 0, seen.stderr
    assert "-   electron_maxstep = 2\n+   electron_maxstep = 100\n" in seen.stdout
    assert len(terminal.json("jobs")["data"]) == 1
    let_it_say(output("si.scf"), 0)
    onward = terminal.run("continue", "1", "--wait", "--name", "onward")
    assert onward.returncode == 0, onward.stdout + onward.stderr
    assert "onward: COMPLETED" in onward.stdout
    assert "continues job 1" in terminal.run("show", "2").stdout

    by_hand = tmp_path / "by hand"
    by_hand.mkdir()
    (by_hand / "si.scf.out").write_text(output("si.scf"), encoding="utf-8")
    read = terminal.run("read", "si.scf.out", cwd=by_hand)
    assert read.returncode == 0, read.stderr
    assert "espresso scf: COMPLETED" in read.stdout
    taken = terminal.run("import", ".", "--wait", cwd=by_hand)
    assert taken.returncode == 0, taken.stderr
    assert "job 3 by hand: COMPLETED" in taken.stdout
    assert "-215.575776 eV" in taken.stdout
