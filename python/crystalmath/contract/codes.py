"""Params and results of ``codes.*``."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from crystalmath.contract.rpc import Model


class CodeInfo(Model):
    """What one code can do here."""

    name: str = Field(description="Give it as `code`.")
    title: str = Field(description="For people.")
    tasks: list[str] = Field(description="What it can do.")
    engines: list[str] = Field(default_factory=list, description="Force engines it can use.")
    executable: str | None = Field(default=None, description="Where its program was found.")
    usable: bool = Field(description="Whether a job can run now.")
    problem: str | None = Field(default=None, description="Why not.")
    parameters: dict[str, Any] = Field(description="JSON schema of `inputs`.")


class CodesMeta(Model):
    total: int = Field(description="Number of codes.")
