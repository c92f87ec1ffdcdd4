"""Contract types → what ``src/rpc/types.rs`` must declare, still without any Rust text.

Walks the params and results of every built method, and what notifications carry, once and collects
structs, unions and word lists.
``rust_render`` writes them.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

import crystalmath.contract
from crystalmath.contract.event_names import SUBSCRIBE
from crystalmath.contract.events import NOTIFICATIONS
from crystalmath.contract.rpc import Method
from crystalmath.domain import states
from gen_contract.examples import tag_of, wire_name

Side = Literal["params", "result"]

_KEYWORDS: Final = """
abstract as async await become box break const continue crate do dyn else enum extern false final fn
for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct
super trait true try type typeof unsafe unsized use virtual where while yield
"""
_TAKEN: Final = "BridgeRequest Call CallVisitor Map MethodInfo Page Reply Status Value"
_LEAVES: Final[dict[Any, str]] = {
    str: "String",
    datetime: "String",
    bool: "bool",
    int: "i64",
    float: "f64",
    Any: "Value",
    NoneType: "()",
}


@dataclass(frozen=True)
class Member:
    """One field of a struct."""

    wire: str
    ident: str
    type_: str
    doc: str
    skip_none: bool


@dataclass(frozen=True)
class Struct:
    """One model, in the form it takes on one side of a call."""

    name: str
    doc: str
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Variant:
    """One member of a union: the word that tells it, its name, and what it holds."""

    word: str
    name: str
    doc: str
    type_: str


@dataclass(frozen=True)
class Tagged:
    """A union whose members are told apart by the word in one of their fields."""

    name: str
    doc: str
    tag: str
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class Words:
    """One closed list of words."""

    name: str
    doc: str
    variants: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RustCall:
    """One built method: its marker type, its params struct and the type of its result."""

    marker: str
    method: str
    summary: str
    params: str
    reply: str


@dataclass
class Collected:
    """Everything that the generated file declares beside the fixed part."""

    calls: list[RustCall] = field(default_factory=list)
    structs: dict[str, Struct] = field(default_factory=dict)
    words: dict[str, Words] = field(default_factory=dict)
    unions: dict[str, Tagged] = field(default_factory=dict)


def collect(table: Mapping[str, Method]) -> Collected:
    """Collect the Rust types of every built method of ``table``.

    Raises
    ------
    ValueError
        When two different types would get the same Rust name.
    """
    built = [method for method in table.values() if method.planned is None]
    walk = _Walk(both=_models_on_both_sides(built))
    for method in built:
        params = walk.type_(method.params, "params", f"Params of `{method.name}`.")
        walk.found.calls.append(
            RustCall(camel(method.name), method.name, method.summary, params, walk.reply(method))
        )
    for notification in NOTIFICATIONS if SUBSCRIBE in table else ():
        walk.type_(notification.params, "result", f"Params of `{notification.name}`.")
    return walk.found


def camel(text: str) -> str:
    """``jobs.read_file`` → ``JobsReadFile``; ``-id`` → ``IdDescending``."""
    descending = text.startswith("-")
    words = re.split(r"[^A-Za-z0-9]+", text)
    name = "".join(w[:1].upper() + (w[1:].lower() if w.isupper() else w[1:]) for w in words)
    name = f"{name}Descending" if descending else name
    return f"N{name}" if name[:1].isdigit() else name


def rust_ident(wire: str) -> str:
    """A member's Rust name: snake case, with ``_`` behind a keyword."""
    name = re.sub(r"[^a-z0-9]+", "_", wire.lower()).strip("_")
    return f"{name}_" if name in _KEYWORDS.split() else name


