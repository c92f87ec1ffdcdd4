"""What a person has answered while logging in: in memory only, for the connections to come.

Nothing here is ever written, logged or shown. Used by ``authentication``; one object per cluster,
which goes with the cluster's record.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from crystalmath.services.ports_shell import Question

_ONCE: Final = ("one-time", "one time", "otp", "token", "code", "verification", "duo")
"""Words of questions whose answer is used up by being given."""


class Answers:
    """Passphrases of key files, and passwords of accounts."""

    def __init__(self) -> None:
        self._passphrases: dict[Path, str] = {}
        self._passwords: dict[str, tuple[str, str]] = {}

    def passphrase(self, path: Path) -> str | None:
        """The passphrase of a key, if it was given."""
        return self._passphrases.get(path)

    def keep_passphrase(self, path: Path, passphrase: str) -> None:
        """Keep one that has opened its key."""
        self._passphrases[path] = passphrase

    def password(self, account: str, question: str | None = None) -> str | None:
        """The password that has let an account in, if it was asked for in these words.

        Parameters
        ----------
        account
            ``user@host:port``.
        question
            The host's own words; None: those of the method ``password``, or any.
        """
        kept = self._passwords.get(account)
        if kept is None or question not in (None, kept[0]):
            return None
        return kept[1]

    def keep_password(self, account: str, question: str, password: str) -> None:
        """Keep one that has let an account in."""
        self._passwords[account] = (question, password)

    def forget_password(self, account: str) -> None:
        """It was refused: it must not be tried again."""
        self._passwords.pop(account, None)

    def __repr__(self) -> str:
        kept = len(self._passphrases) + len(self._passwords)
        return f"<Answers: {kept}>"


def can_be_repeated(rounds: Sequence[Sequence[Question]]) -> bool:
    """Whether the answer to these questions is good again: one password, and nothing else.

    A code is used up when it was given; sent again it would be a failed log-in.
    """
    if len(rounds) != 1 or len(rounds[0]) != 1 or not rounds[0][0].secret:
        return False
    text = rounds[0][0].text.lower()
    return "password" in text and not any(word in text for word in _ONCE)
