"""No way out of a template, and nothing of the machine that it can use up."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from crystalmath.templates import limits, render
from crystalmath.templates.problem import TemplateFault
from crystalmath.templates.render import fill_in
from crystalmath.templates.template import parse_template
from support.templates import template

X = "  x:\n    type: {}\n    help: An x.\n"


SQUARE = (
    "{{% set n = namespace(y=x) %}}{{% for i in range(60) %}}{{% set n.y = n.y {} n.y %}}"
    "{{% endfor %}}{{{{ x }}}}"
)


def filled(body: str, value: Any = "s", type: str = "string") -> str:  # noqa: A002
    used = body if "x" in body else "{% if x is defined %}{% endif %}" + body
    made = parse_template(template(X.format(type), used), "mine/one")
    return fill_in(made, {"x": value}, ())[0]["content"]


@pytest.mark.parametrize(
    "body",
    [
        "{{ x.__class__ }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ x['__class__'] }}",
        "{{ '{0.__class__}'.format(x) }}",
        "{{ '{x.__class__}'.format_map({'x': x}) }}",
        "{{ [x] | map(attribute='__class__') | join }}",
        "{{ ([x] | groupby('__class__'))[0].grouper }}",
        "{{ [x] | sum(attribute='__class__.__name__') }}",
        "{{ [x] | map('attr', '__class__') | list | length }}",
        "{{ crystal_deck.__globals__ }}",
        "{{ crystal_deck.__closure__ }}",
        "{{ refuse.__globals__ }}",
        "{{ range.__class__ }}{{ x }}",
        "{{ dict.mro() }}",
        "{{ namespace.__init__ }}",
        "{{ self._TemplateReference__context }}",
        "{% for i in [x] %}{{ loop._iterable }}{% endfor %}",
        "{% set y = [] %}{{ y.append(x) }}",
        "{{ self }}",
        "{{ x | pprint }}",
        "{{ x | attr('upper') }}",
        "{{ [x] | random }}",
    ],
)
def test_there_is_no_way_out(body: str) -> None:
    with pytest.raises(TemplateFault) as caught:
        filled(body)
    assert caught.value.line is not None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("{{ x * 100000000000 }}", "repeated text"),
        ("{{ [x] * 100000000 }}", "repeated text"),
        ("{{ 2 ** 100000 }}", "power"),
        ("{{ x % 3 }}", "joined by ~"),
        ("{{ range(10000000) | list | length }}", "Range too big"),
        ("{{ x.center(1000000000) }}", "memory"),
        (SQUARE.format("~"), "memory"),
        (SQUARE.format("*").replace("y=x", "y=3"), "number became too large"),
        ("{% for i in range(99999) %}{{ 'a'.center(1000) }}{% endfor %}", "larger than 8 MiB"),
        ("{% macro m(a) %}{{ m(a) }}{% endmacro %}{{ m(x) }}", "does not work"),
    ],
)  # fmt: skip
def test_the_machine_is_not_used_up(body: str, words: str) -> None:
    with pytest.raises(TemplateFault, match=words):
        filled(body)


def test_a_loop_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    short = 0.2
    monkeypatch.setattr(render, "limited", lambda: limits.limited(seconds=short))
    before = signal.getsignal(signal.SIGALRM)
    loops = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(TemplateFault, match="stopped after"):
        filled(loops)
    assert signal.getsignal(signal.SIGALRM) is before


def test_somebody_elses_clock_goes_on() -> None:
    before = signal.getsignal(signal.SIGALRM)
    old = signal.setitimer(signal.ITIMER_REAL, 1000.0)
    try:
        with limits.limited(seconds=1.0):
            pass
        assert 900.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 1000.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, *old)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("a\n{{ x.foo }}\n", 14, "no attribute 'foo'"),
        ("\n\n{{ 1 / 0 }}{{ x }}\n", 15, "division by zero"),
        ("{{ x + 1 }}\n", 13, "does not work with these values"),
        ("\n{{ none }}{{ x }}\n", 14, "nothing cannot be written"),
        ("\n{{ [x] }}\n", 14, "kind list cannot be written"),
        ("{{ x == 's' }}\n", 13, "kind bool cannot be written"),
    ],
)
def test_where_it_stopped_is_said(body: str, line: int, words: str) -> None:
    with pytest.raises(TemplateFault, match=words) as caught:
        filled(body)
    assert caught.value.line == line


def test_what_is_useful_works() -> None:
    assert filled("{{ x | quote }} {{ x | basename }}\n", "/a/b c") == "'/a/b c' b c\n"
    body = "{% for i in range(3) %}\n{{ i }} {{ '%s' ~ x }}\n{% endfor %}\n"
    assert filled(body, "y") == "0 %sy\n1 %sy\n2 %sy\n"
    assert filled("{{ [x, 1] | join(' ') }}{{ x.split() | length }}\n", "a b") == "a b 12\n"
    assert filled("{{ x }}\n", 1e-8, "float") == "1e-08\n"
