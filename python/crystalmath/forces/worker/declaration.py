"""Runs an engine's declaration: its table of models, and its ``setup``.

The host only parses the file; here, inside the engine's environment, it is executed.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from .faults import Fault

_NAME = "crystalmath_declaration"
_BLOCK = re.compile(r"(?ms)^# /// script\n(.*?)^# ///$")
_COMMENT = re.compile(r"(?m)^# ?")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def import_first(names: Sequence[str]) -> None:
    """Import what must come before anything else."""
    for name in names:
        importlib.import_module(name)


def load(path: str) -> ModuleType:
    """Execute a declaration."""
    spec = importlib.util.spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        raise Fault("forces", "the declaration of the engine is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module  # pickling and dataclasses look there
    spec.loader.exec_module(module)
    if not callable(getattr(module, "setup", None)):
        raise Fault("forces", "the declaration of the engine has no function setup")
    return module


def entry_of(module: ModuleType, model: str) -> Mapping[str, Any]:
    """What the declaration says of a model; a file that it does not name is its ``file`` entry."""
    models = getattr(module, "MODELS", None)
    if not isinstance(models, Mapping):
        return {}
    found = models.get(model)
    if found is None:
        found = next((e for e in models.values() if dict(e).get("source") == "file"), {})
    return dict(found)


def call_setup(module: ModuleType, config: Mapping[str, Any], entry: Mapping[str, Any]) -> Any:
    """Call ``setup(model, device=…, dtype=…, **options)`` with what it takes.

    Raises
    ------
    Fault
        It does not take an option, the precision or the device that is asked for.
    """
    options = dict(config.get("options") or {})
    parameters = inspect.signature(module.setup).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    own = [name for name in list(parameters)[1:] if name not in ("device", "dtype")]
    unknown = [n for n in options if n not in own and (not takes_any or n in ("device", "dtype"))]
    if unknown:
        raise Fault(
            "input_rejected",
            f"the engine has no option {unknown[0]!r}",
            hint=f"its options: {', '.join(own)}" if own else "it has no options",
            field=f"options.{unknown[0]}",
        )
    dtype = config.get("dtype") or entry.get("dtype")
    _check_dtype(dtype, module, entry, takes="dtype" in parameters)
    if "dtype" in parameters and dtype is not None:
        options["dtype"] = dtype
    device = config.get("device") or "cpu"
    _check_device(device, getattr(module, "DEVICES", None))
    if "device" in parameters or takes_any:
        options["device"] = device
    return module.setup(config["model"], **options)


def _check_dtype(
    asked: str | None, module: ModuleType, entry: Mapping[str, Any], *, takes: bool
) -> None:
    """Refuse a precision that the model has not; without ``DTYPES`` ``setup`` must take it."""
    allowed = getattr(module, "DTYPES", None)
    own = entry.get("dtype")
    if allowed is None and not takes:
        allowed = [own or "float64"]
    if asked is not None and allowed is not None and asked not in allowed:
        raise Fault(
            "input_rejected",
            f"this engine computes in {' or '.join(allowed)}, not in {asked}",
            field="dtype",
        )


def _check_device(device: str, allowed: Sequence[str] | None) -> None:
    if allowed is not None and device.partition(":")[0] not in allowed:
        raise Fault(
            "input_rejected",
            f"this engine runs on {' or '.join(allowed)}, not on {device}",
            field="device",
        )
    if device.startswith("cuda"):
        _check_cuda(device)


def _check_cuda(device: str) -> None:
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return
    index = int(device.partition(":")[2] or 0)
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if index >= count:
        has = f"there are {count} devices" if count else "torch finds no GPU here"
        raise Fault("input_rejected", f"{device} cannot be used: {has}", field="device")


def versions(path: str) -> dict[str, str]:
    """Versions of Python and of the packages that the declaration asks for by name."""
    found = {"python": platform.python_version()}
    for name in ("numpy", "ase", *_dependencies(path)):
        version = _version(name)
        if version is not None:
            found[name] = version
    return found


def package(path: str) -> str | None:
    """Name and version of the first package that the declaration asks for."""
    name = next(iter(_dependencies(path)), "ase")
    version = _version(name)
    return None if version is None else f"{name} {version}"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _dependencies(path: str) -> list[str]:
    """Names of the packages in the script block; none with a Python that reads no TOML."""
    try:
        import tomllib
    except ImportError:
        return []
    block = _BLOCK.search(Path(path).read_text(encoding="utf-8"))
    if block is None:
        return []
    table = tomllib.loads(_COMMENT.sub("", block.group(1)))
    names = (_PACKAGE.match(text) for text in table.get("dependencies", []))
    return [name.group() for name in names if name is not None]
