"""Example values for any contract type, the same ones on every run.

Values are built from the annotations and tried against pydantic, so a new model needs no new
example. Every leaf differs from the others of its message: a member that ends up in the wrong
place shows. Used by ``golden``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

EPOCH = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
BEYOND_F64 = 2**53 + 1
"""No f64 holds it: a reader that goes through floating point is found out."""


class Examples:
    """Builds the values of one message.

    Parameters
    ----------
    full
        Give every member that may be given; else only those that must be.
    """

    def __init__(self, *, full: bool) -> None:
        self._full = full
        self._n = 0

    def value(self, annotation: Any, name: str, metadata: Sequence[Any] = ()) -> Any:
        """A JSON value that ``annotation`` accepts; ``name`` flavours its texts.

        Raises
        ------
        ValueError
            When no candidate is accepted: the type needs a rule here.
        """
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self.value(arguments[0], name, [*arguments[1:], *metadata])
        if origin in (Union, UnionType):
            return self.value(_preferred(arguments), name, metadata)
        if origin in (list, tuple, dict):
            return self._container(origin, arguments, name, metadata)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return self.model(annotation)
        if annotation is Any:
            return [1, 2.5, name, True, None]
        return self._leaf(annotation, name, metadata)

    def _container(
        self, origin: Any, arguments: Sequence[Any], name: str, metadata: Sequence[Any]
    ) -> Any:
        given = [e for e in _given(metadata) if isinstance(e, list)]
        if given:
            return given[0]
        if origin is list and tag_of(arguments[0]) is not None:  # one of each kind
            return [self.model(model) for model in get_args(get_args(arguments[0])[0])]
        first = self.value(arguments[0], name)
        if origin is dict:
            return {first: self.value(arguments[1], name)}
        if origin is tuple and len(set(arguments)) > 1:  # members of several kinds
            return [first, *(self.value(member, name) for member in arguments[1:])]
        return [first] * (len(arguments) if origin is tuple else _least(metadata))

    def model(self, model: type[BaseModel]) -> dict[str, Any]:
        """A value of ``model`` by its wire names.

        Where the members exclude one another, the largest (or smallest) set that the model accepts
        is taken, the earlier members first.
        """
        fields = model.model_fields
        required = [name for name, info in fields.items() if info.is_required()]
        optional = [name for name in fields if name not in required]
        values = {
            wire_name(name, info): self.value(info.annotation, name, _metadata(info))
            for name, info in fields.items()
        }
        for chosen in self._choices(optional):
            kept = {wire_name(name, fields[name]) for name in (*required, *chosen)}
            candidate = {key: value for key, value in values.items() if key in kept}
            if _accepts(model, candidate):
                return candidate
        raise ValueError(f"no example of {model.__name__} is valid; give it simpler members")

    def _choices(self, optional: Sequence[str]) -> Iterator[tuple[str, ...]]:
        sizes: Iterable[int] = range(len(optional) + 1)
        for size in reversed(list(sizes)) if self._full else sizes:
            yield from combinations(optional, size)

    def _leaf(self, annotation: Any, name: str, metadata: Sequence[Any]) -> Any:
        self._n += 1
        constrained = Annotated[annotation, *metadata] if metadata else annotation
        for candidate in (*_given(metadata), *_candidates(annotation, name, self._n)):
            if _accepts(constrained, candidate):
                if candidate == self._n and _is_exact_64_bit(constrained):
                    return BEYOND_F64 + 2 * self._n
                return candidate
        raise ValueError(f"no example of {name}: {annotation} is valid; add a candidate")


def _given(metadata: Sequence[Any]) -> list[Any]:
    """The examples that a field names itself."""
    return [e for extra in metadata for e in getattr(extra, "examples", None) or ()]


def _least(metadata: Sequence[Any]) -> int:
    """How many entries a list must have; one where nothing is said."""
    rules = [part for rule in metadata for part in (rule, *getattr(rule, "metadata", ()))]
    return max([1, *(getattr(rule, "min_length", None) or 1 for rule in rules)])


def _metadata(info: FieldInfo) -> list[Any]:
    """What constrains a field; its examples stand beside that, not in it."""
    given = [Field(examples=info.examples)] if info.examples else []
    return [*info.metadata, *given]


def tag_of(annotation: Any) -> str | None:
    """The field that tells the members of a union apart; None for any other type."""
    if get_origin(annotation) is not Annotated:
        return None
    tags = (getattr(extra, "discriminator", None) for extra in get_args(annotation)[1:])
    return next((tag for tag in tags if isinstance(tag, str)), None)


def wire_name(name: str, info: FieldInfo) -> str:
    """The name of a field on the wire."""
    return info.alias or name


def _preferred(members: Sequence[Any]) -> Any:
    """The member of a union that says most: a list before its item, never null."""
    given = [member for member in members if member is not NoneType]
    lists = [member for member in given if get_origin(member) is list]
    return (lists or given)[0]


def _candidates(annotation: Any, name: str, n: int) -> Sequence[Any]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)[::-1]
    by_type: dict[Any, Sequence[Any]] = {
        bool: (True,),
        int: (n, 1),
        float: (n + 0.5, 0.5),
        str: (
            name,
            f"example {name}",
            f"/data/{name}",
            f"{name} -n {{n}}",
            f"--{name}",
            str(8100 + n),
        ),
        datetime: ((EPOCH + timedelta(seconds=n)).strftime("%Y-%m-%dT%H:%M:%SZ"),),
    }
    return by_type[annotation]


def _is_exact_64_bit(annotation: Any) -> bool:
    """Whether the type is an integer that is bounded by the 64-bit range alone."""
    return _accepts(annotation, 2**63 - 1) and not _accepts(annotation, 2**63)


def _accepts(annotation: Any, value: Any) -> bool:
    try:
        TypeAdapter(annotation).validate_python(value)
    except ValidationError:
        return False
    return True
