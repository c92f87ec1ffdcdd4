"""From front matter to a template: every key is checked, and every complaint has its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ruamel.yaml.scalarbool import ScalarBoolean

from crystalmath.contract.templates import ID_PATTERN
from crystalmath.errors import InputRejected
from crystalmath.templates.parameters import TYPES, Parameter
from crystalmath.templates.problem import TemplateFault
from crystalmath.templates.source import Source

LINTERS: Final = ("crystal", "vasp", "bash")
"""What ``lint`` may name; the services have them."""
KINDS: Final = ("input", "job_script")
_KEYS: Final = (
    *("id", "title", "code", "kind", "version", "description", "tags", "parameters"),
    *("renders", "lint"),
)
_PARAMETER_KEYS: Final = (
    *("type", "default", "min", "max", "unit", "required", "help", "choices"),
)
_BOUNDED: Final = ("string", "text", "int", "float")
_NAME: Final = re.compile(r"^[a-z][a-z0-9_]{0,63}$")
MAX_NODES: Final = 10_000
"""Of the front matter: references of YAML can make much of little."""
MAX_PARAMETERS: Final = 100
MAX_FILES: Final = 20


@dataclass(frozen=True, slots=True)
class Front:
    """What the front matter says."""

    id: str
    title: str
    code: str | None
    kind: str
    version: int
    description: str
    tags: tuple[str, ...]
    parameters: Mapping[str, Parameter]
    renders: tuple[str, ...]
    lint: str | None


def read_front(source: Source, expected_id: str) -> Front:
    """Check the front matter.

    Parameters
    ----------
    expected_id
        The name that the place of the file gives it.

    Raises
    ------
    TemplateFault
        With the line of the key at fault.
    """
    return _Reader(source).read(expected_id)


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._nodes = 0
        try:
            front = self._plain(source.front)
        except RecursionError:
            raise self._fault("it is nested too deeply") from None
        self._front: dict[str, Any] = front

    def read(self, expected_id: str) -> Front:
        self._known(self._front, _KEYS, ())
        found = self._string("id", 200)
        if not re.fullmatch(ID_PATTERN, found) or found != expected_id:
            raise self._fault(
                f"id is {found!r}, and the place of the file makes it {expected_id!r}",
                "id",
                hint=f"write `id: {expected_id}`, or move the file",
            )
        kind = self._one_of("kind", KINDS)
        code = None if self._front.get("code") is None else self._string("code", 64)
        if kind == "input" and (code is None or not _NAME.match(code)):
            raise self._fault("an input needs its code", "code", hint="write `code: crystal`")
        version = self._front.get("version")
        if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version < 10**6:
            raise self._fault("version must be a whole number from 1 on", "version")
        lint = None if self._front.get("lint") is None else self._one_of("lint", LINTERS)
        return Front(
            id=found,
            title=self._string("title", 100),
            code=code,
            kind=kind,
            version=version,
            description=self._description(),
            tags=self._strings("tags", 20, 64),
            parameters=self._parameters(),
            renders=self._renders(),
            lint=lint,
        )

    def _parameters(self) -> dict[str, Parameter]:
        given = self._front.get("parameters")
        if given is None:
            return {}
        if not isinstance(given, dict):
            raise self._fault("parameters must be names with their keys below", "parameters")
        if len(given) > MAX_PARAMETERS:
            raise self._fault(f"there are more than {MAX_PARAMETERS} parameters", "parameters")
        return {name: self._parameter(name, keys) for name, keys in given.items()}

    def _parameter(self, name: str, keys: Any) -> Parameter:
        at = ("parameters", name)
        if not _NAME.match(name):
            raise self._fault(
                f"a parameter cannot be called {name[:70]!r}",
                *at,
                hint="small letters, digits and _, beginning with a letter",
            )
        if not isinstance(keys, dict):
            raise self._fault(f"parameter {name} needs its keys below", *at, hint="at least `type`")
        self._known(keys, _PARAMETER_KEYS, at)
        kind = keys.get("type")
        if kind not in TYPES:
            raise self._fault(f"type of {name} must be one of {', '.join(TYPES)}", *at, "type")
        about = keys.get("help")
        if not isinstance(about, str) or not about.strip():
            raise self._fault(f"parameter {name} needs `help`: what it is", *at, "help")
        made = Parameter(
            name=name,
            type=kind,
            help=" ".join(about.split()),
            default=keys.get("default"),
            required=self._required(name, keys),
            minimum=self._bound(name, keys, "min"),
            maximum=self._bound(name, keys, "max"),
            unit=self._unit(name, keys),
            choices=self._choices(name, keys),
        )
        self._check_default(made)
        return made

    def _check_default(self, made: Parameter) -> None:
        at = ("parameters", made.name, "default")
        low, high = made.minimum, made.maximum
        if low is not None and high is not None and low > high:
            raise self._fault(f"min of {made.name} is above max", *at[:2], "min")
        if made.default is None:
            return
        if made.type == "file":
            raise self._fault(
                f"{made.name} cannot have a default: a file is on one machine only", *at
            )
        try:
            made.check(made.default)
        except InputRejected as error:
            raise self._fault(f"the default does not fit: {error.message}", *at) from None

    def _required(self, name: str, keys: Mapping[str, Any]) -> bool:
        at = ("parameters", name, "required")
        required = keys.get("required")
        has_default = keys.get("default") is not None
        if required is None:
            return not has_default
        if not isinstance(required, bool):
            raise self._fault(f"required of {name} must be true or false", *at)
        if required and has_default:
            raise self._fault(f"{name} has a default, so it is never missing", *at)
        return required

    def _bound(self, name: str, keys: Mapping[str, Any], which: str) -> float | None:
        bound = keys.get(which)
        if bound is None:
            return None
        at = ("parameters", name, which)
        if keys["type"] not in _BOUNDED:
            raise self._fault(f"{which} means nothing for type {keys['type']}", *at)
        if isinstance(bound, bool) or not isinstance(bound, int | float) or bound - bound != 0:
            raise self._fault(f"{which} of {name} must be a number", *at)
        return bound

    def _unit(self, name: str, keys: Mapping[str, Any]) -> str | None:
        unit = keys.get("unit")
        if unit is None:
            return None
        if not isinstance(unit, str) or not 0 < len(unit) <= 40:
            raise self._fault(f"unit of {name} must be a word", "parameters", name, "unit")
        return unit

    def _choices(self, name: str, keys: Mapping[str, Any]) -> tuple[str, ...]:
        at = ("parameters", name, "choices")
        given = keys.get("choices")
        if keys["type"] != "choice":
            if given is not None:
                raise self._fault(f"choices mean nothing for type {keys['type']}", *at)
            return ()
        words = given if isinstance(given, list) else []
        good = all(isinstance(word, str) and word for word in words)
        if not words or not good or len(set(words)) != len(words) or len(words) > 200:
            raise self._fault(
                f"{name} needs its choices: a list of different words",
                *at,
                hint="words like no and 3 that YAML reads otherwise stand in quotes",
            )
        return tuple(words)

    def _renders(self) -> tuple[str, ...]:
        found = self._strings("renders", MAX_FILES, 200)
        if not found:
            raise self._fault("renders must name the files", "renders", hint='- "{{ name }}.d12"')
        return found

    def _description(self) -> str:
        value = self._front.get("description", "")
        if not isinstance(value, str) or len(value) > 4000:
            raise self._fault("description must be text", "description")
        return " ".join(value.split())

    def _string(self, key: str, most: int) -> str:
        value = self._front.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self._fault(f"{key} is missing or no text", key, hint=f"write `{key}: …`")
        if len(value) > most or "\n" in value.strip():
            raise self._fault(f"{key} must be one line of at most {most} characters", key)
        return value.strip()

    def _strings(self, key: str, most: int, length: int) -> tuple[str, ...]:
        value = self._front.get(key, [])
        good = isinstance(value, list) and len(value) <= most
        if not good or not all(isinstance(v, str) and 0 < len(v) <= length for v in value):
            raise self._fault(f"{key} must be a list of words", key, hint="like [one, two]")
        return tuple(value)

    def _one_of(self, key: str, words: tuple[str, ...]) -> str:
        value = self._front.get(key)
        if value not in words:
            raise self._fault(f"{key} must be one of {', '.join(words)}", key)
        return str(value)

    def _known(self, keys: Mapping[str, Any], known: tuple[str, ...], at: tuple[str, ...]) -> None:
        for key in keys:
            if key not in known:
                where = f" of {at[-1]}" if at else ""
                raise self._fault(
                    f"{key[:70]} is no key{where}", *at, key, hint=f"keys: {', '.join(known)}"
                )

    def _fault(self, message: str, *path: str, hint: str | None = None) -> TemplateFault:
        return TemplateFault(message, line=self._source.line_of(*path), hint=hint)

    def _plain(self, value: Any) -> Any:
        """The YAML as values of JSON."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._fault("it is too large")
        if isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                raise self._fault("a key is no text", hint="write it in quotes")
            return {str(key): self._plain(member) for key, member in value.items()}
        if isinstance(value, list):
            return [self._plain(member) for member in value]
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, ScalarBoolean):
            return bool(value)
        for kind in (int, float, str):
            if isinstance(value, kind):
                return kind(value)
        raise self._fault(
            f"it holds a value of a kind that has no meaning here: {str(value)[:40]!r}",
            hint="text, numbers, true, false, lists; dates stand in quotes",
        )
