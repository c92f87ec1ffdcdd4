"""The methods of the decision record on the IPC boundary, in its order: the requests of the UI.

Data, not derived: these names are fixed whatever the services do. ``rust_render`` makes
``BridgeRequest`` of them.
"""

from __future__ import annotations

from typing import Final

ROWS: Final[tuple[str, ...]] = (
    "jobs.list",
    "jobs.get",
    "jobs.submit",
    "jobs.cancel",
    "jobs.log",
    "materials.search",
    "materials.generate_d12",
    "slurm.queue",
    "slurm.cancel",
    "slurm.adopt",
    "slurm.sync",
    "templates.list",
    "templates.render",
    "clusters.list",
    "clusters.get",
    "clusters.create",
    "clusters.update",
    "clusters.delete",
    "clusters.test",
    "workflows.available",
    "workflows.create_convergence",
    "workflows.create_bands",
    "workflows.create_phonon",
    "workflows.create_eos",
    "workflows.launch_aiida",
)
