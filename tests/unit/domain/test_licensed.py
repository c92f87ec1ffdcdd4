"""Which files of a job may not be handed on, and that they are not fetched from a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from crystalmath.domain.licensed import is_licensed
from crystalmath.services.cluster_collect import is_wanted
from crystalmath.services.ports_cluster import Listed


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("POTCAR", True),
        ("POTCAR.one", True),
        ("potcar/1-Mg_pv", True),
        ("tasks/3/POTCAR", True),
        ("POTCAR.spec", False),
        ("potcar.json", False),
        ("OUTCAR", False),
    ],
)
def test_potentials_stay_where_they_are(path: str, expected: bool, tmp_path: Path) -> None:
    assert is_licensed(path) == expected
    listed = Listed(path, 10, 5.0)
    assert is_wanted(listed, inputs=set(), begun=1.0, directory=tmp_path) == (not expected)
