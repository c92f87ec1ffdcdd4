"""Where programs connect: names, files, ports."""

from __future__ import annotations

import os
import secrets
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from crystalmath.errors import Conflict, InputRejected
from crystalmath.forces.ipi.address import Door, socket_path
from crystalmath.forces.ipi.serve import Address, parse_address


@pytest.fixture
def name() -> Iterator[str]:
    """A name that nobody uses; what is left under it is removed."""
    made = f"cmtest{secrets.token_hex(6)}"
    yield made
    Path(socket_path(made)).unlink(missing_ok=True)


def test_the_file_is_never_open_to_others(name: str) -> None:
    mask = os.umask(0)
    try:
        door = Door(name=name)
    finally:
        os.umask(mask)
    there = Path(door.path).stat()
    assert stat.S_ISSOCK(there.st_mode)
    assert there.st_mode & 0o777 == 0o600
    door.close()
    assert not Path(door.path).exists()
    door.close()


def test_random_names_differ() -> None:
    doors = [Door() for _ in range(3)]
    assert len({door.path for door in doors}) == 3
    for door in doors:
        door.close()


def test_the_file_is_gone_when_the_program_is_in(name: str) -> None:
    door = Door(name=name)
    assert door.accept() is None
    with socket.socket(socket.AF_UNIX) as program:
        program.connect(door.path)
        connection = door.accept()
        assert connection is not None
        assert connection.getblocking()
        connection.close()
    assert not Path(door.path).exists()


def test_a_stale_file_is_replaced(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(socket_path(name))
    door = Door(name=name)
    with socket.socket(socket.AF_UNIX) as program:
        program.connect(door.path)
    door.close()


def test_the_file_of_a_living_server_is_left_alone(name: str) -> None:
    first = Door(name=name)
    with pytest.raises(Conflict, match="another program listens") as caught:
        Door(name=name)
    assert caught.value.field == "name"
    assert Path(first.path).exists()
    first.close()


def test_what_is_no_socket_is_left_alone(name: str) -> None:
    path = Path(socket_path(name))
    path.write_text("mine")
    with pytest.raises(Conflict, match="is no socket"):
        Door(name=name)
    assert path.read_text() == "mine"


def test_another_file_under_the_name_is_not_removed(name: str) -> None:
    door = Door(name=name)
    path = Path(door.path)
    path.unlink()
    path.write_text("somebody else's")
    door.close()
    assert path.exists()


def test_the_longest_name() -> None:
    assert len(socket_path("a" * 98)) == 107
    with pytest.raises(InputRejected, match="99 characters; 98 are possible") as caught:
        Door(name="a" * 99)
    assert caught.value.field == "name"


@pytest.mark.parametrize("wrong", ["", "a/b", "../x", "a b", "ü", "-x", "a\0b", "a\n"])
def test_names_that_are_refused(wrong: str) -> None:
    with pytest.raises(InputRejected, match="cannot be the name"):
        socket_path(wrong)


def test_tcp_listens_on_the_loopback_only() -> None:
    door = Door("inet")
    assert door.listener.getsockname() == ("127.0.0.1", door.port)
    assert door.port > 0
    with pytest.raises(Conflict, match=f"port {door.port} is in use"):
        Door("inet", port=door.port)
    with socket.create_connection((door.host, door.port)):
        connection = door.accept()
    assert connection is not None
    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    connection.close()


def test_placeholders() -> None:
    door = Door("inet")
    assert door.fill_in("{host}:{port} {other}") == f"127.0.0.1:{door.port} {{other}}"
    door.close()
    named = Door(name="cmtestplace")
    assert named.fill_in("{name} {path}") == f"cmtestplace {named.path}"
    named.close()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("si:UNIX", Address(path="/tmp/ipi_si")),
        ("si:unix", Address(path="/tmp/ipi_si")),
        ("unix:si", Address(path="/tmp/ipi_si")),
        ("unix:/run/other/socket", Address(path="/run/other/socket")),
        ("/run/other/socket", Address(path="/run/other/socket")),
        ("localhost:31415", Address(host="localhost", port=31415)),
        ("[::1]:31415", Address(host="::1", port=31415)),
    ],
)
def test_addresses_of_servers(text: str, address: Address) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "si", ":", "host:", ":31415", "host:0", "host:70000", "h:1x"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InputRejected, match="no address of an i-PI server") as caught:
        parse_address(text)
    assert caught.value.field == "address"
