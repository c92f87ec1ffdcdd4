"""What tests of force workers share: launches of shipped engines and of those that misbehave."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crystalmath.forces.launch import Deadlines, Launch
from crystalmath.forces.lean import LeanCalculator
from crystalmath.forces.source import DirectSource
from crystalmath.isolation.declaration import load_declaration
from crystalmath.isolation.places import Places
from crystalmath.isolation.process import Processes
from crystalmath.services.ports_forces import ReadyEnvironment, ResolvedModel

ROOT = Path(__file__).resolve().parents[2]
WORKER = ROOT / "python/crystalmath/forces/worker/__main__.py"
SHIPPED = ROOT / "python/crystalmath/forces/envs"
OWN = Path(__file__).with_name("engines")


def places(folder: Path) -> Places:
    """Everything of isolated environments below one folder."""
    return Places(data_dir=folder, shipped=SHIPPED)


def launch(
    engine: str,
    model: str | None = None,
    *,
    python: str = sys.executable,
    deadlines: Deadlines | None = None,
    **settings: Any,
) -> Launch:
    """What starts the worker of an engine with a given interpreter.

    Parameters
    ----------
    model
        Its default, the only one it has, or an absolute path.
    """
    folder = SHIPPED if (SHIPPED / f"{engine}.py").is_file() else OWN
    declared = load_declaration(folder / f"{engine}.py", "shipped").engine
    assert declared.problem is None, declared.problem
    if model is not None and model.startswith("/"):
        found = next(m for m in declared.models if m.source == "file")
        resolved = ResolvedModel(Path(model).name, model, f"file:{model}", None, found)
    else:
        found = next(
            m
            for m in declared.models
            if m.id == model or (model is None and (m.default or len(declared.models) == 1))
        )
        resolved = ResolvedModel(found.id, found.id, f"{engine}:{found.id}", None, found)
    return Launch(
        environment=ReadyEnvironment(
            id="host",
            engine=engine,
            python=python,
            worker=str(WORKER),
            declaration=str(declared.path),
            versions={},
            python_version="3",
        ),
        model=resolved,
        import_first=declared.import_first,
        deadlines=deadlines or Deadlines(),
        **settings,
    )


@contextmanager
def calculator(
    folder: Path, launches: Launch | Sequence[Launch], **settings: Any
) -> Iterator[LeanCalculator]:
    """A calculator with workers of its own, which end with it."""
    terms = [launches] if isinstance(launches, Launch) else list(launches)
    name = "+".join(term.environment.engine for term in terms)
    source = DirectSource(Processes(places(folder)), terms, {"engine": name})
    with LeanCalculator(source, **settings) as found:
        yield found


def evaluations(lean: LeanCalculator) -> int:
    """Structures that the model of the (first) worker has computed."""
    source = lean._source
    assert isinstance(source, DirectSource)
    return source.workers[0].evaluations
