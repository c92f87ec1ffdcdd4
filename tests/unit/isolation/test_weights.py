"""Weights by their hash, consent to licences, and which model is meant."""

import hashlib
import os
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from crystalmath.errors import (
    Cancelled,
    EnvironmentUnbuildable,
    InputRejected,
    LicenceNotAccepted,
    NotFound,
)
from crystalmath.isolation.choice import ModelChoice
from crystalmath.isolation.licences import Licences
from crystalmath.isolation.models import ModelStore
from crystalmath.isolation.places import Places
from crystalmath.services.ports_forces import EngineDeclaration, InstallStep, ModelDeclaration

PACKAGED = ModelDeclaration(id="p", source="package", properties=("energy",))
FILE = ModelDeclaration(id="f", source="file", properties=("energy",))
LICENSED = replace(PACKAGED, id="l", license_id="ASL", license_text="no profit")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "data", tmp_path / "shipped")


@pytest.fixture
def choice(places: Places) -> ModelChoice:
    return ModelChoice(ModelStore(places), Licences(places))


def download(
    tmp_path: Path, content: bytes, sha256: str | None = None, size: int | None = None
) -> ModelDeclaration:
    source = tmp_path / "my weights.model"
    source.write_bytes(content)
    return ModelDeclaration(
        id="m",
        source="download",
        properties=("energy",),
        url=source.as_uri(),
        sha256=sha256 or hashlib.sha256(content).hexdigest(),
        size_bytes=len(content) if size is None else size,
    )


def fetch(places: Places, model: ModelDeclaration, steps: list[InstallStep] | None = None) -> Path:
    told = [] if steps is None else steps
    return ModelStore(places).download(model, told.append, lambda: False)


def files(places: Places) -> list[str]:
    return [p.name for p in places.models.rglob("*") if p.is_file()]


def test_a_download_is_verified_and_kept_under_its_name(tmp_path: Path, places: Places) -> None:
    model = download(tmp_path, b"weights")
    steps: list[InstallStep] = []
    path = fetch(places, model, steps)
    assert path.read_bytes() == b"weights"
    assert path.name == "my weights.model"
    assert (steps[-1].done_bytes, steps[-1].total_bytes, steps[-1].fraction) == (7, 7, 1.0)
    (tmp_path / "my weights.model").unlink()
    assert fetch(places, model) == path
    assert [sha for sha, _ in ModelStore(places).stored()] == [model.sha256]


def test_another_hash_names_both_and_keeps_nothing(tmp_path: Path, places: Places) -> None:
    model = download(tmp_path, b"weights", "0" * 64)
    with pytest.raises(EnvironmentUnbuildable) as caught:
        fetch(places, model)
    assert "0" * 64 in caught.value.message
    assert hashlib.sha256(b"weights").hexdigest() in caught.value.message
    assert ModelStore(places).stored() == []
    assert files(places) == []


@pytest.mark.parametrize(("size", "says"), [(3, "larger than"), (70, "ended after 7 of 70")])
def test_another_size_is_refused(tmp_path: Path, places: Places, size: int, says: str) -> None:
    with pytest.raises(EnvironmentUnbuildable, match=says):
        fetch(places, download(tmp_path, b"weights", size=size))
    assert files(places) == []


def test_more_than_the_disk_has_is_refused_with_sizes(tmp_path: Path, places: Places) -> None:
    with pytest.raises(EnvironmentUnbuildable, match=r"take 1000000000000 MB, \d+ MB are free"):
        fetch(places, download(tmp_path, b"weights", size=10**18))
    assert files(places) == []


def test_no_network_is_said(tmp_path: Path, places: Places) -> None:
    model = download(tmp_path, b"weights")
    (tmp_path / "my weights.model").unlink()
    with pytest.raises(EnvironmentUnbuildable, match="cannot be fetched"):
        fetch(places, model)


def test_a_connection_that_breaks_off_is_no_wrong_hash(tmp_path: Path, places: Places) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nwei")

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/m"
        with pytest.raises(EnvironmentUnbuildable, match="cannot be fetched"):
            fetch(places, replace(download(tmp_path, b"weights"), url=url))
        thread.join()
    assert files(places) == []


def test_a_download_can_be_stopped(tmp_path: Path, places: Places) -> None:
    with pytest.raises(Cancelled):
        ModelStore(places).download(download(tmp_path, b"w"), lambda _s: None, lambda: True)
    assert files(places) == []


def test_parts_of_killed_downloads_are_rubbish_after_a_day(places: Places) -> None:
    part = places.models / "sha256" / ".part-x"
    part.mkdir(parents=True)
    assert ModelStore(places).rubbish() == []
    os.utime(part, (time.time() - 90_000,) * 2)
    assert ModelStore(places).rubbish() == [part]
    assert ModelStore(places).stored() == []


