"""Logging in to clusters with a person to answer: a dialogue of a client with a connection.

The connection is made on a thread of its own, which waits here for answers; the client's calls
bring them. Questions and answers pass through and are kept nowhere. A dialogue belongs to the
connection of the client that began it. Used by ``clusters``.
"""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from crystalmath.contract.cluster_login import LoginPrompt, LoginResult
from crystalmath.contract.rpc import Call
from crystalmath.errors import Cancelled, InvalidParams, NotFound
from crystalmath.services.ports_cluster import Cluster, ClusterRecord
from crystalmath.services.ports_shell import Ask, Question

ANSWER_S: Final = 120.0
"""So long an answer is waited for."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """The connection stands, or why not."""

    error: BaseException | None


_Said = Sequence[Question] | _Ended


class Dialogue:
    """One login under way."""

    def __init__(self, cluster_id: int, owner: int, log_in: Callable[[Ask], object]) -> None:
        self.id = secrets.token_hex(8)
        self.cluster_id = cluster_id
        self.owner = owner
        self.asked: Sequence[Question] = ()
        self._log_in = log_in
        self._said: queue.SimpleQueue[_Said] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Sequence[str] | None] = queue.SimpleQueue()
        self._given_up = False

    def start(self) -> None:
        """Begin to connect."""
        threading.Thread(target=self._run, name="cluster-login", daemon=True).start()

    def answer(self, answers: Sequence[str]) -> None:
        """Pass the answers on."""
        self.asked = ()
        self._answers.put(answers)

    def give_up(self) -> None:
        """Nobody answers any more: the connection is not made."""
        self._given_up = True
        self._answers.put(None)
        self._said.put(_Ended(Cancelled("the login was given up")))

    def next(self, timeout_s: float) -> _Said:
        """What is asked next, or how it ended; waits for it."""
        try:
            said = self._said.get(timeout=timeout_s)
        except queue.Empty:
            self.give_up()
            raise
        if not isinstance(said, _Ended):
            self.asked = said
        return said

    def _run(self) -> None:
        try:
            self._log_in(self._ask)
        except BaseException as error:  # noqa: BLE001 - it is raised in the call that waits for it
            self._said.put(_Ended(error))
        else:
            self._said.put(_Ended(None))

    def _ask(self, questions: Sequence[Question]) -> Sequence[str]:
        if not self._given_up:
            self._said.put(questions)
        try:
            answers = self._answers.get(timeout=ANSWER_S)
        except queue.Empty:
            answers = None
        if answers is None or self._given_up:
            raise Cancelled("the login was given up: there was no answer")
        return answers


class Dialogues:
    """The logins under way, at most one for each cluster.

    Parameters
    ----------
    log_in
        Connects to a cluster, with somebody to ask.
    """

    def __init__(self, log_in: Callable[[ClusterRecord, Ask], object]) -> None:
        self._log_in = log_in
        self._lock = threading.Lock()
        self._open: dict[str, Dialogue] = {}

    def begin(self, cluster: Cluster, call: Call) -> LoginResult:
        """Begin to log in; one that was under way for the cluster ends.

        Raises
        ------
        CrystalMathError
            What the connection fails with.
        """
        self.forget(cluster.id)
        made = Dialogue(
            cluster.id, call.connection.id, lambda ask: self._log_in(cluster.record, ask)
        )
        with self._lock:
            self._open[made.id] = made
        made.start()
        return self._wait(made, call)

    def answer(
        self, wanted: str, cluster: Cluster, answers: Sequence[str], call: Call
    ) -> LoginResult:
        """Give the answers; what comes next is the next question, or the end.

        Raises
        ------
        NotFound, InvalidParams, CrystalMathError
        """
        dialogue = self._find(wanted, cluster, call)
        if len(answers) != len(dialogue.asked):
            raise InvalidParams(
                f"{len(dialogue.asked)} answers are asked for, and {len(answers)} were given",
                field="answers",
            )
        dialogue.answer(answers)
        return self._wait(dialogue, call)

    def give_up(self, wanted: str, cluster: Cluster, call: Call) -> LoginResult:
        """End a dialogue without answering; raises ``NotFound``."""
        self._end(self._find(wanted, cluster, call))
        return LoginResult(done=False)

    def forget(self, cluster_id: int) -> None:
        """End what is under way for a cluster."""
        with self._lock:
            old = [one for one in self._open.values() if one.cluster_id == cluster_id]
        for dialogue in old:
            self._end(dialogue)

    def _find(self, wanted: str, cluster: Cluster, call: Call) -> Dialogue:
        with self._lock:
            found = self._open.get(wanted)
        # Whoever has not begun it learns no more than that there is none.
        if found is None or (found.cluster_id, found.owner) != (cluster.id, call.connection.id):
            raise NotFound(
                f"this login to {cluster.record.name} is over",
                hint="begin again with `clusters.login`",
                field="dialogue",
            )
        return found

    def _end(self, dialogue: Dialogue) -> None:
        with self._lock:
            self._open.pop(dialogue.id, None)
        dialogue.give_up()

    def _wait(self, dialogue: Dialogue, call: Call) -> LoginResult:
        call.on_cancel(lambda: self._end(dialogue))
        try:
            said = dialogue.next(max(1.0, call.remaining_s()))
        except queue.Empty as error:
            self._end(dialogue)
            raise Cancelled("the host has not answered in time; the login was given up") from error
        if not isinstance(said, _Ended):
            prompts = [LoginPrompt(text=one.text, echo=not one.secret) for one in said]
            return LoginResult(done=False, dialogue=dialogue.id, prompts=prompts)
        with self._lock:
            self._open.pop(dialogue.id, None)
        if said.error is not None:
            raise said.error
        return LoginResult(done=True)
