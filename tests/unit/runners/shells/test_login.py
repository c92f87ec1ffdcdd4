"""Logging in with a person to answer, against a server in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest

from crystalmath.errors import AuthRefused, Cancelled, NotImplementedYet, PassphraseNeeded
from crystalmath.runners.shells.answers import Answers, can_be_repeated
from crystalmath.runners.shells.hosts import ClusterHost
from crystalmath.runners.shells.ssh import SshShells
from crystalmath.services.ports_shell import Question
from support.ssh_server import Doorkeeper, ssh_server

PASSWORD = "planted-password-3f1c"
PROMPT = "(ada@cluster) Password: "


@contextmanager
def reached(root: Path, keeper: Doorkeeper) -> Iterator[tuple[SshShells, ClusterHost]]:
    with ssh_server(root, keeper) as (host, config):
        shells = SshShells(
            known_hosts=root / "own", ssh_config=config, environment=dict, logins_per_hour=100
        )
        try:
            yield shells, host
        finally:
            shells.close()


def says(*rounds: Sequence[str]) -> Callable[[Sequence[Question]], Sequence[str]]:
    """A person who gives these answers, round by round, and then no more."""
    left = list(rounds)

    def ask(_questions: Sequence[Question]) -> Sequence[str]:
        if not left:
            raise Cancelled("given up")
        return left.pop(0)

    return ask


def connect_again(shells: SshShells, host: ClusterHost) -> str | None:
    """Connect without anybody to ask, as the pump does."""
    pool = shells._of(host).pool
    pool.close()
    shells.reset(host)
    connection = pool.current(pool._clock.monotonic() + 20.0, None, by_user=False)
    return connection.opened.logged_in[-1].method


def test_a_password_lets_in_and_is_good_for_the_next_connection(tmp_path: Path) -> None:
    keeper = Doorkeeper(password=PASSWORD)
    with reached(tmp_path, keeper) as (shells, host):
        with pytest.raises(AuthRefused, match="allows password") as caught:
            connect_again(shells, host)
        assert "clusters.login" in str(caught.value.hint)
        assert shells.login(host, says([PASSWORD])).method == "password"
        assert connect_again(shells, host) == "password"
        assert PASSWORD not in repr(shells._of(host))
        assert keeper.tried == [("password", PASSWORD)] * 2


def test_a_connection_that_stands_asks_nothing(tmp_path: Path) -> None:
    with reached(tmp_path, Doorkeeper(password=PASSWORD)) as (shells, host):
        shells.login(host, says([PASSWORD]))
        assert shells.login(host, says()).method == "password"


def test_a_wrong_password_is_tried_once(tmp_path: Path) -> None:
    keeper = Doorkeeper(password=PASSWORD)
    with reached(tmp_path, keeper) as (shells, host):
        with pytest.raises(AuthRefused, match=r"tried: password, it allows password") as caught:
            shells.login(host, says(["wrong"]))
        assert "wrong" not in caught.value.message
        assert keeper.tried == [("password", "wrong")]
        assert shells.health(host).state == "needs_user"
        with pytest.raises(AuthRefused):
            shells.shell(host).run(":", deadline_s=20.0)
        assert len(keeper.tried) == 1


def test_a_password_that_was_changed_meanwhile_is_not_tried_twice(tmp_path: Path) -> None:
    keeper = Doorkeeper(password=PASSWORD)
    with reached(tmp_path, keeper) as (shells, host):
        shells.login(host, says([PASSWORD]))
        keeper.password = "another"
        with pytest.raises(AuthRefused, match="good no longer") as caught:
            connect_again(shells, host)
        assert "clusters.login" in str(caught.value.hint)
        keeper.tried.clear()
        with pytest.raises(AuthRefused):
            connect_again(shells, host)
        assert keeper.tried == []


def test_a_host_that_asks_for_the_password_itself(tmp_path: Path) -> None:
    keeper = Doorkeeper(rounds=[([(PROMPT, False)], [PASSWORD])])
    with reached(tmp_path, keeper) as (shells, host):
        seen: list[Question] = []

        def ask(questions: Sequence[Question]) -> Sequence[str]:
            seen.extend(questions)
            return [PASSWORD]

        assert shells.login(host, ask).method == "keyboard-interactive"
        assert [(one.text, one.secret) for one in seen] == [(PROMPT.strip(), True)]
        assert connect_again(shells, host) == "keyboard-interactive"


def test_a_second_factor_is_never_given_again(tmp_path: Path) -> None:
    rounds = [([(PROMPT, False)], [PASSWORD]), ([("Code: ", True)], ["123456"])]
    keeper = Doorkeeper(rounds=rounds)
    with reached(tmp_path, keeper) as (shells, host):
        assert shells.login(host, says([PASSWORD], ["123456"])).method == "keyboard-interactive"
        keeper.tried.clear()
        report = shells.test_connection(host)
        assert report.reachable, "the connection that stands was tried"
        assert "login again" in report.problems[0].message
        with pytest.raises(AuthRefused, match="allows keyboard-interactive"):
            connect_again(shells, host)
        assert keeper.tried == []


def test_giving_up_sends_no_answer_and_counts_as_no_failure(tmp_path: Path) -> None:
    keeper = Doorkeeper(rounds=[([(PROMPT, False)], [PASSWORD])])
    with reached(tmp_path, keeper) as (shells, host):
        with pytest.raises(Cancelled):
            shells.login(host, says())
        assert keeper.tried == []
        assert shells.health(host).failures == 0


def test_an_encrypted_key_opens_with_its_passphrase(tmp_path: Path) -> None:
    key = paramiko.ECDSAKey.generate()
    place = tmp_path / "id_ecdsa"
    key.write_private_key_file(str(place), password=PASSWORD)
    with reached(tmp_path, Doorkeeper(key=key)) as (shells, plain):
        host = replace(plain, key_file=place)
        with pytest.raises(PassphraseNeeded, match="needs its passphrase"):
            connect_again(shells, host)
        with pytest.raises(PassphraseNeeded, match="not opened by this passphrase"):
            shells.login(host, says(["wrong"]))
        assert shells.login(host, says([PASSWORD])).method == "publickey"
        assert connect_again(shells, host) == "publickey"
        with pytest.raises(PassphraseNeeded):
            connect_again(shells, replace(host, setup_commands=("true",)))  # another record


def test_nobody_logs_in_through_a_shell_that_is_not_built(tmp_path: Path) -> None:
    shells = SshShells(known_hosts=tmp_path / "own")
    with pytest.raises(NotImplementedYet):
        shells.login(ClusterHost("c", "h", shell="openssh"), says())


@pytest.mark.parametrize(
    ("rounds", "repeated"),
    [
        ([["Password: "]], True),
        ([["Enter LDAP password for ada:"]], True),
        ([["One-time password: "]], False),
        ([["Password: ", "Code: "]], False),
        ([["Password: "], ["Duo passcode: "]], False),
        ([["Verification code: "]], False),
        ([], False),
    ],
)
def test_only_a_password_is_good_twice(rounds: list[list[str]], repeated: bool) -> None:
    asked = [[Question("h", text) for text in one] for one in rounds]
    assert can_be_repeated(asked) is repeated


def test_what_is_kept_does_not_show() -> None:
    answers = Answers()
    answers.keep_password("ada@h:22", "Password:", PASSWORD)
    assert answers.password("ada@h:22", "Password:") == PASSWORD
    assert answers.password("ada@h:22", "Code:") is None
    assert PASSWORD not in repr(answers)
