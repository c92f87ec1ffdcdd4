"""What the services add to templates: makers, the place of complaints, submissions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crystalmath.contract.jobs import SubmitParams
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.template_inputs import SubmittedTemplates
from support.templates import put, rendering, template

DECK = template(
    "  structure:\n    type: structure\n    help: The crystal.\n"
    "  functional:\n    type: string\n    help: The functional.\n    default: PBE\n",
    "{{ crystal_deck(structure, functional=functional).text }}\n",
)
WATER = {"format": "xyz", "text": "3\n\nO 0 0 0.1\nH 0 0.76 -0.5\nH 0 -0.76 -0.5\n"}


@pytest.mark.parametrize(
    ("name", "given", "field", "words"),
    [
        ("crystal/scf", {"functional": "FOO"}, "parameters.functional", "no functional"),
        ("crystal/scf", {"smear_hartree": 0.01}, "parameters.smear_hartree", "for metals"),
        ("crystal/scf", {"basis": "NOPE"}, "parameters.basis", "no basis set"),
        ("crystal/scf", {"toldee": 17}, "parameters.toldee", "at most 16"),
        ("crystal/scf", {"nothing": 1}, "parameters.nothing", "no parameter"),
        (
            "crystal/scf",
            {"structure": {"path": "/nonexistent.cif"}},
            "parameters.structure.path",
            "cannot be read",
        ),
        ("crystal/scf", {"structure": WATER}, "parameters.structure", "no cell"),
        ("crystal/scf", {"name": "../x"}, "parameters", "cannot be called"),
        ("job/slurm_array", {"array": "many"}, "parameters.array", "tasks are needed"),
        ("job/slurm_serial", {"cluster": "nowhere"}, "parameters.cluster", "no cluster"),
        ("job/slurm_serial", {"cluster": "box"}, "parameters.cluster", "no scheduler"),
        ("job/slurm_serial", {"partition": "a b"}, "parameters.partition", "schedulers take"),
    ],
)
def test_complaints_are_at_the_parameter(
    tmp_path: Path, name: str, given: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InputRejected, match=words) as caught:
        rendering(tmp_path).render(name, given)
    assert caught.value.field == field
    assert "`options." not in f"{caught.value.message}{caught.value.hint}"


def test_a_complaint_about_no_parameter_has_the_line(tmp_path: Path) -> None:
    put(tmp_path, "mine/one", DECK.replace("functional=functional", "nothing=functional"))
    with pytest.raises(InputRejected, match="line 17 of the template: nothing: is not known"):
        rendering(tmp_path).render("mine/one", {"structure": WATER})
    put(tmp_path, "mine/one", DECK.replace("functional=functional", "1, functional"))
    with pytest.raises(InputRejected, match=r"line 17 of the template: .* else by name"):
        rendering(tmp_path).render("mine/one", {"structure": WATER})


def test_one_template_may_not_ask_without_end(tmp_path: Path) -> None:
    body = "{% for i in range(30) %}\n{{ batch_job('', ntasks=i + 1).launch }}\n{% endfor %}\n"
    put(tmp_path, "mine/one", template("", body))
    with pytest.raises(InputRejected, match="more than 16 things"):
        rendering(tmp_path).render("mine/one", {})


def test_a_template_refuses_what_does_not_go_together(tmp_path: Path) -> None:
    put(tmp_path, "mine/one", template("", "{{ refuse('one  of\\nthem') }}\n"))
    with pytest.raises(InputRejected, match=r"^one of them$") as caught:
        rendering(tmp_path).render("mine/one", {})
    assert caught.value.field == "parameters"


def test_the_same_thing_is_made_once(tmp_path: Path) -> None:
    body = "{% for i in range(30) %}\n{{ batch_job('', ntasks=2).launch }}\n{% endfor %}\n"
    put(tmp_path, "mine/one", template("", body))
    assert rendering(tmp_path).render("mine/one", {}).files[0].content.count("srun") == 30


def test_the_rendering_says_which_template_it_was(tmp_path: Path) -> None:
    made = rendering(tmp_path).render("crystal/scf", {"functional": "PBE0"})
    assert (made.template.id, made.template.origin, made.template.code) == (
        *("crystal/scf", "shipped"),
        "crystal",
    )
    assert len(made.template.sha256) == 64
    assert made.parameters["functional"] == "PBE0"
    assert made.parameters["symprec_angstrom"] == 0.01


def submitted(tmp_path: Path, **fields: Any) -> SubmitParams:
    params = SubmitParams.model_validate({"name": "n", "code": "crystal", **fields})
    return SubmittedTemplates(rendering(tmp_path))(params)[0]


def test_a_submission_gets_the_files_of_its_template(tmp_path: Path) -> None:
    put(tmp_path, "mine/one", DECK)
    given = {"structure": WATER, "functional": "PBE0"}
    beside = [{"path": "a.f9", "content": ""}]
    made = submitted(tmp_path, template="mine/one", template_parameters=given, files=beside)
    assert [file.path for file in made.files] == ["a.f9", "out.txt"]
    assert "\nPBE0\n" in (made.files[1].content or "")
    assert made.template_parameters == given


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"template": "nothing"}, "template", "no template nothing"),
        ({"template": "../nothing"}, "template", "no template"),
        ({"template_parameters": {"x": 1}}, "template_parameters", "no template"),
        ({"template": "crystal/scf"}, "template_parameters.structure", "is missing"),
        (
            {"template": "crystal/molecule", "template_parameters": {"structure": WATER, "q": 1}},
            "template_parameters.q",
            "no parameter q",
        ),
        (
            {"template": "crystal/molecule", "template_parameters": {"structure": WATER},
             "code": "espresso"},
            "template",
            "for the code crystal",
        ),
    ],
)  # fmt: skip
def test_templates_that_cannot_be_submitted(
    tmp_path: Path, fields: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InvalidParams, match=words) as caught:
        submitted(tmp_path, **fields)
    assert caught.value.field == field
