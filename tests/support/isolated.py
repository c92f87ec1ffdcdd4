"""Small environments for tests: declarations, wheels made on the spot, and a worker that obeys."""

import base64
import hashlib
import json
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from crystalmath.isolation.kit import WorkerKit
from crystalmath.isolation.places import Places
from crystalmath.isolation.process import Process, Processes
from crystalmath.isolation.provider import Environments

PATIENCE_S = 60.0
WORKER = '''\
"""Does what its arguments say."""
import json, os, sys, time
if sys.argv[1] == "tell":
    import numpy
    told = {"version": numpy.__version__, "file": numpy.__file__, "path": sys.path,
            "env": dict(os.environ), "cwd": os.listdir("."),
            "fds": sorted(int(f) for f in os.listdir("/proc/self/fd")
                          if os.path.lexists("/proc/self/fd/" + f))}
    with open(sys.argv[2], "w") as file:
        json.dump(told, file)
elif sys.argv[1] == "exec":
    exec(sys.argv[2])
'''


class House:
    """A provider with its places, and a process host."""

    def __init__(self, root: Path, abi: int = 1, uv_cache: Path | None = None) -> None:
        self.root = root
        self.worker = root / "worker"
        for folder in ("worker", "shipped", "user", "data"):
            (root / folder).mkdir(exist_ok=True)
        (self.worker / "__main__.py").write_text(WORKER)
        self.places = Places(root / "data", root / "shipped", root / "user", uv_cache)
        self.provider = Environments(self.places, WorkerKit(self.worker, abi))
        self.host = Processes(self.places)

    def declare(self, name: str, *dependencies: str, more: str = "", folder: str = "user") -> Path:
        """Write a declaration; ``more`` are lines of its block."""
        block = [f"dependencies = {json.dumps(list(dependencies))}", *more.splitlines()]
        text = "".join(f"# {line}\n" for line in block)
        path = self.root / folder / f"{name}.py"
        path.write_text(f"# /// script\n{text}# ///\ndef setup(model): ...\n")
        return path

    def start(self, engine: str, *arguments: str, **more: object) -> Process:
        """Start the worker of an engine that is installed."""
        ready = self.provider.ready(engine)
        assert ready is not None
        return self.host.start(ready, arguments, **more)  # type: ignore[arg-type]

    def run(self, engine: str, *arguments: str, **more: object) -> tuple[int | None, str]:
        """Run the worker to its end; its exit code, and what it wrote to standard error."""
        process = self.start(engine, *arguments, **more)
        return process.wait(PATIENCE_S), process.stderr_tail()

    def names(self) -> list[str]:
        """What bears the name of an environment."""
        found = self.places.environments.glob("*")
        return sorted(p.name for p in found if not p.name.startswith(".") and p.is_dir())

    def hidden(self, prefix: str) -> list[str]:
        """What builds and removals have left."""
        return sorted(p.name for p in self.places.environments.glob(f"{prefix}*"))


def toy_house(root: Path) -> House:
    """Return a house whose cache is its own; with ``toys`` no network is needed."""
    return House(root, uv_cache=root / "cache")


def toys(folder: Path) -> str:
    """Lines for a declaration's block: packages come from this folder and nowhere else."""
    return f'[tool.uv]\nno-index = true\nfind-links = ["{folder}"]'


def make_wheel(
    folder: Path, name: str, version: str, *, requires: tuple[str, ...] = (), size: int = 0
) -> Path:
    """Write a wheel of one module, with ``size`` bytes that cannot be compressed."""
    info = f"{name}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"]
    metadata += [f"Requires-Dist: {one}\n" for one in requires]
    files = {
        f"{name}/__init__.py": f"__version__ = {version!r}\n".encode(),
        f"{name}/data.bin": os.urandom(size),
        f"{info}/METADATA": "".join(metadata).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\n"
        b"Tag: py3-none-any\n",
    }
    record = f"{info}/RECORD,,\n"
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    folder.mkdir(exist_ok=True)
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in (*files.items(), (f"{info}/RECORD", record.encode())):
            archive.writestr(path, content)
    return wheel


def until(condition: Callable[[], object], what: str, patience_s: float = PATIENCE_S) -> None:
    """Wait until something holds."""
    end = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < end, f"not in {patience_s} s: {what}"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
