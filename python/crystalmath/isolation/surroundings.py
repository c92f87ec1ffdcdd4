"""What a process in an environment finds around itself: variables and directories. Nothing leaks.

A white list of variables, and a home directory of the engine's own, so that packages which write
into the home directory hit that one. At run time nothing is downloaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

PASSED: Final = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "LC_NUMERIC", "TZ", "TMPDIR",
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "LD_LIBRARY_PATH", "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
)  # fmt: skip
"""Variables of the host that a worker gets: where programs are, the language, which devices. The
library path is among them because drivers of accelerators are found by it on many clusters; what
it brings in is seen by the check of mapped libraries."""

_THREADS: Final = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip


def variables(
    caches: Path, *, threads: int = 1, host: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the whole environment of a process.

    Parameters
    ----------
    caches
        The engine's own directory.
    """
    source = os.environ if host is None else host
    passed = {name: source[name] for name in PASSED if name in source}
    home = str(caches / "home")
    cache = str(caches / "cache")
    return {
        "PATH": os.defpath,
        **passed,
        **dict.fromkeys(_THREADS, str(threads)),
        "HOME": home,
        "XDG_CACHE_HOME": cache,
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "HF_HOME": f"{cache}/huggingface",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TORCH_HOME": f"{cache}/torch",
        "MPLCONFIGDIR": f"{cache}/matplotlib",
        "TRITON_CACHE_DIR": f"{cache}/triton",
        "TORCHINDUCTOR_CACHE_DIR": f"{cache}/inductor",
        "WARP_CACHE_PATH": f"{cache}/warp",
        "NUMBA_CACHE_DIR": f"{cache}/numba",
    }


def make_directories(caches: Path) -> None:
    """Make the directories that :func:`variables` names."""
    for name in ("home", "cache"):
        (caches / name).mkdir(mode=0o700, parents=True, exist_ok=True)
