"""What a process in an environment finds around itself: variables and directories. Nothing leaks.

A white list of variables, and a home directory of the engine's own, so that packages which write
into the home directory hit that one. At run time nothing is downloaded.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PASSED: Final = (
    "PATH", "LANG", "TZ", "TMPDIR",
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK", "ONEAPI_DEVICE_SELECTOR",
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
)  # fmt: skip
"""Variables of the host that a worker gets, beside ``LC_*``: where programs are, the language,
which devices, and for which processor a linear-algebra library takes this one to be."""

_LIBRARY_PATH: Final = "LD_LIBRARY_PATH"

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
    host
        Variables of the host; None: those of this process.
    """
    source = os.environ if host is None else host
    passed = {n: v for n, v in source.items() if n in _PASSED or n.startswith("LC_")}
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


def library_path(library_dir: str | None, *, foreign: bool) -> dict[str, str]:
    """Return the search path for shared libraries, as far as a process needs it.

    Parameters
    ----------
    library_dir
        Where the shared library of the interpreter lies. It is passed only where the host finds
        it by the search path too: a Python from a cluster's module could not start otherwise.
    foreign
        The interpreter is not ours (external, or the host's own): it may need all of the path. In
        an environment that was built the path would bring in other libraries than the locked ones.
    """
    given = os.environ.get(_LIBRARY_PATH)
    if not given:
        return {}
    if foreign:
        return {_LIBRARY_PATH: given}
    if library_dir is not None and library_dir in given.split(os.pathsep):
        return {_LIBRARY_PATH: library_dir}
    return {}


def make_directories(caches: Path) -> None:
    """Make the directories that :func:`variables` names."""
    for name in ("home", "cache"):
        (caches / name).mkdir(mode=0o700, parents=True, exist_ok=True)


@contextmanager
def empty_directory(caches: Path) -> Iterator[Path]:
    """Give an empty working directory for a short look at an interpreter."""
    make_directories(caches)
    with tempfile.TemporaryDirectory(dir=caches, prefix="work-") as folder:
        yield Path(folder)
