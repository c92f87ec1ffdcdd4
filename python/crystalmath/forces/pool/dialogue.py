"""What workers say on their control channels, and what they are told.

Called by the supervisor, in its thread and under the lock of the roster.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, Protocol

from crystalmath.errors import CrystalMathError, WorkerDied
from crystalmath.forces.launch import Deadlines, Launch
from crystalmath.forces.pool import endings
from crystalmath.forces.pool.control import ControlClosed, ControlError, Message
from crystalmath.forces.pool.member import Member, Stage, Why
from crystalmath.forces.pool.memory import MIB, Peaks
from crystalmath.forces.reported import reported_error
from crystalmath.services.ports_pool import Learnt, PoolLimits, Wanted

Recall = Callable[[Wanted], Learnt]
"""What examinations have taught about a worker."""


class Watch(Protocol):
    """The supervisor as the dialogue needs it."""

    peaks: Peaks

    def loaded(self, member: Member) -> None:
        """It is ready."""

    def enter(self, member: Member, stage: Stage, *, phase: str | None = None) -> None:
        """It is in another stage."""

    def tell(self, member: Member) -> None:
        """Something about it has changed."""

    def end(self, member: Member, why: Why, mode: Literal["drain", "now"] = "drain") -> None:
        """It has to end."""

    def hung_up(self, member: Member) -> None:
        """Its channel is closed."""


class Dialogue:
    """See the module docstring."""

    def __init__(self, limits: PoolLimits, watch: Watch, recall: Recall) -> None:
        self._limits = limits
        self._watch = watch
        self._recall = recall

    def listen(self, member: Member) -> None:
        """Take in what a worker has said."""
        if not member.alive or member.control is None:
            return
        try:
            messages = member.control.read()
        except ControlClosed:
            self._watch.hung_up(member)
            return
        except ControlError as error:
            self._nonsense(member, str(error))
            return
        for message in messages:
            self._heard(member, message)

    def _heard(self, member: Member, message: Message) -> None:
        if message.word == "BEAT":
            self._beat(member, message)
        elif message.word == "NEEDINIT" and member.stage == "connecting":
            self._configure(member)
        elif message.word == "CONFIG" and member.stage == "loading":
            self._loaded(member, message)
        elif message.word == "FAULT" and member.stage in ("connecting", "loading"):
            member.failure = reported_error(
                message.document, engine=member.wanted.environment.engine
            )
            self._watch.end(member, "load", "now")
        elif member.why is None:
            self._nonsense(member, f"it said {message.word!r} out of turn")

    def _beat(self, member: Member, message: Message) -> None:
        self._measured(member, message)
        if "memory_points" in message.document:
            self._watch.peaks.learnt(member.key, message.document["memory_points"])
        phase = message.document.get("phase")
        if isinstance(phase, str) and member.stage == "loading":
            member.phase = phase[:60]
            self._watch.tell(member)

    def _measured(self, member: Member, message: Message) -> None:
        """Take in what is said of the process; the one that was started is its guard."""
        rss, pid = message.document.get("rss_bytes"), message.document.get("pid")
        if isinstance(pid, int):
            member.pid = pid
        if isinstance(rss, int):
            member.rss_bytes = rss
            self._watch.peaks.saw(member.key, rss)

    def _configure(self, member: Member) -> None:
        try:
            config = self._launch(member).config()
        except CrystalMathError as error:
            member.failure = error
            self._watch.end(member, "load", "now")
            return
        try:
            if member.control is not None:
                member.control.configure(config)
        except (ControlClosed, ControlError):
            self._watch.hung_up(member)
            return
        self._watch.enter(member, "loading", phase="loading")

    def _loaded(self, member: Member, message: Message) -> None:
        self._measured(member, message)  # a beat may be from before it was loaded
        member.capabilities = message.document
        member.last_used = time.monotonic()
        self._watch.loaded(member)

    def _nonsense(self, member: Member, what: str) -> None:
        if member.failure is None:
            member.failure = WorkerDied(
                f"{endings.named(member)} was ended: {what}",
                hint="this is a mistake in its program; `crystalmath engines workers` shows more",
            )
        self._watch.end(member, "broken", "now")

    def _launch(self, member: Member) -> Launch:
        wanted, limits = member.wanted, self._limits
        learnt = self._recall(wanted)
        return Launch(
            environment=wanted.environment,
            model=wanted.model,
            dtype=wanted.dtype,
            device=wanted.device,
            options=wanted.options,
            import_first=wanted.import_first,
            threads=member.threads,
            deadlines=Deadlines(
                call_s=limits.call_s,
                first_call_s=limits.first_call_s,
                first_call_factor=limits.first_call_factor,
            ),
            max_structures=limits.request_structures,
            max_atoms=limits.request_atoms,
            withheld=learnt.withheld,
            reference=learnt.reference,
            memory_bytes=limits.memory_mib * MIB,
            memory_points=self._watch.peaks.points(member.key),
        )
