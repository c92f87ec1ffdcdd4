"""What a step is given: its arguments, and the hash of everything that its result depends on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from crystalmath.services.ports_workflows import StepRecord, Use, WorkflowStore
from crystalmath.services.workflows.content import hash_of, part_of, text_of


class MissingPart(Exception):
    """A step has not given what another one needs; a sentence for the user."""


def input_hash(
    step: StepRecord,
    steps: Sequence[StepRecord],
    store: WorkflowStore,
    version: str,
    loaded: dict[str, Any] | None = None,
) -> str:
    """The hash of everything that a step computes from; equal only for the same computation.

    Whole documents stand under their own hash and are not read for it.

    Parameters
    ----------
    steps
        All steps of the workflow.
    version
        Of this program.
    loaded
        See :func:`arguments_of`.

    Raises
    ------
    MissingPart
        A step completed without what this one needs of it.
    NotFound
        A document is not in the database.
    """
    documents: dict[str, Any] = {} if loaded is None else loaded
    given = {one.name: one for one in steps}
    hashes = {
        name: [_hash(one, given, documents, store) for one in use]
        if isinstance(use, tuple)
        else _hash(use, given, documents, store)
        for name, use in step.uses.items()
    }
    whole = {"action": step.action, "kind": step.kind, "uses": hashes, "version": version}
    return hash_of(text_of(whole))


def _hash(
    use: Use, steps: Mapping[str, StepRecord], loaded: dict[str, Any], store: WorkflowStore
) -> str:
    """Of what is used; a whole document is stored under its own."""
    key = _key(use, steps)
    if key is not None and not use.path:
        return key
    return hash_of(text_of(_value(use, steps, loaded, store)))


def arguments_of(
    uses: Mapping[str, Use | tuple[Use, ...]],
    steps: Sequence[StepRecord],
    store: WorkflowStore,
    loaded: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The documents, or the parts of them, that are used.

    Parameters
    ----------
    loaded
        Documents by hash that have been read already, and those that are read now: steps that start
        together use the same ones. Nobody writes into them.

    Raises
    ------
    MissingPart
        A step completed without what this one needs of it.
    NotFound
        A document is not in the database.
    """
    given = {one.name: one for one in steps}
    documents: dict[str, Any] = {} if loaded is None else loaded
    return {
        name: [_value(one, given, documents, store) for one in use]
        if isinstance(use, tuple)
        else _value(use, given, documents, store)
        for name, use in uses.items()
    }


def _value(
    use: Use, steps: Mapping[str, StepRecord], loaded: dict[str, Any], store: WorkflowStore
) -> Any:
    """The document, or the part of it; None for a step that was not required and failed."""
    key = _key(use, steps)
    if key is None and use.step is not None:
        return None
    if key is None:
        raise MissingPart("it names neither a step nor a document")
    if key not in loaded:
        loaded[key] = json.loads(store.artefact(key))
    try:
        return part_of(loaded[key], use.path)
    except (KeyError, IndexError, TypeError):
        what = ".".join(str(one) for one in use.path)
        raise MissingPart(f"step {use.step} completed without giving {what}") from None


def _key(use: Use, steps: Mapping[str, StepRecord]) -> str | None:
    """What the document is stored under."""
    return use.artefact if use.step is None else steps[use.step].output_hash
