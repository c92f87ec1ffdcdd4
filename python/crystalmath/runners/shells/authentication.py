"""Logging in: configured keys first, at most five offers, then what a person may answer.

A refusal is final: it names what was tried and what the server allows, and nothing is tried again
without the user, because sites ban those who do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from crystalmath.errors import AuthRefused, Cancelled, PassphraseNeeded, Unreachable
from crystalmath.runners.shells.answers import Answers, can_be_repeated
from crystalmath.runners.shells.hosts import Hop
from crystalmath.runners.shells.keys import Agent, KeyFile, load_key, public_blob
from crystalmath.runners.shells.known_hosts import fingerprint
from crystalmath.services.ports_shell import Ask, Question

if TYPE_CHECKING:
    from paramiko import PKey, Transport

AUTH_S: Final = 30.0
ANSWER_S: Final = 120.0
"""So long a person may take for an answer; a server's LoginGraceTime is often as long."""
_MAX_OFFERS: Final = 5  # the server's MaxAuthTries is often 6
_ASKED: Final = ("keyboard-interactive", "password")


@dataclass(slots=True)
class LoggedIn:
    """How it went at one hop.

    Attributes
    ----------
    method
        ``publickey``, ``password``, ``keyboard-interactive`` or ``none``.
    offered
        What was offered, in words: files, fingerprints of agent keys.
    allowed
        The methods that the server names.
    """

    host: str
    method: str | None = None
    offered: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    unopened: list[KeyFile] = field(default_factory=list)


