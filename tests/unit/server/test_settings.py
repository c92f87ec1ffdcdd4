"""Settings: flags over variables over config.toml over defaults, and clear refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from crystalmath.errors import ConfigError
from crystalmath.server.settings import IDLE_TIMEOUT_S, KEYS, Settings, load_settings, value_of


def load(home: Path, text: str | None = None, **more: object) -> Settings:
    env = {"HOME": str(home), "CRYSTALMATH_SOCKET": "/run/a.sock"}
    env.update(more.pop("env", {}))  # type: ignore[call-overload]
    if text is not None:
        path = home / ".config" / "crystalmath" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return load_settings(env, **more)  # type: ignore[arg-type]


def test_defaults(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert settings.data_dir == tmp_path / ".local/share/crystalmath"
    assert settings.log_path == tmp_path / ".local/state/crystalmath/server.log"
    assert settings.idle_timeout_s is None
    assert settings.drain_s == 10
    assert settings.limits.connections == settings.limits.in_flight == 64
    assert settings.origins == {}


def test_precedence(tmp_path: Path) -> None:
    text = "[daemon]\ndrain_s = 1\nself_check_s = 2.5\n[jobs]\nmax_concurrent = 3\n"
    variable = {"CRYSTALMATH_DAEMON_DRAIN_S": "4"}
    settings = load(tmp_path, text, env=variable)
    assert settings.drain_s == 4
    assert settings.self_check_s == 2.5
    assert settings.max_concurrent_jobs == 3
    assert settings.origins == {
        "daemon.drain_s": "environment",
        "daemon.self_check_s": "config.toml",
        "jobs.max_concurrent": "config.toml",
    }


def test_idle_timeout_depends_on_who_started_it(tmp_path: Path) -> None:
    text = "[daemon]\nidle_timeout_s = 60\n"
    assert load(tmp_path, started="auto").idle_timeout_s == IDLE_TIMEOUT_S
    assert load(tmp_path, text, started="auto").idle_timeout_s == 60
    assert load(tmp_path, text, started="manual").idle_timeout_s is None
    assert load(tmp_path, text, started="foreground").idle_timeout_s is None
    assert load(tmp_path, text, started="foreground", idle_timeout_s=1.0).idle_timeout_s == 1


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("[daemon]\n\nidle_timeot_s = 1\n", 3, "idle_timeot_s"),
        ("x = 1\n", 1, "x"),
        ("# a\n[daemons]\n", 2, "daemons"),
        ("[jobs]\n[daemon]\ndrain_s = 'long'\n", 3, "drain_s"),
        ("[daemon]\ndrain_s = true\n", 2, "drain_s"),
        ("[daemon]\ndrain_s = 0\n", 2, "drain_s"),
        ("[daemon]\nlog_level = 'loud'\n", 2, "log_level"),
        ("[jobs]\nmax_concurrent = 1.5\n", 2, "max_concurrent"),
        ("[jobs]\nmax_concurrent = -1\n", 2, "max_concurrent"),
        ("daemon = 1\n", 1, "daemon"),
        ("[daemon]\ndrain_s = 1\nself_check_s ==\n", 3, "line 3"),
        ("daemon.bad = 1\n", 1, "bad"),
    ],
)
def test_refusals_name_file_and_line(tmp_path: Path, text: str, line: int, word: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    message = caught.value.message
    assert str(tmp_path / ".config/crystalmath/config.toml") in message
    assert f"line {line}" in message
    assert word in message


def test_bad_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="CRYSTALMATH_JOBS_MAX_CONCURRENT"):
        load(tmp_path, env={"CRYSTALMATH_JOBS_MAX_CONCURRENT": "many"})
    with pytest.raises(ConfigError, match="CRYSTALMATH_START_TIMEOUT"):
        load(tmp_path, env={"CRYSTALMATH_START_TIMEOUT": "-1"})
    with pytest.raises(ConfigError, match="relative"):
        load(tmp_path, env={"CRYSTALMATH_DATA_DIR": "a"})


def test_unreadable_config(tmp_path: Path) -> None:
    path = tmp_path / ".config/crystalmath/config.toml"
    path.mkdir(parents=True)
    with pytest.raises(ConfigError, match="Cannot read"):
        load(tmp_path)
    path.rmdir()
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="UTF-8"):
        load(tmp_path)


def test_every_key_has_a_value(tmp_path: Path) -> None:
    settings = load(tmp_path)
    for key in KEYS:
        value_of(settings, key)


def test_providers_of_structures(tmp_path: Path) -> None:
    text = """[materials]
offline = true
folders = ["~/mine", "/data"]
mp_api_key = "from the file"
[materials.optimade]
cod = "https://example.org/optimade"
off = ""
"""
    settings = load(tmp_path, text)
    assert settings.materials.offline
    assert settings.materials.folders[1] == "/data"
    assert not settings.materials.folders[0].startswith("~")
    assert settings.materials.optimade == {"cod": "https://example.org/optimade", "off": ""}
    assert settings.mp_api_key == "from the file"
    assert value_of(settings, "materials.mp_api_key") == "set"
    assert "from the file" not in repr(settings)
    assert "from the file" not in repr(settings.materials)
    env = {
        "MP_API_KEY": "of the environment",
        "CRYSTALMATH_MATERIALS_OPTIMADE": "a=http://localhost:1 b=https://b.org/x",
        "CRYSTALMATH_MATERIALS_FOLDERS": "/a:/b",
        "CRYSTALMATH_MATERIALS_OFFLINE": "false",
    }
    settings = load(tmp_path, text, env=env)
    assert settings.mp_api_key == "of the environment"
    assert settings.materials.optimade == {"a": "http://localhost:1", "b": "https://b.org/x"}
    assert settings.materials.folders == ("/a", "/b")
    assert not settings.materials.offline
    assert value_of(load(tmp_path, ""), "materials.mp_api_key") is None


@pytest.mark.parametrize(
    "text",
    [
        "[materials]\nfolders = ['mine']\n",
        "[materials]\nfolders = 'mine'\n",
        "[materials]\noffline = 1\n",
        "[materials]\noptimade = ['https://example.org']\n",
        "[materials]\noptimade = { embedded = 'https://example.org' }\n",
        "[materials]\noptimade = { Cod = 'https://example.org' }\n",
        "[materials]\noptimade = { cod = 'example.org' }\n",
        "[materials]\noptimade = { cod = 'https://me:secret@example.org' }\n",
        "[materials]\nmp_url = 'ftp://example.org'\n",
        "[materials]\nmp_url = 'http://example.org:99999'\n",
        "[materials]\nmp_api_key = 12345\n",
    ],
)
def test_wrong_providers_are_refused_with_their_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="line 2") as caught:
        load(tmp_path, text)
    assert "12345" not in caught.value.message
    assert "secret" not in caught.value.message
