"""Workers that fail in every way seen: the error is typed, in time and told; the next call works.

Each case runs twice: with a worker of the calculator's own, and with one of the daemon's pool.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ase import Atoms
from ase.build import bulk
from ase.calculators.emt import EMT

from crystalmath.errors import (
    CrystalMathError,
    ForcesError,
    OutOfMemory,
    WorkerDied,
    WorkerTimeout,
)
from crystalmath.forces.launch import Deadlines
from crystalmath.forces.lean import LeanCalculator
from crystalmath.forces.pool.pool import Pool
from crystalmath.isolation.process import Processes
from crystalmath.services.ports_pool import PoolLimits, Wanted
from support.force_engines import calculator, evaluations, launch, places
from support.forces import WaitingCall, atoms

LIMITS = {"call_s": 1.0, "first_call_s": 1.0, "first_call_factor": 1.0, "term_s": 0.5}
HANG_S = 60.0
"""Ten times what the slowest of them should take: a deadline, TERM, KILL and a new worker."""

Ask = Callable[[float], float]
"""Ask for the energy of a dimer at a place x; beyond 50 Å it fails."""


@contextmanager
def own_worker(folder: Path, load_s: float, **options: Any) -> Iterator[Ask]:
    deadlines = Deadlines(load_s=load_s, **LIMITS)
    with calculator(folder, launch("faulty", options=options, deadlines=deadlines)) as lean:
        yield lambda x: lean.get_potential_energy(dimer(x))


@contextmanager
def pool_worker(folder: Path, load_s: float, **options: Any) -> Iterator[Ask]:
    made = launch("faulty", options=options)
    wanted = Wanted(made.environment, made.model, options=options)
    limits = PoolLimits(load_s=load_s, look_s=0.1, **LIMITS)  # type: ignore[arg-type]
    pool = Pool(Processes(places(folder)), limits, str(folder / "door"))

    def ask(x: float) -> float:
        structure = atoms((x, 0.0, 0.0), (x, 0.0, 2.4))
        found = pool.evaluate(wanted, [structure], ["energy"], WaitingCall(HANG_S))
        return float(memoryview(found.structures[0].arrays["energy"]).cast("d")[0])

    try:
        yield ask
    finally:
        pool.close()


WORKERS = {"own": own_worker, "pool": pool_worker}


def dimer(x: float) -> Atoms:
    return Atoms("Cu2", [(x, 0, 0), (x, 0, 2.4)])


def expected() -> float:
    own = dimer(0.0)
    own.calc = EMT()
    return float(own.get_potential_energy())


def told(error: CrystalMathError) -> str:
    """Everything that a person gets to see of it."""
    return " ".join([error.message, error.hint or "", *getattr(error, "__notes__", ())])


@pytest.mark.parametrize("whose", WORKERS)
@pytest.mark.parametrize(
    ("way", "kind", "says"),
    [
        ("exit 0", WorkerDied, "exit code 0"),
        ("exit 1", WorkerDied, "exit code 1"),
        ("exit 137", WorkerDied, "exit code 137"),
        ("segv", WorkerDied, "SIGSEGV"),
        ("kill", WorkerDied, "SIGKILL"),
        ("abort", WorkerDied, "SIGABRT"),
        ("stop", WorkerTimeout, "took longer than 1 s"),
        ("hang", WorkerTimeout, "took longer than 1 s"),
        ("spin", WorkerTimeout, "took longer than 1 s"),
        ("deaf", WorkerTimeout, "took longer than 1 s"),
    ],
)
def test_a_call_that_ends_its_worker(
    tmp_path: Path, whose: str, way: str, kind: type[CrystalMathError], says: str
) -> None:
    with WORKERS[whose](tmp_path, 60.0, call=way) as ask:
        assert ask(0.0) == pytest.approx(expected(), abs=1e-12)
        began = time.monotonic()
        with pytest.raises(kind) as caught:
            ask(60.0)
        assert says in caught.value.message
        if kind is WorkerDied:
            assert "while it was computing" in caught.value.message
            assert "so it ends" in told(caught.value)
        assert ask(0.0) == pytest.approx(expected(), abs=1e-12)  # from a new worker
        assert time.monotonic() - began < HANG_S
    assert not left(tmp_path)


@pytest.mark.parametrize("whose", WORKERS)
@pytest.mark.parametrize(
    ("way", "kind", "says"),
    [
        ("raise", ForcesError, "RuntimeError: no weights today"),
        ("sys.exit", ForcesError, "sys.exit(5)"),
        ("exit 0", WorkerDied, "exit code 0"),
        ("exit 1", WorkerDied, "exit code 1"),
        ("segv", WorkerDied, "SIGSEGV"),
        ("kill", WorkerDied, "SIGKILL"),
        ("hang", WorkerTimeout, "2 s"),
        ("stop", WorkerTimeout, "2 s"),
        ("deaf", WorkerTimeout, "2 s"),
    ],
)
def test_a_setup_that_fails(
    tmp_path: Path, whose: str, way: str, kind: type[CrystalMathError], says: str
) -> None:
    load_s = 2.0 if kind is WorkerTimeout else 60.0
    with WORKERS[whose](tmp_path, load_s, load=way) as ask:
        began = time.monotonic()
        with pytest.raises(kind) as caught:
            ask(0.0)
        assert says in caught.value.message
        if kind is WorkerDied:
            assert "loading" in caught.value.message
            assert "so it ends" in told(caught.value)
        assert time.monotonic() - began < HANG_S
    assert not left(tmp_path)


@pytest.mark.parametrize("whose", WORKERS)
@pytest.mark.parametrize("options", [{"load": "flood"}, {"call": "flood"}])
def test_ten_megabytes_on_standard_output_harm_nothing(
    tmp_path: Path, whose: str, options: dict[str, str]
) -> None:
    with WORKERS[whose](tmp_path, 60.0, **options) as ask:
        assert ask(60.0) == pytest.approx(expected(), abs=1e-9)
        assert ask(0.0) == pytest.approx(expected(), abs=1e-12)
        logs = list((tmp_path / "environments" / ".logs").glob("*.stderr"))
        assert sum(log.stat().st_size for log in logs) < 1_000_000


@pytest.mark.parametrize("whose", WORKERS)
@pytest.mark.parametrize(("way", "says"), [("raise", "no weights"), ("sys.exit", "sys.exit(5)")])
def test_an_exception_in_a_call_leaves_the_worker(
    tmp_path: Path, whose: str, way: str, says: str
) -> None:
    with WORKERS[whose](tmp_path, 60.0, call=way) as ask:
        for _ in range(2):
            if whose == "own":
                with pytest.raises(ForcesError, match=r"no weights|sys\.exit") as caught:
                    ask(60.0)
                assert says in caught.value.message
            else:
                with pytest.raises(KeyError):  # the structure has an error and no energy
                    ask(60.0)
            assert ask(0.0) == pytest.approx(expected(), abs=1e-12)
    logs = list((tmp_path / "environments" / ".logs").glob("*.stderr"))
    assert len(logs) == 1  # one worker all the time


def test_a_tail_is_told_with_a_timeout_too(tmp_path: Path) -> None:
    with own_worker(tmp_path, 60.0, call="hang") as ask:
        ask(0.0)
        with pytest.raises(WorkerTimeout) as caught:
            ask(60.0)
        assert "so it ends" in told(caught.value)
        assert "for 2 atoms" in caught.value.message


def test_a_worker_killed_between_calls_is_replaced(tmp_path: Path) -> None:
    with calculator(tmp_path, launch("faulty")) as lean:
        assert lean.get_potential_energy(dimer(0.0)) == pytest.approx(expected(), abs=1e-12)
        for pid in left(tmp_path):
            os.kill(pid, 9)
        with pytest.raises(WorkerDied):  # what was asked of it is never repeated silently
            lean.get_potential_energy(dimer(1.0))
        assert lean.get_potential_energy(dimer(1.0)) == pytest.approx(expected(), abs=1e-12)
    assert isinstance(lean, LeanCalculator)
    assert not left(tmp_path)


def test_a_structure_that_cannot_fit_is_refused_before_it_is_tried(tmp_path: Path) -> None:
    """Half a MiB for each atom, learnt from 4 and 108 atoms; 1372 would need 700 MiB."""
    copper = bulk("Cu", cubic=True)
    made = launch("hungry", memory_bytes=400 * 1024 * 1024)
    with calculator(tmp_path, made) as lean:
        for n in (1, 3):
            lean.get_potential_energy(copper * (n, n, n))
        counted = evaluations(lean)
        with pytest.raises(OutOfMemory, match="1372 atoms would need about") as caught:
            lean.get_potential_energy(copper * (7, 7, 7))
        assert "there are 0.391 GiB" in caught.value.message
        found = lean.evaluate([copper, copper * (7, 7, 7)], ["energy"], errors="return")
        assert "energy" in found[0]
        assert isinstance(found[1], OutOfMemory)
        assert evaluations(lean) == counted + 1


def left(folder: Path) -> list[int]:
    """Processes that work for this folder and have not ended."""
    mark = str(folder).encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes() and (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
