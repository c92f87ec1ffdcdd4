"""The dialogue of ``clusters.login``; the connection is made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from crystalmath.contract.cluster_login import LoginParams
from crystalmath.errors import AuthRefused, Cancelled, InvalidParams, NotFound
from crystalmath.services.cluster_logins import Dialogues
from crystalmath.services.ports_cluster import Cluster, ClusterRecord
from crystalmath.services.ports_shell import Ask, Question
from support.service_fakes import FakeCall

CLUSTER = Cluster(1, ClusterRecord("maple", "slurm", "h", "~/w"))
OTHER = Cluster(2, ClusterRecord("oak", "slurm", "h", "~/w"))


@dataclass
class Door:
    """A connection that asks for these, and remembers what it was told."""

    rounds: Sequence[Sequence[Question]] = ((Question("h", "Password"),),)
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.told: list[list[str]] = []
        self.ended: list[type[BaseException]] = []

    def __call__(self, _record: ClusterRecord, ask: Ask) -> None:
        try:
            for questions in self.rounds:
                self.told.append(list(ask(questions)))
        except Cancelled as error:
            self.ended.append(type(error))
            raise
        if self.error is not None:
            raise self.error


def call_on(connection: int) -> Any:
    call = FakeCall()
    call.connection = SimpleNamespace(id=connection)  # type: ignore[assignment]
    return call


def test_what_is_asked_is_answered_round_by_round() -> None:
    rounds = [[Question("h", "Password")], [Question("h", "Code", secret=False)]]
    door = Door(rounds)
    dialogues, call = Dialogues(door), call_on(1)
    first = dialogues.begin(CLUSTER, call)
    assert [(one.text, one.echo) for one in first.prompts] == [("Password", False)]
    assert first.dialogue is not None
    second = dialogues.answer(first.dialogue, CLUSTER, ["a"], call)
    assert [(one.text, one.echo) for one in second.prompts] == [("Code", True)]
    assert dialogues.answer(first.dialogue, CLUSTER, ["b"], call).done
    assert door.told == [["a"], ["b"]]
    with pytest.raises(NotFound):
        dialogues.answer(first.dialogue, CLUSTER, ["c"], call)


def test_nothing_is_asked_where_a_key_gets_in() -> None:
    assert Dialogues(Door(rounds=[])).begin(CLUSTER, call_on(1)).done


def test_a_refusal_reaches_the_call_that_answered() -> None:
    dialogues, call = Dialogues(Door(error=AuthRefused("no"))), call_on(1)
    begun = dialogues.begin(CLUSTER, call)
    with pytest.raises(AuthRefused, match="no"):
        dialogues.answer(str(begun.dialogue), CLUSTER, ["wrong"], call)


def test_a_dialogue_belongs_to_the_client_that_began_it() -> None:
    dialogues = Dialogues(Door())
    begun = dialogues.begin(CLUSTER, call_on(1))
    for cluster, connection in ((CLUSTER, 2), (OTHER, 1)):
        with pytest.raises(NotFound):
            dialogues.answer(str(begun.dialogue), cluster, ["a"], call_on(connection))


def test_each_question_has_one_answer() -> None:
    dialogues, call = Dialogues(Door()), call_on(1)
    begun = dialogues.begin(CLUSTER, call)
    for answers in ([], ["a", "b"]):
        with pytest.raises(InvalidParams) as caught:
            dialogues.answer(str(begun.dialogue), CLUSTER, answers, call)
        assert caught.value.field == "answers"
    assert dialogues.answer(str(begun.dialogue), CLUSTER, ["a"], call).done


@pytest.mark.parametrize("way", ["give_up", "forget", "begin"])
def test_a_login_that_nobody_wants_any_more_ends(way: str) -> None:
    door = Door()
    dialogues, call = Dialogues(door), call_on(1)
    begun = dialogues.begin(CLUSTER, call)
    ends: dict[str, Callable[[], object]] = {
        "give_up": lambda: dialogues.give_up(str(begun.dialogue), CLUSTER, call),
        "forget": lambda: dialogues.forget(CLUSTER.id),
        "begin": lambda: dialogues.begin(CLUSTER, call_on(2)),
    }
    ends[way]()
    with pytest.raises(NotFound):
        dialogues.answer(str(begun.dialogue), CLUSTER, ["a"], call)
    assert door.told == []


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"answers": ["planted"]}, "dialogue"),
        ({"give_up": True}, "dialogue"),
        ({"dialogue": "ab"}, "answers"),
        ({"dialogue": "ab", "answers": ["planted"], "give_up": True}, "answers"),
    ],
)
def test_answers_and_their_dialogue_go_together(fields: dict[str, object], word: str) -> None:
    with pytest.raises(ValidationError, match=word):
        LoginParams.model_validate({"id": "maple", **fields})


def test_answers_do_not_show_where_params_are_printed() -> None:
    params = LoginParams.model_validate({"id": 1, "dialogue": "ab", "answers": ["planted"]})
    assert "planted" not in repr(params)