def test_a_users_file_is_hashed_again_when_it_changes(
    tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[Path] = []
    from crystalmath.isolation import models

    real = models.sha256_of_file

    def watched(path: Path) -> str:
        hashed.append(path)
        return real(path)

    monkeypatch.setattr(models, "sha256_of_file", watched)
    path = tmp_path / "my.model"
    path.write_bytes(b"one")
    fresh = ModelStore(places).hash_file(path)
    assert ModelStore(places).hash_file(path) == fresh
    assert len(hashed) == 2, "a file that was written just now may change within the clock's tick"
    os.utime(path, (1e9, 1e9))
    assert {ModelStore(places).hash_file(path) for _ in range(3)} == {fresh}
    assert len(hashed) == 3
    path.write_bytes(b"two")
    os.utime(path, (1e9, 1e9))
    assert ModelStore(places).hash_file(path) == hashlib.sha256(b"two").hexdigest()


@pytest.mark.parametrize("name", ["absent", "."])
def test_what_is_no_file_is_refused(tmp_path: Path, places: Places, name: str) -> None:
    with pytest.raises(InputRejected) as caught:
        ModelStore(places).hash_file(tmp_path / name)
    assert caught.value.field == "model"


def test_consent_is_given_once_for_a_text(places: Places) -> None:
    licences = Licences(places)
    assert licences.consent(PACKAGED) == "not_needed"
    with pytest.raises(LicenceNotAccepted) as caught:
        licences.check("mace", LICENSED)
    assert "no profit" in caught.value.message
    assert "--accept-license" in (caught.value.hint or "")
    licences.accept("mace", LICENSED)
    later = Licences(places)
    later.check("mace", LICENSED)
    later.check("other", replace(LICENSED, id="another", license_text=" no\n profit "))
    assert later.consent(replace(LICENSED, license_text="some profit")) == "needed"


def test_consent_of_two_processes_at_once_is_kept(places: Places) -> None:
    models = [replace(LICENSED, license_text=f"text {i}") for i in range(20)]
    threads = [threading.Thread(target=Licences(places).accept, args=("x", m)) for m in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {Licences(places).consent(model) for model in models} == {"given"}


def engine(*models: ModelDeclaration) -> EngineDeclaration:
    return EngineDeclaration(
        name="e", path=Path("/e.py"), kind="engine", origin="user", models=models
    )


def test_the_default_and_a_named_model(choice: ModelChoice) -> None:
    other = replace(PACKAGED, id="q", default=True)
    assert choice.resolve(engine(PACKAGED, other), None, "1.0").id == "q"
    found = choice.resolve(engine(PACKAGED, other), "p", "1.0")
    assert (found.argument, found.key, found.sha256) == ("p", "e 1.0:p", None)
    assert choice.resolve(engine(PACKAGED), None, "1.0").id == "p"


@pytest.mark.parametrize(
    ("models", "model", "error", "says"),
    [
        ((PACKAGED, replace(PACKAGED, id="q")), None, InputRejected, "no default model"),
        ((PACKAGED,), "x", NotFound, "no model 'x'"),
        ((FILE,), None, InputRejected, "needs a file"),
        ((FILE,), "/nonexistent/x", InputRejected, "not there"),
        ((PACKAGED,), "/nonexistent/x", InputRejected, "takes no model files"),
        ((LICENSED,), "l", LicenceNotAccepted, "no profit"),
    ],
)
def test_a_model_that_is_not_to_be_had(
    choice: ModelChoice,
    models: tuple[ModelDeclaration, ...],
    model: str | None,
    error: type[Exception],
    says: str,
) -> None:
    with pytest.raises(error, match=says):
        choice.resolve(engine(*models), model, "1.0")


def test_a_users_file_is_known_by_its_hash(tmp_path: Path, choice: ModelChoice) -> None:
    path = tmp_path / "my.model"
    path.write_bytes(b"one")
    found = choice.resolve(engine(FILE), str(path), "1.0")
    digest = hashlib.sha256(b"one").hexdigest()
    assert (found.id, found.argument, found.key) == ("my.model", str(path), digest)


def test_downloaded_weights_are_known_by_their_hash(
    tmp_path: Path, places: Places, choice: ModelChoice
) -> None:
    model = download(tmp_path, b"weights")
    with pytest.raises(NotFound, match="not here"):
        choice.resolve(engine(model), "m", "1.0")
    assert not choice.state("e", model, installed=True).present
    path = fetch(places, model)
    found = choice.resolve(engine(model), "m", "1.0")
    assert (found.argument, found.key) == (str(path), model.sha256)
    state = choice.state("e", model, installed=False)
    assert (state.present, state.path) == (True, str(path))
