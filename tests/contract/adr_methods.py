"""The methods of the decision record on the IPC boundary, as its table has them. Data."""

from __future__ import annotations

from typing import Final

ADR_TABLE: Final[dict[str, tuple[str, ...]]] = {
    "jobs": ("list", "get", "submit", "cancel", "log"),
    "materials": ("search", "generate_d12"),
    "slurm": ("queue", "cancel", "adopt", "sync"),
    "templates": ("list", "render"),
    "clusters": ("list", "get", "create", "update", "delete", "test"),
    "workflows": (
        "available",
        "create_convergence",
        "create_bands",
        "create_phonon",
        "create_eos",
        "launch_aiida",
    ),
}

ADR_METHODS: Final = tuple(f"{space}.{name}" for space, row in ADR_TABLE.items() for name in row)
