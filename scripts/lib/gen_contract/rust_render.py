"""Writes ``src/rpc/types.rs`` from the collected types and the method table.

The fixed part of the file is ``types_head.rs`` beside this module. The text goes through rustfmt,
so nothing here cares about line breaks except in comments. Called by ``cli``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from crystalmath.contract.openrpc import markdown
from crystalmath.contract.rpc import Method
from gen_contract.adr import ROWS
from gen_contract.rust_model import (
    Collected,
    Member,
    RustCall,
    Struct,
    Tagged,
    Words,
    camel,
    collect,
)

HEAD = Path(__file__).with_name("types_head.rs")


def render(table: Mapping[str, Method], sha256: str) -> str:
    """The whole file, formatted.

    Raises
    ------
    FileNotFoundError
        When rustfmt is not installed.
    """
    found = collect(table)
    parts = [
        HEAD.read_text(encoding="utf-8"),
        _constants(table, sha256),
        _bridge_request(),
        *(_words(words) for _, words in sorted(found.words.items())),
        *(_union(union) for _, union in sorted(found.unions.items())),
        *(_struct(struct) for _, struct in sorted(found.structs.items())),
        _calls(found),
    ]
    return _formatted("\n".join(parts))


def _formatted(text: str) -> str:
    rustfmt = shutil.which("rustfmt")
    if rustfmt is None:
        raise FileNotFoundError("rustfmt is needed to write src/rpc/types.rs")
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [rustfmt, "--edition", "2024", "--config-path", str(root), "--emit", "stdout"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"rustfmt refuses the generated text:\n{done.stderr}")
    return done.stdout


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(value: float) -> str:
    return repr(float(value))


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _doc(text: str, indent: int = 0) -> str:
    width = 100 - indent - len("/// ")
    lines: list[str] = []
    for paragraph in markdown(text).strip().split("\n\n"):
        folded = " ".join(paragraph.split())
        lines += [*textwrap.wrap(folded, width, break_on_hyphens=False), ""]
    return "".join(f"/// {line}".rstrip() + "\n" for line in lines[:-1])


def _constants(table: Mapping[str, Method], sha256: str) -> str:
    rows = "".join(
        f"MethodInfo::new({_string(name)}, {_number(method.spec.deadline_s)}, "
        f"{_bool(method.spec.read_only)}, {_bool(method.planned is not None)}, "
        f"{_string(markdown(method.summary))}),\n"
        for name, method in sorted(table.items())
    )
    return (
        "/// SHA-256 of the document that this file was made from; `system.hello` reports the\n"
        "/// daemon's own.\n"
        f"pub const SCHEMA_SHA256: &str =\n    {_string(sha256)};\n\n"
        "/// Every method of the contract, sorted by name.\n"
        f"pub const METHODS: &[MethodInfo] = &[\n{rows}];\n"
    )


def _bridge_request() -> str:
    variants = "".join(f"/// `{name}`\n{camel(name)},\n" for name in ROWS)
    every = "".join(f"Self::{camel(name)},\n" for name in ROWS)
    arms = "".join(f"Self::{camel(name)} => {_string(name)},\n" for name in ROWS)
    return f"""
/// The requests of the terminal UI: one per row of the decision record on the IPC boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BridgeRequest {{
{variants}}}

impl BridgeRequest {{
    /// Every request, in the order of the record.
    pub const ALL: &'static [Self] = &[
{every}];

    /// The method that the request calls.
    #[must_use]
    pub const fn method(self) -> &'static str {{
        match self {{
{arms}}}
    }}
}}
"""


def _words(words: Words) -> str:
    rows = "".join(f"    {variant} = {_string(text)},\n" for variant, text in words.variants)
    doc = textwrap.indent(_doc(words.doc, 4), "    ")
    return f"words! {{\n{doc}    {words.name} {{\n{textwrap.indent(rows, '    ')}    }}\n}}\n"


def _union(union: Tagged) -> str:
    variants = "".join(
        f"{_doc(v.doc, 4)}#[serde(rename = {_string(v.word)})]\n{v.name}({v.type_}),\n"
        for v in union.variants
    )
    return (
        f"{_doc(union.doc)}#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]\n"
        f"#[serde(tag = {_string(union.tag)})]\npub enum {union.name} {{\n{variants}"
        "/// A kind that this version does not know.\n#[serde(other)]\nOther,\n}\n"
    )


def _struct(struct: Struct) -> str:
    members = "".join(_member(member) for member in struct.members)
    body = f" {{\n{members}}}" if members else " {}"
    return (
        f"{_doc(struct.doc)}#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]\n"
        f"#[serde(default)]\npub struct {struct.name}{body}\n"
    )


def _member(member: Member) -> str:
    options: list[str] = []
    if member.wire != member.ident:
        options.append(f"rename = {_string(member.wire)}")
    if member.skip_none:
        options.append('skip_serializing_if = "Option::is_none"')
    attribute = f"#[serde({', '.join(options)})]\n" if options else ""
    return f"{_doc(member.doc, 4)}{attribute}pub {member.ident}: {member.type_},\n"


def _calls(found: Collected) -> str:
    calls: Sequence[RustCall] = found.calls
    markers = "".join(_marker(call) for call in calls)
    visits = "".join(f"visitor.visit::<calls::{call.marker}>();\n" for call in calls)
    return f"""
/// One type per method that is built; each names the method's params and result.
pub mod calls {{
    #[allow(clippy::wildcard_imports, reason = "the types of this very file")]
    use super::*;

{markers}}}

/// Does something for every method that is built; see [`every_call`].
pub trait CallVisitor {{
    /// Called once per method.
    fn visit<C: Call>(&mut self);
}}

/// Shows every method that is built to `visitor`, in the order of the names.
pub fn every_call(visitor: &mut impl CallVisitor) {{
{visits}}}
"""


def _marker(call: RustCall) -> str:
    return f"""{_doc(f"`{call.method}`: {call.summary}", 4)}pub enum {call.marker} {{}}

impl Call for {call.marker} {{
    const METHOD: &'static str = {_string(call.method)};
    type Params = {call.params};
    type Reply = {call.reply};
}}

"""
