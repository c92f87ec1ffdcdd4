"""Why a job is pending, in plain words, and what can be done. Pure.

The words are those of squeue(1), JOB REASON CODES; compared without case, blanks and underscores.
An unlisted one is shown as it is.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Final, Literal

Outlook = Literal["waiting", "never", "held", "site", "budget"]
"""``never``: it will not start as it was asked for."""

Offer = Literal["release", "cancel", "edit", "ask_manager"]


@dataclass(frozen=True, slots=True)
class Advice:
    """What a reason means for the user.

    Attributes
    ----------
    text
        One sentence.
    warning
        Something to look at, though the job may start by itself.
    """

    outlook: Outlook
    text: str
    offer: Offer | None = None
    warning: str | None = None


def _waiting(text: str) -> Advice:
    return Advice("waiting", text)


_REASONS: Final[dict[str, Advice]] = {
    "none": _waiting("the scheduler has not looked at it yet"),
    "priority": _waiting("jobs with a higher priority come first"),
    "resources": _waiting("it is next and waits for free nodes"),
    "licenses": _waiting("it waits for a software licence"),
    "begintime": _waiting("its start time has not come"),
    "dependency": _waiting("it waits for another job"),
    "jobarraytasklimit": _waiting("as many tasks of the array run as are allowed at once"),
    "cleaning": _waiting("the nodes of its last attempt are being cleaned"),
    "reservation": _waiting("it waits for its reservation"),
    "partitiondown": Advice("site", "its partition takes no jobs at present"),
    "partitioninactive": Advice("site", "its partition is switched off"),
    "nodedown": Advice("site", "a node that it needs is down"),
    "reservationdeleted": Advice("site", "its reservation was deleted", "cancel"),
    "dependencyneversatisfied": Advice(
        "never", "a job that it waits for did not end as asked", "cancel"
    ),
    "invalidaccount": Advice("never", "its account is not valid", "cancel"),
    "invalidqos": Advice("never", "its QOS is not valid", "cancel"),
    "partitiontimelimit": Advice(
        "never", "it asks for more time than its partition allows", "edit"
    ),
    "partitionnodelimit": Advice(
        "never", "it asks for more (or fewer) nodes than its partition allows", "edit"
    ),
    "partitionconfig": Advice("never", "its partition cannot give what it asks for", "edit"),
    "badconstraints": Advice("never", "no node has the features that it asks for", "edit"),
    "jobhelduser": Advice("held", "it is held by its owner", "release"),
    "jobheldadmin": Advice("held", "it is held by an administrator, who alone can release it"),
    "launchfailedrequeuedheld": Advice(
        "held", "it could not be started, was requeued and is held", "release"
    ),
    "jobrequeuedinheldstate": Advice("held", "it was requeued and is held", "release"),
}
_BUDGET = re.compile(r"^(assoc|qos)grp\w*minutes")
_PER_JOB = re.compile(r"^(assoc|qos|assocmax|qosmax)\w*(perjob|perjoblimit)")
_NODES = re.compile(
    r"ReqNodeNotAvail(?:,\s*(?:UnavailableNodes:)?\s*(?P<nodes>[^)]*))?", re.IGNORECASE
)


@functools.lru_cache(maxsize=1024)
def advise(reason: str | None) -> Advice:
    """Explain one reason; total over any text."""
    text = (reason or "").strip().strip("()")
    nodes = _NODES.match(text)
    if nodes is not None:
        named = (nodes["nodes"] or "").strip(" ,")
        warning = f"it needs nodes that are not available: {named}" if named else None
        return Advice(
            "waiting", "a node that it asks for is not free, which is often harmless", None, warning
        )
    word = re.sub(r"[\s_]+", "", text).lower()
    known = _REASONS.get(word)
    if known is not None:
        return known
    if _BUDGET.match(word):
        return Advice(
            "budget", "the budget of the project is used up; ask its manager", "ask_manager"
        )
    if _PER_JOB.match(word):
        return Advice("never", f"it asks for more than one job may have ({text})", "edit")
    return _waiting(text or "no reason is given")
