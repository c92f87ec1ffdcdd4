"""CrystalMath: a terminal workbench for crystallographic calculations.

Holds the version and the public names, which are loaded on first use: importing the package
imports nothing else. Not a place for code. Read by everyone, also by the build.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crystalmath.calculators import calculator
    from crystalmath.client import Client

__version__ = "0.1.0"
__all__ = ["Client", "__version__", "calculator"]

_ROOMS = {"Client": "crystalmath.client", "calculator": "crystalmath.calculators"}


def __getattr__(name: str) -> object:
    """Load a public name from its room (PEP 562)."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_ROOMS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
