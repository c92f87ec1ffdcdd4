"""The generated files of the repository are those of this contract, and the check sees when not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from contract.table import TABLE
from crystalmath.contract.generated import SCHEMA_SHA256
from crystalmath.contract.openrpc import document, schema_sha256
from crystalmath.domain.states import REASONS, STATES, TRANSITIONS
from gen_contract import cli, rust_model, states_md
from gen_contract.examples import Examples
from gen_contract.schema_words import type_words

needs_rustfmt = pytest.mark.skipif(
    shutil.which("rustfmt") is None, reason="rustfmt writes src/rpc/types.rs and is not installed"
)


def test_hash_is_that_of_the_document() -> None:
    assert schema_sha256(document(TABLE)) == SCHEMA_SHA256


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return cli.outputs()


@pytest.fixture
def made_once(texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "outputs", lambda: texts)


@needs_rustfmt
def test_generated_files_are_fresh(made_once: None) -> None:
    assert cli.stale() == [], "run scripts/gen-contract"


@needs_rustfmt
def test_check_names_what_is_stale_missing_or_left_over(made_once: None, tmp_path: Path) -> None:
    everything = cli.write(tmp_path)
    assert cli.stale(tmp_path) == []
    assert cli.write(tmp_path) == []
    golden = tmp_path / cli.GOLDEN
    (golden / "jobs.nothing.json").write_text("{}")
    (golden / "jobs.get.json").unlink()
    (tmp_path / "docs/methods.md").write_text("edited by hand")
    expected = ["docs/methods.md", f"{cli.GOLDEN}/jobs.get.json", f"{cli.GOLDEN}/jobs.nothing.json"]
    assert cli.stale(tmp_path) == expected
    assert cli.write(tmp_path) == expected
    assert sorted(cli.outputs()) == everything


def test_page_of_the_states_has_all_of_them() -> None:
    page = states_md.render()
    for state in STATES:
        assert f"| `{state}` |" in page
    for old, new in TRANSITIONS:
        assert f"    {old} --> {new}\n" in page
    for reason in REASONS:
        assert f"| `{reason}` |" in page


@pytest.mark.parametrize(
    ("wire", "ident"),
    [("type", "type_"), ("SSH_AUTH_SOCK", "ssh_auth_sock"), ("schema", "schema"), ("n_1", "n_1")],
)
def test_rust_names_of_members(wire: str, ident: str) -> None:
    assert rust_model.rust_ident(wire) == ident


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("jobs.read_file", "JobsReadFile"),
        ("$/cancel", "Cancel"),
        ("-created_at", "CreatedAtDescending"),
        ("CRY23_ROOT", "Cry23Root"),
        ("3d", "N3d"),
    ],
)
def test_rust_names_of_types(text: str, name: str) -> None:
    assert rust_model.camel(text) == name


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "exclusiveMaximum": 2**63}, "integer, ≥ 1, < 2⁶³"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or null"),
        ({"type": "array", "items": {"type": "number"}, "maxItems": 5}, "up to 5 × number"),
        ({"$ref": "#/components/schemas/Job"}, "[Job](#job)"),
        ({"const": True}, "`true`"),
        ({}, "any value"),
    ],
)
def test_schemas_in_words(schema: dict[str, object], words: str) -> None:
    assert type_words(schema) == words


def test_an_example_that_cannot_be_made_is_an_error() -> None:
    with pytest.raises((ValueError, KeyError)):
        Examples(full=True).value(bytes, "raw")
