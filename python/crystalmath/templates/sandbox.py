"""The language of the body: Jinja without a way out of it.

A template sees its parameters, the makers and plain values. It reaches no attribute that begins
with ``_``, no file, no other template, and nothing that changes from one run to the next.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any, Final

import jinja2
from jinja2 import meta, nodes
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from crystalmath.templates.problem import TemplateFault

MAX_OUTPUT: Final = 8 * 1024 * 1024
"""Characters of one file."""
_MAX_BITS: Final = 256
"""Of a product of whole numbers; larger ones only cost time."""
NAME: Final = "<template>"
"""What the library calls a template in its tracebacks."""
_MISUSES: Final = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError),
    *(TypeError, ValueError),
)
"""What functions and operators raise on values that they cannot take."""
_LEFT_OUT: Final = ("attr", "format", "pprint", "random", "urlize", "xmlattr")
_GLOBALS: Final = ("range", "dict", "namespace")
_FORBIDDEN: Final[tuple[tuple[type[nodes.Node], str], ...]] = (
    (nodes.Include, "include"),
    (nodes.Import, "import"),
    (nodes.FromImport, "from … import"),
    (nodes.Extends, "extends"),
    (nodes.Block, "block"),
)


class _Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(
        self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any
    ) -> Any:
        """See ``SandboxedEnvironment.call_binop``; refuses what makes much of little."""
        if operator == "**" and not _is_small_power(left, right):
            raise SecurityError("such a power is not computed in a template")
        if operator == "%" and isinstance(left, str):
            raise SecurityError("text is joined by ~ in a template, not by %")
        if operator == "*":
            _check_product(left, right)
        return super().call_binop(context, operator, left, right)


def _is_small_power(left: object, right: object) -> bool:
    return (
        isinstance(left, int | float)
        and isinstance(right, int | float)
        and abs(left) <= 1e6
        and abs(right) <= 16
    )


def _check_product(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        if left.bit_length() + right.bit_length() > _MAX_BITS:
            raise SecurityError("a number became too large")
        return
    for many, times in ((left, right), (right, left)):
        repeats = isinstance(many, str | list | tuple) and isinstance(times, int)
        if repeats and len(many) * times > MAX_OUTPUT:
            raise SecurityError("a repeated text became too long")


class Refused(Exception):
    """The template itself refuses what it was given."""


def _refuse(sentence: object) -> str:
    """What a template calls when its parameters do not go together."""
    raise Refused(" ".join(str(sentence).split())[:500])


def _basename(value: str) -> str:
    return PurePosixPath(value).name


def _quote(value: object) -> str:
    """The value as one word of a shell."""
    return shlex.quote(str(value))


def _written(value: Any) -> Any:
    """What ``{{ }}`` writes: text and numbers, and nothing that would only look like them."""
    if isinstance(value, jinja2.Undefined):
        return value  # says itself what it is not
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        kind = "nothing" if value is None else f"a value of kind {type(value).__name__}"
        raise SecurityError(f"{kind} cannot be written: only text and numbers are")
    return value


@cache
def environment() -> jinja2.Environment:
    """The environment that compiles every template."""
    made = _Sandbox(
        loader=None,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # decks and scripts; `quote` is for shells
        finalize=_written,
    )
    made.globals = {name: made.globals[name] for name in _GLOBALS} | {"refuse": _refuse}
    for name in _LEFT_OUT:
        del made.filters[name]
    made.filters |= {"quote": _quote, "basename": _basename}
    return made


def check_body(text: str, known: Mapping[str, Any], first_line: int) -> set[str]:
    """Check the language of a piece of a template; return the names that it uses.

    Parameters
    ----------
    known
        Names of its parameters and of the makers.
    first_line
        Line of the file on which the piece begins.

    Raises
    ------
    TemplateFault
    """
    try:
        tree = environment().parse(text)
        environment().from_string(text)  # knows more than the grammar, like names of filters
        used = meta.find_undeclared_variables(tree)
    except TemplateSyntaxError as error:
        line = first_line + error.lineno - 1
        raise TemplateFault(error.message or "it is no Jinja", line=line) from None
    except RecursionError:
        raise TemplateFault("it is nested too deeply", line=first_line) from None
    for kind, word in _FORBIDDEN:
        for node in tree.find_all(kind):
            raise TemplateFault(
                f"{word} is not part of templates: each is one file",
                line=first_line + node.lineno - 1,
            )
    for node in tree.find_all(nodes.Name):
        if node.name in used - set(known) - set(environment().globals):
            raise TemplateFault(
                f"{node.name} is no parameter of the template",
                line=first_line + node.lineno - 1,
                hint=f"it knows: {', '.join(known)}",
            )
    return used


def writes_nothing(text: str) -> bool:
    """Whether a piece of a template only sets names: it has no output of its own."""
    try:
        body = environment().parse(text).body
    except (TemplateSyntaxError, RecursionError):
        return False
    return all(isinstance(node, nodes.Assign) for node in body)


def render_text(
    text: str, values: Mapping[str, Any], first_line: int, makers: Mapping[str, Callable[..., Any]]
) -> str:
    """Fill in one piece of a template.

    Raises
    ------
    TemplateFault
        With the line on which it stopped.
    """
    template = environment().from_string(text)
    try:
        return "".join(_bounded(template.generate({**values, **makers})))
    except jinja2.TemplateError as error:
        raise TemplateFault(_words(error), line=_at(error, first_line)) from None
    except _MISUSES as error:
        raise TemplateFault(
            f"this does not work with these values: {_words(error)}", line=_at(error, first_line)
        ) from None


def _bounded(pieces: Iterator[str]) -> Iterator[str]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_OUTPUT:
            raise SecurityError("a file became larger than 8 MiB")
        yield piece


def _at(error: Exception, first_line: int) -> int | None:
    """The line of the file at which an error arose; the library lets tracebacks name it."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == NAME:
            found = trace.tb_lineno
        trace = trace.tb_next
    return None if found is None else first_line + found - 1


def _words(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:200]
