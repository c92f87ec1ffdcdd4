"""The user's own templates beside those of the program: found, listed, saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from crystalmath.errors import Conflict, InputRejected, InvalidParams, NotFound
from crystalmath.templates.render import render_template
from crystalmath.templates.saving import save_template
from crystalmath.templates.shelf import get_template, list_templates
from support.templates import put, template

X = "  x:\n    type: int\n    help: An x.  # about x\n    default: 1\n"
GOOD = template(X, "x is {{ x }}\n")
SHADOW = GOOD.replace("mine/one", "crystal/scf")


def rows(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["id"], row["origin"]): row for row in list_templates(str(folder))}


def rendered(folder: Path, name: str, **more: Any) -> str:
    found = render_template(str(folder), name, more.pop("parameters", {}), **more)
    return found["files"][0]["content"]


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    found = rows(tmp_path / "nothing")
    assert {origin for _, origin in found} == {"shipped"}
    assert all(row["problem"] is None for row in found.values())


def test_ones_own_are_listed_and_used(tmp_path: Path) -> None:
    put(tmp_path, "mine/one", GOOD)
    put(tmp_path, ".git/x", GOOD)
    put(tmp_path, "mine/.one.swp", GOOD)
    (tmp_path / "README").write_text("hello")
    found = [row for row in list_templates(str(tmp_path)) if row["origin"] == "user"]
    assert [row["id"] for row in found] == ["mine/one"]
    assert found[0]["parameters"]["properties"]["x"]["default"] == 1
    assert rendered(tmp_path, "mine/one") == "x is 1\n"
    assert get_template(str(tmp_path), "mine/one")["text"] == GOOD


def test_a_broken_one_is_listed_and_hides_no_other(tmp_path: Path) -> None:
    put(tmp_path, "mine/one", GOOD)
    put(tmp_path, "mine/two", GOOD)  # its id is another one
    put(tmp_path, "Big/Name", GOOD)
    (tmp_path / "bytes.j2").write_bytes(b"---\nid: \xff\n")
    (tmp_path / "folder.j2").mkdir()
    (tmp_path / "gone.j2").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.j2")
    found = {key[0]: row["problem"] for key, row in rows(tmp_path).items() if key[1] == "user"}
    assert found["mine/one"] is None
    assert found["mine/two"]["line"] == 2
    assert "cannot be called" in found["Big/Name"]["message"]
    assert (found["bytes"]["line"], found["bytes"]["message"]) == (2, "it is no UTF-8")
    assert "regular" in found["gone"]["message"]
    assert "regular" in found["pipe"]["message"]
    assert "folder" not in found
    assert ("crystal/scf", "shipped") in rows(tmp_path)


def test_ones_own_is_used_in_place_of_that_of_the_program(tmp_path: Path) -> None:
    put(tmp_path, "crystal/scf", SHADOW)
    found = rows(tmp_path)
    assert found["crystal/scf", "shipped"]["shadowed"]
    assert not found["crystal/scf", "user"]["shadowed"]
    assert rendered(tmp_path, "crystal/scf") == "x is 1\n"
    other = get_template(str(tmp_path), "crystal/scf", "shipped")
    assert other["template"]["title"] == "Energy of a crystal"
    assert other["template"]["shadowed"]


def test_a_broken_one_is_not_silently_replaced(tmp_path: Path) -> None:
    put(tmp_path, "crystal/scf", SHADOW.replace("version: 1", "version: x"))
    with pytest.raises(InputRejected, match="line 6 of the template: version") as caught:
        render_template(str(tmp_path), "crystal/scf", {})
    assert "`origin`: shipped" in str(caught.value.hint)
    assert "needs" in render_template(str(tmp_path), "crystal/scf", {}, origin="shipped")


@pytest.mark.parametrize("name", ["mine/one", "../one", "/etc/passwd", "a/../one", "One", ""])
def test_names_that_lead_nowhere(tmp_path: Path, name: str) -> None:
    put(tmp_path, "one", GOOD)
    with pytest.raises(NotFound):
        render_template(str(tmp_path / "mine"), name, {})


def test_a_text_is_saved_and_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    folder = tmp_path / "templates"
    made = save_template(str(folder), "mine/one", text=GOOD.replace("\n", "\r\n"))
    path = Path(made["path"])
    assert path == folder / "mine/one.j2"
    assert path.read_bytes().decode() == GOOD
    assert (made["replaced"], made["warnings"], made["template"]["id"]) == (False, [], "mine/one")
    other = GOOD.replace("x is", "X IS")
    with pytest.raises(Conflict, match="of that name"):
        save_template(str(folder), "mine/one", text=other)
    assert path.read_text() == GOOD
    assert save_template(str(folder), "mine/one", text=other, replace=True)["replaced"]
    assert path.read_text() == other
    assert os.listdir(path.parent) == ["one.j2"]  # noqa: PTH208 - names alone


def test_what_is_no_template_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(InputRejected, match="line 2 of the template: id is") as caught:
        save_template(str(tmp_path), "mine/two", text=GOOD)
    assert caught.value.field == "text"
    assert list(tmp_path.iterdir()) == []


def test_a_template_is_taken_over_with_other_defaults(tmp_path: Path) -> None:
    put(tmp_path, "mine/one", GOOD)
    given = {"source": "mine/one", "title": "Mine", "parameters": {"x": 7}}
    made = save_template(str(tmp_path), "mine/seven", **given)
    assert made["template"]["title"] == "Mine"
    assert rendered(tmp_path, "mine/seven") == "x is 7\n"
    assert "# about x" in Path(made["path"]).read_text()
    with pytest.raises(InvalidParams) as caught:
        save_template(str(tmp_path), "mine/b", source="mine/one", parameters={"x": "many"})
    assert caught.value.field == "parameters.x"


def test_one_of_the_program_is_taken_over(tmp_path: Path) -> None:
    given = {"functional": "HSE06", "structure": {"path": "/data/my.cif"}}
    made = save_template(str(tmp_path), "hse", source="crystal/scf", parameters=given)
    properties = made["template"]["parameters"]["properties"]
    assert properties["functional"]["default"] == "HSE06"
    assert properties["structure"]["default"] == {"path": "/data/my.cif"}
    made = save_template(str(tmp_path), "crystal/scf", source="crystal/scf", parameters={})
    assert "of the program too" in made["warnings"][0]


def test_defaults_that_cannot_be_filled_in_are_said(tmp_path: Path) -> None:
    bad = template(X, "{{ 1 / (x - 1) }}\n")
    made = save_template(str(tmp_path), "mine/one", text=bad)
    (said,) = made["warnings"]
    assert said.startswith("its defaults cannot be filled in: line 14: ")
    assert said.endswith("division by zero")


def test_nothing_outside_the_folder_is_written(tmp_path: Path) -> None:
    folder, outside = tmp_path / "templates", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "mine").symlink_to(outside)
    with pytest.raises(InputRejected, match="leads out"):
        save_template(str(folder), "mine/one", text=GOOD)
    assert list(outside.iterdir()) == []
    target = outside / "kept.j2"
    target.write_text("kept")
    (folder / "one.j2").symlink_to(target)
    with pytest.raises(Conflict, match="left alone"):
        save_template(str(folder), "one", text=GOOD.replace("mine/one", "one"), replace=True)
    assert target.read_text() == "kept"


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "templates").write_text("a file")
    with pytest.raises(InputRejected, match="cannot be written"):
        save_template(str(tmp_path / "templates"), "one", text=GOOD.replace("mine/one", "one"))
