"""``crystalmath.calculator``: an ASE calculator over a force engine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from crystalmath.errors import InputRejected

if TYPE_CHECKING:
    from crystalmath.forces.lean import LeanCalculator


def calculator(
    engine: str,
    *,
    model: str | os.PathLike[str] | None = None,
    dtype: Literal["float32", "float64"] | None = None,
    device: str = "cpu",
    via: Literal["daemon", "direct"] = "daemon",
    socket: str | os.PathLike[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    allow_toy_elements: bool = False,
    ignore_info: Iterable[str] = (),
    allowance_s: float = 0.0,
    **options: Any,
) -> LeanCalculator:
    """Make an ASE calculator over a force engine in an environment of its own.

    Nothing is loaded before the first number is asked for.

    Parameters
    ----------
    engine
        Name of an engine (``crystalmath engines list``), or a sum such as ``"mace+dftd3"``.
    model
        Name of a model, or the path of a file of weights; the engine's default when left out.
    dtype
        Precision; that of the model when left out.
    device
        ``cpu``, ``cuda`` or ``cuda:N``.
    via
        ``daemon``: a worker that all clients share and that stays warm. ``direct``: a worker of
        this process's own, which ends with it.
    socket
        Of the daemon; by default where the daemon of this user is. It is started if none runs.
    data_dir
        Where environments lie, for ``direct``.
    allow_toy_elements
        Accept elements for which the engine has parameters without meaning.
    ignore_info
        Keys of ``atoms.info`` that are not for the engine.
    allowance_s
        Seconds that one request may take; 0: what the worker allows by default.
    **options
        Options of the engine; for a sum, those of each engine under its name, with ``model`` among
        them for all but the first: ``calculator("mace+dftd3", dftd3={"model": "rpbe"})``.

    Returns
    -------
    LeanCalculator
        Put it on ``atoms.calc``; ``CrystalMathCalculator(it)`` of ``crystalmath.forces`` is an
        ``ase.calculators.calculator.Calculator`` over it.

    Raises
    ------
    InputRejected
        What is asked for makes no sense. What is not installed, or does not exist, is told when the
        first number is asked for (``direct``: at once).
    """
    from crystalmath.calculators.request import requests_of
    from crystalmath.forces.lean import LeanCalculator
    from crystalmath.forces.source import Source

    weights = _model(model)
    requests = requests_of(engine, weights, dtype, device, options)
    parameters = {"engine": engine, "model": weights, "dtype": dtype, "device": device,
                  "via": via, **options}  # fmt: skip
    parameters = {name: value for name, value in parameters.items() if value is not None}
    source: Source
    if via == "daemon":
        from crystalmath.calculators.daemon import DaemonSource

        path = None if socket is None else str(Path(socket).absolute())
        source = DaemonSource(requests, parameters, socket=path)
    elif via == "direct":
        from crystalmath.calculators.own import direct_source

        folder = None if data_dir is None else str(Path(data_dir).absolute())
        source = direct_source(requests, parameters, data_dir=folder)
    else:
        raise InputRejected(f"via is 'daemon' or 'direct', not {via!r}", field="via")
    return LeanCalculator(
        source,
        allow_toy_elements=allow_toy_elements,
        ignore_info=ignore_info,
        allowance_s=allowance_s,
    )


def _model(model: str | os.PathLike[str] | None) -> str | None:
    """A name as it is; a path that exists, or looks like one, as an absolute path."""
    if model is None or (isinstance(model, str) and os.sep not in model and not _is_file(model)):
        return model
    return str(Path(model).absolute())


def _is_file(model: str) -> bool:
    return Path(model).is_file()
