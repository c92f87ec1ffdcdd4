"""What crosses between host and worker: a 64-byte header, the payload's layout, the status page."""

from __future__ import annotations

import struct

ABI = 1
HEADER = struct.Struct("<12sIQIIIIdQQ")
STATUS = struct.Struct("<8s4Q2d2I2dQ32s")
STATUS_MAGIC = b"CMWSTAT1"
STATUS_BYTES = 4096
ALIGN = 64
NEW = 1

PROPERTIES = (
    "energy",
    "free_energy",
    "forces",
    "stress",
    "energies",
    "stresses",
    "magmoms",
    "charges",
    "dipole",
    "committee_energy",
    "committee_forces",
)
