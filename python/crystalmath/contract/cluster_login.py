"""Params and result of ``clusters.login``: a dialogue with a person. Answers are never printed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from crystalmath.contract.clusters import ClusterRef
from crystalmath.contract.rpc import Model, Params

_Answer = Annotated[str, StringConstraints(max_length=4096)]


class LoginParams(Params):
    """Begin to log in; or answer what was asked, or give it up, both with ``dialogue``."""

    id: ClusterRef = Field(description="Name or number of the cluster.")
    dialogue: str | None = Field(
        default=None,
        max_length=64,
        pattern=r"^[0-9a-f]+$",
        description="Which login the answers are for; null begins one.",
    )
    answers: list[_Answer] | None = Field(
        default=None,
        max_length=20,
        repr=False,
        description="One for each prompt, in their order; kept in memory only.",
    )
    give_up: bool = Field(default=False, description="End the dialogue; nothing is answered.")

    @model_validator(mode="after")
    def _fits(self) -> LoginParams:
        if self.dialogue is None and (self.answers is not None or self.give_up):
            raise ValueError("dialogue: is needed, as the login that was begun has named it")
        if self.dialogue is not None and (self.answers is None) != self.give_up:
            raise ValueError("answers: are needed, or `give_up`, and not both")
        return self


class LoginPrompt(Model):
    text: str = Field(description="What is asked.")
    echo: bool = Field(description="Whether the answer may be seen while it is typed.")


class LoginResult(Model):
    """``done``, or what is asked next."""

    done: bool = Field(description="Whether the connection stands.")
    dialogue: str | None = Field(default=None, description="For the answers.")
    prompts: list[LoginPrompt] = Field(default_factory=list, description="What is asked.")
