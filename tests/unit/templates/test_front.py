"""What a template must say of itself, and the line at which it does not."""

from __future__ import annotations

import pytest

from crystalmath.templates.problem import TemplateFault
from crystalmath.templates.render import fill_in
from crystalmath.templates.template import parse_template
from support.templates import HEAD, template

USED = "{{ x }}\n"


def fault(text: str) -> TemplateFault:
    with pytest.raises(TemplateFault) as caught:
        parse_template(text, "mine/one")
    return caught.value


def one(keys: str) -> str:
    """A template with the parameter x, whose keys are given."""
    return template(f"  x:\n    help: An x.\n{keys}", USED)


def test_a_template_is_read_whole() -> None:
    found = parse_template(
        template(
            "  x:\n    type: float\n    help: An x.\n    default: 2\n    min: 1\n    unit: Å\n",
            USED,
            description=">-\n  For\n  tests.",
            tags="[a, b]",
            lint="crystal",
        ),
        "mine/one",
    )
    front = found.front
    assert (front.id, front.version, front.lint, front.tags) == (
        "mine/one",
        1,
        "crystal",
        ("a", "b"),
    )
    assert front.description == "For tests."
    x = front.parameters["x"]
    assert (x.type, x.default, x.minimum, x.maximum, x.unit, x.required) == (
        *("float", 2, 1, None, "Å"),
        False,
    )
    assert found.pieces[0].text == USED


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_do_not_matter(ending: str) -> None:
    text = "\ufeff" + template("", "a\nb\n").replace("\n", ending)
    assert parse_template(text, "mine/one").pieces[0].text == "a\nb\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "first line is not ---"),
        ("hello\n", 1, "first line is not ---"),
        ("---\nid: a\n", 1, "has no end"),
        ("---\n---\n", 2, "has no keys"),
        ("---\nid: [a\n---\n", 3, "no YAML"),
        ("---\nid: a\nid: b\n---\n", 3, "duplicate key"),
        ("---\nid: !!python/name:os.system\n---\n", 2, "kind that has no meaning"),
        (template(head=HEAD.replace("mine/one", "mine/two")), 2, "makes it 'mine/one'"),
        (template(head=HEAD.replace("title: One of mine\n", "")), 2, "title is missing"),
        (template(head=HEAD.replace("input", "poem")), 4, "kind must be one of"),
        (template(head=HEAD.replace("code: crystal\n", "")), 2, "needs its code"),
        (template(head=HEAD.replace("version: 1", "version: 1.5")), 6, "version must be"),
        (template(colour="red"), 7, "colour is no key"),
        (template(lint="espresso"), 7, "lint must be one of crystal, vasp, bash"),
        (template(renders="[]"), 7, "must name the files"),
        (template(renders="[a, b]"), 7, "names 2 files, and the text has 1 parts"),
        (template(tags="hello"), 7, "tags must be a list"),
        (template("  X:\n    type: int\n"), 9, "cannot be called 'X'"),
        (template("  x: 3\n"), 9, "needs its keys"),
        (one("    type: number\n"), 11, "type of x must be one of"),
        (template("  x:\n    type: int\n"), 9, "needs `help`"),
        (one("    type: int\n    colour: red\n"), 12, "colour is no key of x"),
        (one("    type: int\n    default: hello\n"), 12, "must be a whole number"),
        (one("    type: int\n    default: 3\n    max: 2\n"), 12, "must be at most 2"),
        (one("    type: int\n    min: 3\n    max: 2\n"), 12, "min of x is above max"),
        (one("    type: int\n    min: .nan\n"), 12, "must be a number"),
        (one("    type: bool\n    min: 3\n"), 12, "means nothing for type bool"),
        (one("    type: bool\n    default: 'yes'\n"), 12, "must be true or false"),
        (one("    type: choice\n"), 9, "needs its choices"),
        (one("    type: choice\n    choices: [1, 2]\n"), 12, "list of different words"),
        (one("    type: choice\n    choices: [a]\n    default: b\n"), 13, "must be one of a"),
        (one("    type: int\n    choices: [a]\n"), 12, "choices mean nothing"),
        (one("    type: int\n    default: 1\n    required: true\n"), 13, "never missing"),
        (one("    type: file\n    default: /etc/passwd\n"), 12, "on one machine only"),
        (one("    type: structure\n    default: {path: x}\n"), 12, "absolute path"),
        (template("  y:\n    type: int\n    help: y\n"), 9, "y is used nowhere"),
        (template("  batch_job:\n    type: int\n    help: y\n"), 9, "that is a function"),
        (template(body="{{ z }}\n"), 9, "z is no parameter"),
        (template(body="a\n{% if %}\n"), 10, "Expected an expression"),
        (template(body="a\n\n{{ 1|nothing }}\n"), 11, "No filter named 'nothing'"),
        (template(body="{% include 'x' %}\n"), 9, "include is not part"),
        (template(renders="['{{ z }}']"), 7, "z is no parameter"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, words: str) -> None:
    found = fault(text)
    assert words in found.message
    assert found.line == line


def test_references_of_yaml_cannot_make_much_of_little() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    assert "too large" in fault("---\n" + "\n".join(lines) + "\n---\n").message


def test_a_first_part_that_only_sets_counts_for_each() -> None:
    body = "{% set y = [\n1] %}\n---\none {{ y[0] }}\n---\ntwo\n{{ y[5] }}\n"
    made = parse_template(template(body=body, renders="[a, b]"), "mine/one")
    with pytest.raises(TemplateFault) as caught:
        fill_in(made, {}, ())
    assert caught.value.line == 9 + body[: body.index("y[5]")].count("\n")
    body = body.replace("y[5]", "y")
    made = parse_template(template(body=body.replace("{{ y }}", ""), renders="[a, b]"), "mine/one")
    assert [file["content"] for file in fill_in(made, {}, ())] == ["one 1\n", "two\n\n"]
    stray = template(body="text\n---\none\n---\ntwo\n", renders="[a, b]")
    assert "3 parts" in fault(stray).message


def test_parts_of_several_files_keep_their_lines() -> None:
    text = template(body="one\n---\ntwo\n{{ z }}\n", renders="[a, b]")
    assert fault(text).line == 12
    found = parse_template(template(body="one\n---\ntwo\n", renders="[a, b]"), "mine/one")
    assert [piece.text for piece in found.pieces] == ["one\n", "two\n"]
    alone = parse_template(template(body="one\n---\ntwo\n"), "mine/one")
    assert alone.pieces[0].text == "one\n---\ntwo\n"