class _Walk:
    def __init__(self, both: frozenset[type[BaseModel]]) -> None:
        self.found = Collected()
        self._both = both
        self._owner: dict[str, Any] = {}
        self._named_words = _named_literals()
        self._named_unions = _named_unions()

    def reply(self, method: Method) -> str:
        doc = f"Result of `{method.name}`."
        if method.listing is not None:
            row, meta = method.listing
            rows = self.type_(row, "result", f"Row of `{method.name}`.")
            beside = self.type_(meta, "result", f"What stands beside the rows of `{method.name}`.")
            return f"Page<{rows}, {beside}>"
        data = self.type_(method.result, "result", doc)
        return data if method.spec.bare_result else f"Reply<{data}>"

    def type_(self, annotation: Any, side: Side, doc: str, place: str = "") -> str:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            tag = tag_of(annotation)
            inner = arguments[0]
            return self._tagged(inner, tag, side) if tag else self.type_(inner, side, doc, place)
        if origin in (Union, UnionType):
            return self._union(arguments, side, doc, place)
        if origin is Literal:
            return self._literal(arguments, place, doc)
        if origin in (list, tuple, dict):
            return _container(origin, [self.type_(a, side, doc, place) for a in arguments])
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return self._model(annotation, side, doc)
        return _LEAVES[annotation]

    def _union(self, arguments: tuple[Any, ...], side: Side, doc: str, place: str) -> str:
        inner = [self.type_(a, side, doc, place) for a in arguments if a is not NoneType]
        lists = [name for name in inner if name.startswith("Vec<")]
        if lists and all(name in (lists[0], lists[0][4:-1]) for name in inner):
            name = lists[0]  # one item may be sent bare; sending a list of one says the same
        else:
            name = inner[0] if len(set(inner)) == 1 else "Value"
        return f"Option<{name}>" if NoneType in arguments else name

    def _tagged(self, union: Any, tag: str, side: Side) -> str:
        name = self._named_unions[union]
        self._claim(name, union)
        variants = []
        for model in get_args(union):
            (word,) = get_args(model.model_fields[tag].annotation)
            held = self._model(model, side, "", without=tag)
            nested = any(_holds_model(info.annotation) for info in model.model_fields.values())
            type_ = f"Box<{held}>" if nested else held
            variants.append(Variant(word, camel(word), inspect.cleandoc(model.__doc__), type_))
        doc = "What is told apart by its `" + tag + "`."
        self.found.unions[name] = Tagged(name, doc, tag, tuple(variants))
        return name

    def _literal(self, values: tuple[Any, ...], place: str, doc: str) -> str:
        if not all(isinstance(value, str) for value in values):
            return _LEAVES[type(values[0])]
        if len(values) == 1:
            return "String"
        name = self._named_words.get(values, place)
        variants = tuple((camel(value), value) for value in values)
        if any(variant == "Other" for variant, _ in variants):
            raise ValueError(f"{name}: `Other` stands for the words that are not known")
        self._claim(name, values)
        self.found.words[name] = Words(name, doc.replace("Member", "Words of", 1), variants)
        return name

    def _model(
        self, model: type[BaseModel], side: Side, doc: str, without: str | None = None
    ) -> str:
        twice = side == "params" and model in self._both
        name = f"{model.__name__}Params" if twice else model.__name__
        self._claim(name, (model, side if model in self._both else None))
        if name in self.found.structs:
            return name
        text = inspect.cleandoc(model.__doc__) if model.__doc__ else doc
        self.found.structs[name] = Struct(name, text, ())  # for members that refer back to it
        members = tuple(
            self._member(model.__name__, wire_name(key, info), info, side)
            for key, info in model.model_fields.items()
            if key != without
        )
        self.found.structs[name] = Struct(name, text, members)
        return name

    def _member(self, owner: str, wire: str, info: Any, side: Side) -> Member:
        place = owner + camel(wire)
        type_ = self.type_(info.annotation, side, f"Member `{wire}` of [`{owner}`].", place)
        left_out = side == "params" and not info.is_required()
        if left_out and not type_.startswith("Option<"):
            type_ = f"Option<{type_}>"
        return Member(wire, rust_ident(wire), type_, info.description or "", left_out)

    def _claim(self, name: str, owner: Any) -> None:
        if name in _TAKEN.split() or self._owner.setdefault(name, owner) != owner:
            raise ValueError(f"two types of the contract would be called {name} in Rust")


def _holds_model(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return True
    return any(_holds_model(argument) for argument in get_args(annotation))


def _container(origin: Any, inner: list[str]) -> str:
    if origin is list:
        return f"Vec<{inner[0]}>"
    if origin is tuple:
        return f"({', '.join(inner)})"
    return "Map<String, Value>" if inner[1] == "Value" else f"BTreeMap<String, {inner[1]}>"


def _models_on_both_sides(methods: list[Method]) -> frozenset[type[BaseModel]]:
    sent: set[type[BaseModel]] = set()
    received: set[type[BaseModel]] = set()
    for method in methods:
        _models(method.params, sent)
        for part in method.listing or (method.result,):
            _models(part, received)
    return frozenset(sent & received)


def _models(annotation: Any, seen: set[type[BaseModel]]) -> None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation not in seen:
            seen.add(annotation)
            for info in annotation.model_fields.values():
                _models(info.annotation, seen)
        return
    for argument in get_args(annotation):
        _models(argument, seen)


def _modules() -> list[ModuleType]:
    return [
        states,
        *(
            importlib.import_module(f"crystalmath.contract.{info.name}")
            for info in pkgutil.iter_modules(crystalmath.contract.__path__)
        ),
    ]


def _named_literals() -> dict[tuple[Any, ...], str]:
    """Values → name, for the word lists that have a name in the contract or in the domain."""
    return {
        get_args(value): name
        for module in _modules()
        for name, value in vars(module).items()
        if get_origin(value) is Literal and not name.startswith("_")
    }


def _named_unions() -> dict[Any, str]:
    """Union → name, for those whose members are told apart by a word."""
    return {
        get_args(value)[0]: name
        for module in _modules()
        for name, value in vars(module).items()
        if tag_of(value) is not None and not name.startswith("_")
    }
