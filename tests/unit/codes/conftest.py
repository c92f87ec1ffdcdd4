"""One thread for linear algebra: on 3 by 3 matrices, threads only wait for each other.

Set before anything imports numpy; a job of the daemon gets the same from its adapter.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