class Login:
    """Logs in at one hop.

    Parameters
    ----------
    environment
        Where the agent's socket is looked for.
    answers
        What a person has answered before.
    ask
        Asks a person; None while nobody is there to answer.
    """

    def __init__(
        self,
        transport: Transport,
        hop: Hop,
        *,
        environment: Mapping[str, str],
        answers: Answers,
        ask: Ask | None,
    ) -> None:
        self._transport = transport
        self._hop = hop
        self._environment = environment
        self._answers = answers
        self._ask = ask
        self._account = f"{hop.user}@{hop.host}:{hop.port}"
        self._rounds: list[list[Question]] = []
        self._said = ""
        self._given_up: Cancelled | None = None
        self._stale = False
        self._more: list[str] = []
        self._asked_at = time.monotonic()
        self.so_far = LoggedIn(hop.label)

    def run(self) -> LoggedIn:
        """Log in.

        Raises
        ------
        AuthRefused, PassphraseNeeded
        Unreachable
            The connection was lost meanwhile, or there was no answer.
        """
        if self._open_door() or self._try_keys() or self._try_asking():
            return self.so_far
        raise self._refused()

    def _open_door(self) -> bool:
        """Ask what is allowed; some hosts need nothing at all."""
        import paramiko

        self._asked_at = time.monotonic()
        try:
            self._transport.auth_none(self._hop.user)
        except paramiko.BadAuthenticationType as err:
            self.so_far.allowed = list(err.allowed_types)
            return False
        except paramiko.AuthenticationException as err:
            self._lost(err)
            return False
        except (paramiko.SSHException, EOFError, OSError) as err:
            raise self._gone() from err
        self.so_far.method = "none"
        return True

    def _try_keys(self) -> bool:
        if self.so_far.allowed and "publickey" not in self.so_far.allowed:
            return False
        with closing(Agent(self._hop, self._environment)) as agent:
            for label, key in self._keys(agent):
                if len(self.so_far.offered) >= _MAX_OFFERS:
                    break
                self.so_far.offered.append(label)
                if self._offer(partial(self._transport.auth_publickey, self._hop.user, key)):
                    self.so_far.method = "publickey"
                    return True
                if self._more:
                    break  # the key was right, and something else is wanted too
        return False

    def _keys(self, agent: Agent) -> Iterator[tuple[str, PKey]]:
        """Configured keys in their order, each from the agent if it is there; then the agent's."""
        by_blob = {key.asbytes(): key for key in agent.keys}
        used = set()
        for path in self._hop.identities:
            blob = public_blob(path)
            if blob in by_blob and blob is not None:
                used.add(blob)
                yield f"{path} (agent)", by_blob[blob]
                continue
            loaded = self._load(path)
            if loaded.key is not None:
                if loaded.key.asbytes() not in used:
                    used.add(loaded.key.asbytes())
                    yield str(path), loaded.key
            elif loaded.outcome != "absent":
                self.so_far.unopened.append(loaded)
        if not self._hop.identities_only:
            for blob, key in by_blob.items():
                if blob not in used:
                    yield f"{key.comment or key.get_name()} {fingerprint(blob)} (agent)", key

    def _load(self, path: Path) -> KeyFile:
        loaded = load_key(path, self._answers.passphrase(path))
        if loaded.outcome not in {"encrypted", "wrong_passphrase"} or self._ask is None:
            return loaded
        question = Question(self._hop.label, f"Passphrase of the key {path}")
        (answer,) = self._ask([question])
        if not answer:
            return loaded
        loaded = load_key(path, answer)
        if loaded.key is not None:
            self._answers.keep_passphrase(path, answer)
        return loaded

    def _try_asking(self) -> bool:
        wanted = self._more or self.so_far.allowed
        kept = self._answers.password(self._account)
        if self._ask is None and kept is None:
            return False
        if "keyboard-interactive" in wanted:
            return self._interactive()
        if "password" not in wanted:
            return False
        if self._ask is not None:
            text = f"Password of {self._hop.user} at {self._hop.label}"
            (kept,) = self._ask([Question(self._hop.label, text)])
        return kept is not None and self._password(kept)

    def _password(self, password: str) -> bool:
        self.so_far.offered.append("password")
        if self._offer(
            lambda: self._transport.auth_password(self._hop.user, password, fallback=False)
        ):
            self.so_far.method = "password"
            self._answers.keep_password(self._account, "", password)
            return True
        self._no_longer_good()
        return False

    def _interactive(self) -> bool:
        self.so_far.offered.append("keyboard-interactive")
        let_in = self._offer(lambda: self._transport.auth_interactive(self._hop.user, self._answer))
        if let_in:
            self.so_far.method = "keyboard-interactive"
            if can_be_repeated(self._rounds):
                self._answers.keep_password(self._account, self._rounds[0][0].text, self._said)
        else:
            self._no_longer_good()
        self._said = ""
        return let_in

    def _no_longer_good(self) -> None:
        self._stale = self._ask is None
        self._answers.forget_password(self._account)

    def _answer(self, title: str, text: str, prompts: list[tuple[str, bool]]) -> list[str]:
        """Answer one round of the host's questions; runs in the thread of the transport."""
        if not prompts:
            return []
        about = " ".join(part for part in (title, text) if part)
        questions = [
            Question(self._hop.label, f"{about} {prompt}".strip(), secret=not echo)
            for prompt, echo in prompts
        ]
        self._rounds.append(questions)
        if self._ask is None:
            kept = self._answers.password(self._account, questions[0].text)
            said = [kept or "", *("" for _ in questions[1:])]
        else:
            try:
                said = list(self._ask(questions))
            except Cancelled as error:
                self._given_up = error
                raise EOFError from error  # the connection ends; nothing is sent as an answer
        self._said = said[0]
        return said

    def _offer(self, send: Callable[[], list[str]]) -> bool:
        """Make one offer; False when it was refused, or is not enough."""
        import paramiko

        self._asked_at = time.monotonic()
        try:
            self._more = list(send())
        except paramiko.BadAuthenticationType as err:
            self.so_far.allowed = list(err.allowed_types)
            return False
        except paramiko.AuthenticationException as err:
            self._lost(err)
            return False
        except (paramiko.SSHException, EOFError, OSError) as err:
            if self._transport.is_active() and self._given_up is None:
                return False  # the key cannot sign, e.g. an agent that asks and was told no
            self._lost(err)
            raise self._gone() from err
        return not self._more

    def _lost(self, err: Exception) -> None:
        """Raise if an answer was no refusal: the connection is gone, or nothing came in time."""
        if self._given_up is not None:
            raise self._given_up from err
        waited_s = time.monotonic() - self._asked_at
        if self._transport.is_active() and waited_s < self._transport.auth_timeout:
            return
        if self.so_far.offered and not self._transport.is_active():
            raise self._refused(closed=True) from err
        raise self._gone() from err

    def _gone(self) -> Unreachable:
        return Unreachable(
            f"{self._hop.label} gave no answer to the log-in",
            hint="The host may be overloaded; it is tried again.",
            host=self._hop.label,
            stage="auth",
        )

    def _refused(self, *, closed: bool = False) -> AuthRefused:
        seen, hop = self.so_far, self._hop
        tried = ", ".join(seen.offered) or "nothing"
        facts = {"tried": tried, "allowed": ", ".join(self._more or seen.allowed)}
        asked = self._asked_hint() if self._ask is None else self._answered_hint()
        kept = [one for one in seen.unopened if one.outcome in {"encrypted", "wrong_passphrase"}]
        if kept and "publickey" in (seen.allowed or ["publickey"]) and not self._more:
            wrong = self._ask is not None and kept[0].outcome == "wrong_passphrase"
            return PassphraseNeeded(
                f"the key {kept[0].path} for {hop.label} "
                + ("is not opened by this passphrase" if wrong else "needs its passphrase"),
                hint="Give it with `clusters.login`, or add the key to the SSH agent.",
                host=hop.label,
                stage="auth",
                facts=facts,
            )
        if self._more:
            message = f"{hop.label} wants more than the key of {hop.user}: {facts['allowed']}"
        elif closed:
            message = f"{hop.label} closed the connection after these offers of {hop.user}: {tried}"
        else:
            allows = f", it allows {facts['allowed']}" if facts["allowed"] else ""
            message = f"{hop.label} refused {hop.user} (tried: {tried}{allows})"
        if self._stale:
            message += "; the password that was given before is good no longer"
        hints = [_unopened_hint(seen.unopened), asked]
        hint = " ".join(one for one in hints if one)
        return AuthRefused(
            message,
            hint=hint or "Look at `username` and `key_file`; `ssh-copy-id` brings a key to a host.",
            host=hop.label,
            stage="auth",
            facts=facts,
        )

    def _answered_hint(self) -> str:
        if not any(method in self.so_far.offered for method in _ASKED):
            return ""
        return (
            "Nothing is tried again by itself, because sites lock accounts after some wrong "
            "answers; `clusters.login` asks again."
        )

    def _asked_hint(self) -> str:
        wanted = self._more or self.so_far.allowed
        if any(method in wanted for method in _ASKED):
            return "Log in once with `clusters.login`, which asks what the host wants to know."
        if any(method.startswith("gssapi") for method in wanted):
            return "Kerberos works with `shell: openssh`."
        return ""


def _unopened_hint(unopened: list[KeyFile]) -> str:
    said = []
    for one in unopened:
        if one.outcome == "hardware":
            said.append(f"The key {one.path} is in hardware: use `shell: openssh`.")
        elif one.outcome == "unreadable":
            said.append(f"The key {one.path} cannot be read.")
    return " ".join(said)
