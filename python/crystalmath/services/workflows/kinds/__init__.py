"""The kinds of workflow, one module each: the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crystalmath.services.workflows.kinds.bands import Bands
from crystalmath.services.workflows.kinds.convergence import Convergence
from crystalmath.services.workflows.kinds.elastic import Elastic
from crystalmath.services.workflows.kinds.eos import Eos
from crystalmath.services.workflows.kinds.md import Md
from crystalmath.services.workflows.kinds.phonon import Phonon
from crystalmath.services.workflows.kinds.relax import Relax
from crystalmath.services.workflows.plan import Procedure

PROCEDURES: Final[Mapping[str, Procedure]] = {
    one.kind: one for one in (Relax(), Eos(), Convergence(), Bands(), Phonon(), Elastic(), Md())
}
