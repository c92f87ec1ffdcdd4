"""The structure reader that the services use: it lets a worker process do the work.

Loads no heavy library, so it may live in the daemon. Built by ``api`` with the ``run`` function of
the worker pool.
"""

from __future__ import annotations

from crystalmath.services.ports import RunWorker, StructureData
from crystalmath.services.structure_in import decode_structure
from crystalmath.structures.request import check_request

READ_STRUCTURE = "crystalmath.structures.read:read_structure"


class WorkerStructureReader:
    """Implements ``services.ports.StructureReader``.

    Parameters
    ----------
    run
        The worker pool.
    deadline_s
        Seconds that one structure may take.
    """

    def __init__(self, run: RunWorker, deadline_s: float) -> None:
        self._run = run
        self._deadline_s = deadline_s

    def read(
        self,
        *,
        path: str | None = None,
        text: str | None = None,
        format: str | None = None,  # noqa: A002 - the word of the contract
    ) -> StructureData:
        """Read one structure; raises ``InputRejected`` with field and hint."""
        check_request(path, text, format)  # what is wrong on its face needs no worker
        document = self._run(
            READ_STRUCTURE, {"path": path, "text": text, "format": format}, self._deadline_s
        )
        return decode_structure(document)
