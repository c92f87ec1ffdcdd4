"""Every method name that clients may rely on, beyond those of the decision record. Data.

A name never leaves this list; a method that is not built yet answers ``not_implemented``.
"""

from __future__ import annotations

from typing import Final

API_TABLE: Final[dict[str, tuple[str, ...]]] = {
    "rpc": ("discover",),
    "system": ("hello", "ping", "status", "doctor", "usage", "shutdown", "config"),
    "events": ("subscribe", "unsubscribe"),
    "jobs": (
        "rerun",
        "continue",
        "delete",
        "files",
        "read_file",
        "series",
        "tag",
        "export",
        "import_results",
    ),
    "codes": ("read_output", "lint", "list"),
    "materials": (
        "get",
        "providers",
        "import",
        "convert",
        "inspect",
        "generate_d3",
        "generate_inputs",
    ),
    "templates": ("get", "save"),
    "clusters": ("accept_host_key", "login"),
    "slurm": ("release",),
    "workflows": (
        "create_relax",
        "create_elastic",
        "create_md",
        "list",
        "get",
        "cancel",
        "resume",
        "retry",
        "play",
        "plot",
        "export",
    ),
    "forces": (
        "engines",
        "environments",
        "install",
        "models",
        "evaluate",
        "attach",
        "relax",
        "workers",
        "status",
        "stop",
        "doctor",
        "gc",
        "serve",
    ),
    "extensions": ("list", "load", "call", "unload"),
}

API_METHODS: Final = (
    "$/cancel",
    *(f"{space}.{name}" for space, row in API_TABLE.items() for name in row),
)
