"""``materials.*`` of the real daemon: the work is done by worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.daemon import PRODUCTION, Daemon, RpcFailure

_EXAMPLES = Path(__file__).parents[2] / "examples"
_SILICON = {"path": str(_EXAMPLES / "silicon.cif")}
_COPPER = {"path": str(_EXAMPLES / "copper.cif")}


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    made = Daemon(program=PRODUCTION)
    try:
        made.start()
        yield made
    finally:
        made.cleanup()


def test_inspect_and_convert(served: Daemon) -> None:
    found = served.call("materials.inspect", {"structure": _SILICON})
    assert found["symmetry"]["number"] == 227
    assert found["symmetry"]["choice"] == "2"
    assert found["sites"][0]["neighbours"][0]["count"] == 4
    wanted = {"structure": _SILICON, "format": "poscar", "cell": "primitive"}
    written = served.call("materials.convert", wanted)
    assert written["n_atoms"] == 2
    text = {"text": written["text"], "format": "poscar"}
    again = served.call("materials.inspect", {"structure": text})
    assert again["symmetry"]["number"] == 227


def test_a_structure_is_kept_once_and_used(served: Daemon) -> None:
    kept = served.call("materials.import", _COPPER)
    again = served.call("materials.import", _COPPER)
    assert (kept["known"], again["known"]) == (False, True)
    name = kept["material"]["material"]
    assert again["material"]["material"] == name
    material = {"material": name}
    assert served.call("materials.inspect", {"structure": material})["formula"] == "Cu"
    job = {"name": "cu", "code": "forces", "task": "single_point", "engine": "emt"}
    tried = served.call("jobs.submit", {**job, "structure": material, "dry_run": True})
    assert tried["formula"] == "Cu"
    with pytest.raises(RpcFailure, match="no structure local:77"):
        served.call("materials.inspect", {"structure": {"material": "local:77"}})
    with pytest.raises(RpcFailure, match="_atom_site_fract_x"):
        served.call("materials.import", {"text": "data_x\n", "format": "cif"})
