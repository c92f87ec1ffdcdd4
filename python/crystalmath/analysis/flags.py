"""Doubts about a result: what a reader must know before using the number. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Flag:
    """One doubt.

    Attributes
    ----------
    code
        A short name that does not change, e.g. ``outlier``.
    message
        One sentence for the user.
    """

    code: str
    message: str
