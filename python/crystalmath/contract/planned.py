"""Methods of the contract that are not built yet, each with what to use meanwhile.

They answer -32000 with kind ``not_implemented`` and this hint. The list may only shrink: a test
compares it with ``tests/fixtures/planned_methods.txt``.
"""

from __future__ import annotations

from typing import Final

_WORKFLOWS = "This kind of workflow is not built; `workflows.available` shows those that are."
_EXTENSIONS = "Extensions come after the isolated force engines."

PLANNED: Final[dict[str, str]] = {
    "jobs.export": "Use `jobs.list` and `jobs.get` meanwhile.",
    "workflows.launch_aiida": "AiiDA comes as an isolated extension.",
    "workflows.play": "It is for workflows of AiiDA, which comes as an isolated extension.",
    "extensions.list": _EXTENSIONS,
    "extensions.load": _EXTENSIONS,
    "extensions.call": _EXTENSIONS,
    "extensions.unload": _EXTENSIONS,
}
