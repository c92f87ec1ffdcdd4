"""What a job script says that somebody submits himself: nothing follows that job. Pure.

``script`` writes the scripts of CrystalMath's own jobs, and knows the options for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from crystalmath.runners.slurm.script import launch_words, plain_options, request_of
from crystalmath.services.ports_cluster import ClusterRecord
from crystalmath.services.ports_templates import BatchWords

_LAUNCHER: Final = "srun"
"""Where no cluster says which."""


def batch_words(record: ClusterRecord | None, resources: Mapping[str, Any]) -> BatchWords:
    """See ``BatchWriter``."""
    request = request_of(record, resources)
    launcher = _LAUNCHER if record is None else record.launcher
    return BatchWords(
        options=plain_options(request),
        launch=launch_words(launcher, request),
        setup=() if record is None else record.setup_commands,
    )
