"""Reading on in growing files, through a real shell."""

from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from crystalmath.runners.shells.local import LocalShell
from crystalmath.runners.shells.tails import read_tails
from crystalmath.services.ports_shell import Tail, TailFrom

_S = 20.0


@pytest.fixture
def tail() -> Callable[..., Tail]:
    def read(path: Path, offset: int, identity: str | None = None, n: int = 1000) -> Tail:
        want = TailFrom(PurePosixPath(path), offset, n, identity)
        return LocalShell().tail([want], deadline_s=_S)[0]

    return read


def test_what_is_new_and_nothing_else(tmp_path: Path, tail: Callable[..., Tail]) -> None:
    log = tmp_path / "a 'log'"
    log.write_bytes(b"one\ntwo\n")
    first = tail(log, 0)
    assert (first.data, first.offset, first.size) == (b"one\ntwo\n", 0, 8)
    with log.open("ab") as file:
        file.write(b"\x00\xff three")
    again = tail(log, 8, first.identity)
    assert (again.data, again.offset, again.size) == (b"\x00\xff three", 8, 16)
    assert again.identity == first.identity


def test_no_more_than_asked_for(tmp_path: Path, tail: Callable[..., Tail]) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"0123456789")
    assert tail(log, 2, n=3).data == b"234"
    assert tail(log, -4).data == b"6789"
    assert tail(log, -40).data == b"0123456789"
    past = tail(log, 50)
    assert (past.data, past.offset) == (b"", 10)


def test_a_shrunk_file_is_read_from_its_start(tmp_path: Path, tail: Callable[..., Tail]) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"0123456789")
    identity = tail(log, 0).identity
    log.write_bytes(b"new")
    found = tail(log, 10, identity)
    assert (found.data, found.offset) == (b"new", 0)


def test_a_replaced_file_is_read_from_its_start(tmp_path: Path, tail: Callable[..., Tail]) -> None:
    log, other = tmp_path / "log", tmp_path / "other"
    log.write_bytes(b"0123456789")
    identity = tail(log, 0).identity
    other.write_bytes(b"longer than before")
    other.replace(log)
    found = tail(log, 10, identity)
    assert (found.data, found.offset) == (b"longer than before", 0)
    assert found.identity != identity


def test_many_files_at_once_one_absent_one_a_directory(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "empty").touch()
    wants = [TailFrom(PurePosixPath(tmp_path / name), 0) for name in ("a", "none", "empty", "")]
    found = LocalShell().tail(wants, deadline_s=_S)
    assert [(one.data, one.size) for one in found] == [
        (b"a", 1),
        (b"", None),
        (b"", 0),
        (b"", None),
    ]
    assert LocalShell().tail([], deadline_s=_S) == []


@pytest.mark.parametrize("cut", [0, 5, 20, 30])
def test_half_an_answer_is_none(cut: int) -> None:
    whole = b"T file 1:2 3 0\nabcT end\n"
    wants = [TailFrom(PurePosixPath("/x"), 0)]
    assert read_tails(whole, wants, "T") is not None
    assert read_tails(whole[: len(whole) - 1 - cut % 20], wants, "T") is None


def test_of_many_files_those_that_have_grown_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*(f"log {n}" for n in range(10)), "a\nb", "ü", "--", "gone"]
    for name in names[:-1]:
        (tmp_path / name).write_bytes(b"0123456789")
    shell = LocalShell()
    asked: list[str] = []
    run = shell._run

    def noting(script: str, *more: object, **named: object) -> object:
        asked.append(script)
        return run(script, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(shell, "_run", noting)

    def read(known: dict[str, Tail]) -> dict[str, Tail]:
        wants = [
            TailFrom(PurePosixPath(tmp_path / name), (known[name].size or 0) if known else 0, 1000,
                     known[name].identity if known else None)
            for name in names
        ]  # fmt: skip
        return dict(zip(names, shell.tail(wants, deadline_s=_S), strict=True))

    first = read({})
    assert {tail.data for name, tail in first.items() if name != "gone"} == {b"0123456789"}
    assert first["gone"].size is None

    with (tmp_path / "log 3").open("ab") as file:
        file.write(b" more")
    (tmp_path / "log 4").write_bytes(b"new")
    (tmp_path / "other").write_bytes(b"abcdefghij")  # as long as before
    (tmp_path / "other").replace(tmp_path / "log 5")
    asked.clear()
    again = read(first)
    news = {name: (tail.offset, tail.data) for name, tail in again.items() if tail.data}
    assert news == {"log 3": (10, b" more"), "log 4": (0, b"new"), "log 5": (0, b"abcdefghij")}
    assert [again[name].size for name in ("log 3", "log 4", "log 5", "ü")] == [15, 3, 10, 10]
    assert again["gone"].size is None
    assert "log 1'" in asked[0]
    assert "log 1'" not in asked[1]
