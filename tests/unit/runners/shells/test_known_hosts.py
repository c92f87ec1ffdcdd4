"""known_hosts as OpenSSH reads it. Names and keys are made up for it."""

import base64
import hashlib
import hmac
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.runners.shells.known_hosts import (
    fingerprint,
    judge,
    known_name,
    known_types,
    matches,
    parse_known_hosts,
)


def blob(key_type: str, seed: int) -> bytes:
    name = key_type.encode()
    return len(name).to_bytes(4, "big") + name + bytes([seed]) * 36


ED = blob("ssh-ed25519", 1)
ED2 = blob("ssh-ed25519", 2)
RSA = blob("ssh-rsa", 3)


def line(names: str, key: bytes, marker: str = "") -> str:
    key_type = key[4 : 4 + int.from_bytes(key[:4], "big")].decode()
    return f"{marker} {names} {key_type} {base64.b64encode(key).decode()}".strip() + "\n"


def hashed(name: str) -> str:
    salt = b"0123456789abcdefghij"
    made = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(made).decode()}"


def outcome(text: str, key: bytes, name: str = "login.ex.org", port: int = 22) -> str:
    entries, _ = parse_known_hosts(text, "known_hosts")
    key_type = key[4 : 4 + int.from_bytes(key[:4], "big")].decode()
    return judge(entries, name, port, key_type, key).outcome


@pytest.mark.parametrize(
    ("names", "name", "port", "covered"),
    [
        ("login.ex.org", "login.ex.org", 22, True),
        ("login.ex.org", "LOGIN.ex.org", 22, True),
        ("login.ex.org", "login.ex.org", 2222, False),
        ("[login.ex.org]:2222", "login.ex.org", 2222, True),
        ("[login.ex.org]:2222", "login.ex.org", 22, False),
        ("*.ex.org", "login.ex.org", 22, True),
        ("*.ex.org", "ex.org", 22, False),
        ("*.ex.org,!login.ex.org", "login.ex.org", 22, False),
        ("!login.ex.org,*.ex.org", "login.ex.org", 22, False),
        ("login?.ex.org", "login1.ex.org", 22, True),
        ("login?.ex.org", "login.ex.org", 22, False),
        ("a,b,login.ex.org", "login.ex.org", 22, True),
        ("login.ex.or", "login.ex.org", 22, False),
        ("loginXex.org", "login.ex.org", 22, False),
        (hashed("login.ex.org"), "login.ex.org", 22, True),
        (hashed("login.ex.org"), "login.ex.org", 2222, False),
        (hashed("[login.ex.org]:2222"), "login.ex.org", 2222, True),
        ("|1|garbage|garbage", "login.ex.org", 22, False),
    ],
)
def test_names(names: str, name: str, port: int, covered: bool) -> None:
    assert matches(names, known_name(name, port)) is covered


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("", ED, "unknown"),
        (line("login.ex.org", ED), ED, "known"),
        (line("login.ex.org", ED2), ED, "changed"),
        (line("login.ex.org", ED2) + line("login.ex.org", ED), ED, "known"),
        (line("login.ex.org", RSA), ED, "unknown"),
        (line("login.ex.org", ED) + line("*", ED, "@revoked"), ED, "revoked"),
        (line("login.ex.org", ED) + line("*", ED2, "@revoked"), ED, "known"),
        (line("*", ED, "@cert-authority"), ED, "unknown"),
        (line("*", ED2, "@cert-authority") + line("login.ex.org", ED), ED, "known"),
        (line("other.ex.org", ED), ED, "unknown"),
    ],
)
def test_verdicts(text: str, key: bytes, expected: str) -> None:
    assert outcome(text, key) == expected


def test_a_line_without_the_port_is_enough_for_the_same_key_only() -> None:
    assert outcome(line("login.ex.org", ED), ED, port=2222) == "known"
    assert outcome(line("login.ex.org", ED2), ED, port=2222) == "unknown"
    both = line("login.ex.org", ED) + line("[login.ex.org]:2222", ED2)
    assert outcome(both, ED, port=2222) == "changed"
    revoked = line("login.ex.org", ED) + line("login.ex.org", ED, "@revoked")
    assert outcome(revoked, ED, port=2222) == "revoked"


def test_garbage_is_skipped_and_counted() -> None:
    wrong_type = line("login.ex.org", ED).replace("ssh-ed25519", "ssh-rsa")
    text = (
        "# a comment\n\n" + line("login.ex.org", ED) + "login.ex.org ssh-ed25519\n"
        "login.ex.org ssh-ed25519 !!!notbase64\n@unheard-of a ssh-ed25519 AAAA\n" + wrong_type
    )
    entries, garbage = parse_known_hosts(text, "f")
    assert ([entry.line for entry in entries], garbage) == ([3], 4)


def test_a_comment_after_the_key_is_no_harm() -> None:
    entries, garbage = parse_known_hosts(line("a", ED).strip() + " me@home here\n", "f")
    assert (len(entries), garbage) == (1, 0)


@given(st.text(max_size=300))
def test_any_text_gives_an_answer(text: str) -> None:
    entries, _ = parse_known_hosts(text, "f")
    assert judge(entries, "login.ex.org", 22, "ssh-ed25519", ED).outcome == "unknown"


def test_types_on_file_come_first() -> None:
    entries, _ = parse_known_hosts(line("a", RSA) + line("a", ED) + line("b", ED2), "f")
    assert known_types(entries, "a", 22) == ["ssh-rsa", "ssh-ed25519"]


def test_the_fingerprint_is_that_of_ssh_keygen(tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    said = subprocess.run(
        ["ssh-keygen", "-lf", key], capture_output=True, text=True, check=True
    ).stdout
    blob_ = base64.b64decode(key.with_suffix(".pub").read_text().split()[1])
    assert fingerprint(blob_) == said.split()[1]


def test_names_hashed_by_ssh_keygen_match(tmp_path: Path) -> None:
    key, file = tmp_path / "key", tmp_path / "known_hosts"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    file.write_text(f"login.ex.org {public}\n[login.ex.org]:2222 {public}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", file], capture_output=True, check=True)
    entries, garbage = parse_known_hosts(file.read_text(), "f")
    assert garbage == 0
    assert [entry.names[:3] for entry in entries] == ["|1|", "|1|"]
    assert [entry.covers("login.ex.org", 2222) for entry in entries] == [False, True]
