"""What is wrong with params, in plain words: one sentence for each way in which a model refuses.

The one place where the validation library's complaints become ours: with the bound that was
passed, without its vocabulary, and without the value, which may be secret or huge. Pure; used by
``server.dispatch`` for params and by ``codes.options`` for the inputs of a code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

MAX_FAULTS: Final = 50
_KEY: Final = "[key]"
"""What the library ends the path with when the name of a member is at fault, not its value."""
_FIELD_PART: Final = re.compile(r"[ -~]{1,64}")
_MUST_BE: Final = "must be "

Context = Mapping[str, Any]


def _bound(words: str, name: str) -> Callable[[Context], str]:
    return lambda context: f"must be {words} {_number(context[name])}"


def _length(words: str, name: str, unit: str) -> Callable[[Context], str]:
    def sentence(context: Context) -> str:
        length = context[name]
        if words == "at least" and length == 1:
            return "must not be empty"
        return f"must have {words} {_number(length)} {unit}"

    return sentence


def _choice(context: Context) -> str:
    words = re.findall(r"'([^']*)'", str(context["expected"]))
    if not words:
        return f"must be {context['expected']}"
    return f"must be {words[0]}" if len(words) == 1 else f"must be one of {', '.join(words)}"


def _own(context: Context) -> str:
    """The words of a validator of ours."""
    return str(context["error"])


def _plain(words: str) -> Callable[[Context], str]:
    return lambda _context: words


_TYPES: Final[Mapping[str, str]] = {
    "bool": "true or false",
    "dict": "a JSON object",
    "float": "a number",
    "int": "a whole number",
    "list": "a list",
    "model": "a JSON object",
    "model_attributes": "a JSON object",
    "string": "text",
    "tuple": "a list",
}
SENTENCES: Final[Mapping[str, Callable[[Context], str]]] = {
    **{f"{name}_type": _plain(_MUST_BE + what) for name, what in _TYPES.items()},
    **{f"{name}_parsing": _plain(f"{_MUST_BE}{_TYPES[name]}") for name in ("bool", "float", "int")},
    "extra_forbidden": _plain("is not known here"),
    "finite_number": _plain("must be a finite number"),
    "greater_than": _bound("greater than", "gt"),
    "greater_than_equal": _bound("at least", "ge"),
    "int_from_float": _plain("must be a whole number"),
    "int_parsing_size": _plain("must be a number of fewer digits"),
    "less_than": _bound("less than", "lt"),
    "less_than_equal": _bound("at most", "le"),
    "literal_error": _choice,
    "missing": _plain("is missing"),
    "string_too_long": _length("at most", "max_length", "characters"),
    "string_too_short": _length("at least", "min_length", "characters"),
    "string_unicode": _plain("must be valid Unicode"),
    "too_long": _length("at most", "max_length", "entries"),
    "too_short": _length("at least", "min_length", "entries"),
    "union_tag_invalid": _plain("is of no known kind"),
    "union_tag_not_found": _plain("does not say of which kind it is"),
    "value_error": _own,
}
"""Type of the library's error → the sentence, made from the error's context."""

FORMS: Final[Mapping[str, str]] = {
    r"^[a-z][a-z0-9_]*$": "must be a name like forces: lower-case letters, digits and _",
    r"^[a-z0-9][a-z0-9_-]{0,63}(/[a-z0-9][a-z0-9_-]{0,63}){0,3}$": "must be a name like "
    "crystal/scf: lower-case letters, digits, _ and -, parted by /",
    r"^[A-Z][A-Z0-9,]*$": "must be special points like GXWK,UX: capital letters, a comma at breaks",
    r"^[a-z][a-z0-9_]{0,63}$": "must be a name like basis: lower-case letters, digits and _",
    r"^(jobs|clusters|engines|workflows|(job|log):[1-9][0-9]{0,18})$": "must be jobs, clusters, "
    "engines, workflows, job:ID or log:ID",
}
"""Pattern of the contract → what a text that does not fit it has to be."""


def faults(
    error: ValidationError, given: object, forms: Mapping[str, str] = FORMS
) -> list[tuple[str, str]]:
    """Say what is wrong, field by field.

    Parameters
    ----------
    given
        What was validated: tells which parts of a path are fields, and which only name a branch of
        the model.
    forms
        As :data:`FORMS`, for the patterns of the model.

    Returns
    -------
    list of (str, str)
        Dotted path (empty: the whole) and sentence; each path once.
    """
    found: dict[str, list[str]] = {}
    for detail in error.errors(include_url=False, include_input=False)[:MAX_FAULTS]:
        found.setdefault(_path(detail, given), []).append(_sentence(detail, forms))
    # Where a branch of a union fits so far that something inside is at fault, the complaint of
    # the other branches about the whole says nothing.
    inner = [path for path in found if not any(_is_inside(other, path) for other in found)]
    return [(path, _joined(found[path])) for path in inner]


def _path(detail: ErrorDetails, given: object) -> str:
    location, here = detail["loc"], given
    parts: list[str] = []
    for index, part in enumerate(location):
        if _has(here, part):
            here = here[part]  # type: ignore[index]
        elif detail["type"] != "missing" or index < len(location) - 1:
            continue
        # Names of members are the caller's own text.
        if _FIELD_PART.fullmatch(str(part)):
            parts.append(str(part))
    return ".".join(parts)


def _has(here: object, part: str | int) -> bool:
    if isinstance(here, Mapping):
        return part in here
    return isinstance(here, list) and isinstance(part, int) and part < len(here)


def _sentence(detail: ErrorDetails, forms: Mapping[str, str]) -> str:
    context = detail.get("ctx", {})
    if detail["type"] == "string_pattern_mismatch":
        pattern = context["pattern"]
        return forms.get(pattern, f"does not fit the pattern {pattern}")
    make = SENTENCES.get(detail["type"])
    sentence = _foreign(detail["msg"]) if make is None else make(context)
    return f"the name {sentence}" if detail["loc"][-1:] == (_KEY,) else sentence


def _foreign(message: str) -> str:
    """A complaint that is not in the table: better than none, and a test looks for these."""
    return re.sub(r"^Input should be", "should be", message)


def _is_inside(path: str, outer: str) -> bool:
    return path.startswith(f"{outer}.") if outer else bool(path)


def _joined(sentences: Sequence[str]) -> str:
    once = list(dict.fromkeys(sentences))
    if all(sentence.startswith(_MUST_BE) for sentence in once):
        return _MUST_BE + " or ".join(sentence.removeprefix(_MUST_BE) for sentence in once)
    return "; ".join(once)


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
