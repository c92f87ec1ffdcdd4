"""Files to a host and back, with real shell commands on this machine."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pytest

from crystalmath.errors import InputRejected, TransferFailed
from crystalmath.runners.shells.local import LocalShell
from crystalmath.runners.shells.transfer.carriers import (
    CarrierBroken,
    CarrierFailed,
    CarrierLost,
    Fetching,
    Progress,
    Sending,
)
from crystalmath.runners.shells.transfer.direct import Direct
from crystalmath.runners.shells.transfer.stream import FetchSink
from crystalmath.runners.shells.transfer.ways import Ways
from crystalmath.services.ports_shell import Get, Put

_S = 30.0


class Faulty(Direct):
    """Moves bytes, but lets one fault happen."""

    def __init__(self, fault: Exception | None = None, *, after_bytes: int = 0, flip: bool = False):
        self.fault = fault
        self.after_bytes = after_bytes
        self.flip = flip
        self.sent: list[tuple[str, int]] = []

    def send(self, directory: str, sendings: Sequence[Sending], progress: Progress) -> None:
        self.sent += [(sending.part, sending.offset) for sending in sendings]
        fault, self.fault = self.fault, None
        flip, self.flip = self.flip, False
        if fault is None:
            super().send(directory, sendings, progress)
        else:
            part = Path(directory) / sendings[0].part
            part.write_bytes(next(sendings[0].source.chunks(0))[: self.after_bytes])
            raise fault
        if flip:
            part = Path(directory) / sendings[0].part
            data = bytearray(part.read_bytes())
            data[0] ^= 1
            part.write_bytes(data)

    def fetch(self, fetchings: Sequence[Fetching], progress: Progress) -> None:
        self.sent += [(fetching.part.name, fetching.offset) for fetching in fetchings]
        fault, self.fault = self.fault, None
        if fault is None:
            super().fetch(fetchings, progress)
        else:
            fetchings[0].part.write_bytes(
                Path(fetchings[0].remote).read_bytes()[: self.after_bytes]
            )
            raise fault


def shell(faulty: Faulty | None = None, appear_s: float = 0) -> LocalShell:
    made = LocalShell(appear_s=appear_s)
    if faulty is not None:
        made._ways = Ways({"faulty": faulty}, faulty)
    return made


def bring(made: LocalShell, into: Path, *puts: Put) -> None:
    made.put(puts, PurePosixPath(into), deadline_s=_S)


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_there_and_back(tmp_path: Path) -> None:
    there, back = tmp_path / "a b" / "there", tmp_path / "back"
    local = tmp_path / "local"
    local.write_bytes(os.urandom(700_000))
    moved: list[int] = []
    puts = [
        Put(PurePosixPath("job.sh"), b"#!/bin/sh\n", mode=0o700),
        Put(PurePosixPath("sub/dir/Δ 'x'\n"), b"\x00\xff"),
        Put(PurePosixPath("empty"), b""),
        Put(PurePosixPath("-n"), source=local),
    ]
    shell().put(puts, PurePosixPath(there), deadline_s=_S, on_bytes=moved.append)
    assert files(there) == sorted(["job.sh", "sub/dir/Δ 'x'\n", "empty", "-n"])
    assert (there / "job.sh").stat().st_mode & 0o777 == 0o700
    assert (there / "empty").stat().st_mode & 0o777 == 0o600
    assert sum(moved) == 700_000 + 10 + 2
    gets = [Get(PurePosixPath(there / str(put.path)), f"new/{n}") for n, put in enumerate(puts)]
    gots = shell().get(gets, back, deadline_s=_S)
    assert [got.outcome for got in gots] == ["fetched"] * 4
    assert gots[3].sha256 == hashlib.sha256(local.read_bytes()).hexdigest()
    assert (back / "new" / "3").read_bytes() == local.read_bytes()
    assert files(back) == [f"new/{n}" for n in range(4)]


def test_a_cut_upload_is_resumed(tmp_path: Path) -> None:
    faulty = Faulty(CarrierLost("cut"), after_bytes=40_000)
    data, into = os.urandom(100_000), tmp_path / "into"
    with pytest.raises(TransferFailed, match="what arrived is kept") as caught:
        bring(shell(faulty), into, Put(PurePosixPath("x"), data))
    assert caught.value.retryable
    assert files(into) == ["x.part"]
    bring(shell(faulty), into, Put(PurePosixPath("x"), data))
    assert faulty.sent == [("x.part", 0), ("x.part", 40_000)]
    assert (into / "x").read_bytes() == data
    assert files(into) == ["x"]


def test_a_part_of_something_else_is_sent_anew(tmp_path: Path) -> None:
    faulty, data = Faulty(), os.urandom(1000)
    (tmp_path / "x.part").write_bytes(b"\0" * 300)
    bring(shell(faulty), tmp_path, Put(PurePosixPath("x"), data))
    assert faulty.sent == [("x.part", 300), ("x.part", 0)]
    assert (tmp_path / "x").read_bytes() == data


def test_a_damaged_upload_is_sent_again_once(tmp_path: Path) -> None:
    faulty = Faulty(flip=True)
    bring(shell(faulty), tmp_path, Put(PurePosixPath("x"), b"abc"))
    assert (tmp_path / "x").read_bytes() == b"abc"
    assert len(faulty.sent) == 2


def test_what_is_there_already_is_not_sent_again(tmp_path: Path) -> None:
    faulty = Faulty()
    bring(shell(faulty), tmp_path, Put(PurePosixPath("x"), b"abc"))
    bring(shell(faulty), tmp_path, Put(PurePosixPath("x"), b"abc"), Put(PurePosixPath("y"), b"d"))
    assert faulty.sent == [("x.part", 0), ("y.part", 0)]
    bring(shell(faulty), tmp_path, Put(PurePosixPath("x"), b"xyz"))
    assert (tmp_path / "x").read_bytes() == b"xyz"


def test_a_directory_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(TransferFailed, match="x cannot be given its name"):
        bring(shell(), tmp_path, Put(PurePosixPath("x"), b"abc"))


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(TransferFailed, match=r"f/d cannot be prepared .*Not a directory"):
        bring(shell(), tmp_path / "f" / "d", Put(PurePosixPath("x"), b"abc"))


def test_a_refusal_of_the_host_is_told(tmp_path: Path) -> None:
    faulty = Faulty(CarrierFailed("Permission denied"))
    with pytest.raises(TransferFailed, match="Permission denied") as caught:
        bring(shell(faulty), tmp_path, Put(PurePosixPath("x"), b"abc"))
    assert type(caught.value) is TransferFailed


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", ".", "a\0b"])
def test_names_that_lead_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputRejected, match="leads out"):
        bring(shell(), tmp_path, Put(PurePosixPath(name), b""))
    if "\0" not in name and name != ".":
        with pytest.raises(InputRejected, match="leads out"):
            shell().get([Get(PurePosixPath("/etc/hosts"), name)], tmp_path, deadline_s=_S)


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputRejected, match="cannot be read"):
        bring(shell(), tmp_path, Put(PurePosixPath("x"), source=tmp_path / "none"))


def test_a_source_that_changes_while_it_is_sent(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"abc")

    def change(_n: int) -> None:
        source.write_bytes(b"abcd")

    into = tmp_path / "into"
    with pytest.raises(TransferFailed, match="was changed while it was sent"):
        shell().put(
            [Put(PurePosixPath("x"), source=source)], PurePosixPath(into),
            deadline_s=_S, on_bytes=change,
        )  # fmt: skip
    assert files(into) == []


def test_broken_ways_are_remembered_and_the_next_is_taken(tmp_path: Path) -> None:
    broken, good = Faulty(CarrierBroken("garbled")), Faulty()
    made = shell()
    made._ways = Ways({"sftp": broken, "stream": good}, good)
    bring(made, tmp_path, Put(PurePosixPath("x"), b"abc"))
    bring(made, tmp_path, Put(PurePosixPath("y"), b"abc"))
    assert made._ways.broken == {"sftp": "garbled"}
    assert (len(broken.sent), len(good.sent)) == (1, 2)


def test_missing_too_large_and_there(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 100)
    (tmp_path / "dir").mkdir()
    gets = [
        Get(PurePosixPath(tmp_path / "none"), "none", required=True),
        Get(PurePosixPath(tmp_path / "big"), "big", max_bytes=99),
        Get(PurePosixPath(tmp_path / "big"), "big2", max_bytes=100),
        Get(PurePosixPath(tmp_path / "dir"), "dir"),
    ]
    gots = shell().get(gets, tmp_path / "back", deadline_s=_S)
    assert [got.outcome for got in gots] == ["missing", "too_large", "fetched", "missing"]
    assert gots[1].size_bytes == 100
    assert files(tmp_path / "back") == ["big2"]


def test_a_required_file_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    late = tmp_path / "late"
    made = shell(appear_s=20)
    looked: list[str] = []
    run = made._run

    def seen(script: str, *rest: object) -> object:
        looked.append(script)
        return run(f"(sleep 1.5; echo abc >'{late}') & {script}", *rest)  # type: ignore[arg-type]

    made._run = seen  # type: ignore[method-assign,assignment]
    gots = made.get([Get(PurePosixPath(late), "late", required=True)], tmp_path, deadline_s=_S)
    assert gots[0].outcome == "fetched"


def test_a_cut_download_is_resumed(tmp_path: Path) -> None:
    remote, back = tmp_path / "remote", tmp_path / "back"
    remote.write_bytes(os.urandom(100_000))
    faulty = Faulty(CarrierLost("cut"), after_bytes=40_000)
    get = Get(PurePosixPath(remote), "x")
    with pytest.raises(TransferFailed, match="what arrived is kept"):
        shell(faulty).get([get], back, deadline_s=_S)
    assert files(back) == ["x.part", "x.part.of"]
    gots = shell(faulty).get([get], back, deadline_s=_S)
    assert faulty.sent == [("x.part", 0), ("x.part", 40_000)]
    assert gots[0].sha256 == hashlib.sha256(remote.read_bytes()).hexdigest()
    assert files(back) == ["x"]


def test_a_part_of_a_file_that_was_changed_is_not_resumed(tmp_path: Path) -> None:
    remote, back = tmp_path / "remote", tmp_path / "back"
    remote.write_bytes(b"1" * 1000)
    faulty = Faulty(CarrierLost("cut"), after_bytes=400)
    get = Get(PurePosixPath(remote), "x")
    with pytest.raises(TransferFailed):
        shell(faulty).get([get], back, deadline_s=_S)
    remote.write_bytes(b"2" * 1001)
    shell(faulty).get([get], back, deadline_s=_S)
    assert faulty.sent[1] == ("x.part", 0)
    assert (back / "x").read_bytes() == b"2" * 1001


def test_a_damaged_part_is_found_by_its_checksum(tmp_path: Path) -> None:
    remote, back = tmp_path / "remote", tmp_path / "back"
    remote.write_bytes(b"1" * 1000)
    faulty = Faulty(CarrierLost("cut"), after_bytes=400)
    get = Get(PurePosixPath(remote), "x")
    with pytest.raises(TransferFailed):
        shell(faulty).get([get], back, deadline_s=_S)
    (back / "x.part").write_bytes(b"3" * 400)
    with pytest.raises(TransferFailed, match="checksum differs"):
        shell(faulty).get([get], back, deadline_s=_S)
    assert files(back) == []
    shell(faulty).get([get], back, deadline_s=_S)
    assert (back / "x").read_bytes() == b"1" * 1000


def test_a_file_that_grows_meanwhile_is_not_taken(tmp_path: Path) -> None:
    remote, back = tmp_path / "remote", tmp_path / "back"
    remote.write_bytes(b"1" * 1000)

    def grow(_n: int) -> None:
        with remote.open("ab") as file:
            file.write(b"2")

    with pytest.raises(TransferFailed, match="changed while it was fetched"):
        shell().get([Get(PurePosixPath(remote), "x")], back, deadline_s=_S, on_bytes=grow)
    assert files(back) == []


class TestFetchSink:
    """The stream of several files, cut anywhere."""

    @pytest.mark.parametrize("step", [1, 3, 7, 1000])
    def test_cut_anywhere(self, tmp_path: Path, step: int) -> None:
        sizes = [5, 0, 9]
        fetchings = [Fetching("r", 0, n, tmp_path / str(i)) for i, n in enumerate(sizes)]
        sink = FetchSink("TOK", fetchings, Progress(1e12, lambda _n: None))
        data = b"banner TOK beg\nTOK begin\nhello" + b"ninebytes" + b"TOK end 0\n"
        for at in range(0, len(data), step):
            sink.feed(data[at : at + step])
        sink.close()
        assert sink.complete
        assert [p.read_bytes() for p in sorted(tmp_path.iterdir())] == [b"hello", b"", b"ninebytes"]

    @pytest.mark.parametrize("body", [b"hell", b"hello!", b""])
    def test_more_or_less_than_asked_is_not_complete(self, tmp_path: Path, body: bytes) -> None:
        fetchings = [Fetching("r", 0, 5, tmp_path / "x")]
        sink = FetchSink("TOK", fetchings, Progress(1e12, lambda _n: None))
        sink.feed(b"TOK begin\n" + body + b"TOK end 0\n")
        sink.close()
        assert not sink.complete
