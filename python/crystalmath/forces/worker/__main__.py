"""Entry of ``python -I WORKER/__main__.py --control FD --status FD --declaration PATH``.

The folder is loaded as a package of its own name, so that none of its modules can be mistaken for
one of the environment's.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path

_PACKAGE = "crystalmath_worker"


def _load_package() -> None:
    folder = Path(__file__).absolute().parent
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    os.dup2(2, 1)  # before anything is imported: what libraries print must not meet the protocol
    _load_package()
    importlib.import_module(f"{_PACKAGE}.entry").main(sys.argv[1:])
