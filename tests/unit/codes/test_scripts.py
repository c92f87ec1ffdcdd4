"""What the codes share that write scripts and inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.generator import generate, options_at
from crystalmath.codes.scripts import filled
from crystalmath.errors import InputRejected, InvalidParams


def test_a_value_is_not_searched_for_places(tmp_path: Path) -> None:
    script = tmp_path / "job.sh.in"
    script.write_text('run @first@ @second@ "$@" me@host\n')
    values = {"first": "@second@", "second": "2"}
    assert filled(script, values) == 'run @second@ 2 "$@" me@host\n'
    with pytest.raises(KeyError):
        filled(script, {"first": "1"})


@pytest.mark.parametrize(
    ("path", "field", "told"),
    [
        ("inputs", "options.k_mesh.0", "inputs.k_mesh.0"),
        ("inputs.options", "options.basis", "inputs.options.basis"),
        ("inputs", "options", "inputs.options"),
        ("inputs.options", "options", "inputs.options"),
        ("inputs", None, "structure"),
        ("inputs", "files.0", "files.0"),
    ],
)
def test_refusals_of_a_generator_name_the_fields_of_the_job(
    path: str, field: str | None, told: str
) -> None:
    def refuses(_function: str, _given: Any, _deadline_s: float) -> Any:
        raise InvalidParams("`options.x` is wrong", hint="give `options.y`", field=field)

    def words(text: str) -> str:
        return text.replace("`options.", "`inputs.")

    with pytest.raises(InputRejected) as refused:
        generate(refuses, "m:f", {}, 1.0, field=options_at(path), words=words)
    error = refused.value
    assert (type(error), error.message, error.hint, error.field) == (
        InvalidParams, "`inputs.x` is wrong", "give `inputs.y`", told,
    )  # fmt: skip
