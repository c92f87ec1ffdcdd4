"""Models are built when they are first used, which several threads may do at once."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys, threading
from collections.abc import Iterator
import crystalmath.contract.forces, crystalmath.contract.events, crystalmath.contract.jobs
import crystalmath.contract.system
from crystalmath.contract.rpc import Model, Params
from pydantic import ValidationError

sys.setswitchinterval(1e-6)

def below(parent: type) -> Iterator[type]:
    for child in parent.__subclasses__():
        yield child
        yield from below(child)

kinds = sorted({*below(Params), *below(Model)}, key=repr)
wrong, complete = [], sum(kind.__pydantic_complete__ for kind in kinds)
for kind in kinds:
    begin = threading.Barrier(4)
    def first_use(kind: type = kind) -> None:
        begin.wait()
        try:
            kind.model_validate({"no such member": 1})
        except ValidationError as error:
            if "no such member" in str(error):
                return
        except Exception as error:
            wrong.append(f"{kind.__name__}: {error!r}")
            return
        wrong.append(f"{kind.__name__} takes anything")
    threads = [threading.Thread(target=first_use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(complete, *wrong, sep="\\n")
"""


def test_the_first_use_may_be_in_several_threads() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout == "0\n"
