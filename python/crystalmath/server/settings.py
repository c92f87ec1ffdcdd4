"""Every duration, limit and path of the daemon, read once at start.

Flags win over ``CRYSTALMATH_*`` variables, these over ``config.toml``, that over the defaults here.
The project file and the client's own environment are the client's business. Called by ``cli``;
the result is handed down to everything else and never changes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from crystalmath.contract.socket_path import (
    PathRefusedError,
    SocketPath,
    data_directory,
    xdg_directory,
)
from crystalmath.errors import ConfigError
from crystalmath.server.paths import resolve_socket
from crystalmath.server.setting_values import Kind, check_value, parse_value, shown

if TYPE_CHECKING:
    from crystalmath.services.ports_materials import MaterialsSettings
    from crystalmath.services.ports_pool import PoolLimits

MIB: Final = 1024 * 1024
Started = Literal["manual", "auto", "foreground"]


@dataclass(frozen=True, slots=True)
class WireLimits:
    """What a client may ask of the daemon; reported by ``system.hello``."""

    request_bytes: int = 8 * MIB
    response_bytes: int = 32 * MIB
    nesting: int = 64
    batch_items: int = 100
    batch_response_bytes: int = 32 * MIB
    batch_at_once: int = 8
    connections: int = 64
    in_flight: int = 64
    subscriptions: int = 16
    oversize_lines: int = 3
    discarded_bytes: int = 64 * MIB
    outbox_bytes: int = 8 * MIB
    waiting_events: int = 1000
    kept_events: int = 1024
    unfinished_line_s: float = 60.0
    unwritable_s: float = 30.0
    refused_drain_s: float = 1.0


def _default_memory_mib() -> int:
    """Memory that force workers may use together: seven tenths of what this machine has."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 4096
    return max(1024, int(0.7 * total / MIB))


@dataclass(frozen=True, slots=True)
class Settings:
    """The daemon's settings; see the module docstring for where they come from.

    Attributes
    ----------
    idle_timeout_s
        Exit after so long without client, request, transfer or local job; None: never.
    first_client_s
        A daemon that a client has started waits at least so long for it.
    origins
        Dotted key → ``config.toml``, ``environment`` or ``flag`` for what is not a default.
    """

    socket: SocketPath
    data_dir: Path
    log_dir: Path
    config_path: Path
    started: Started = "manual"
    idle_timeout_s: float | None = None
    log_level: str = "info"
    max_concurrent_jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    pump_poll_s: float = 0.5
    log_watch_s: float = 0.2
    notify_every_s: float = 0.03
    start_timeout_s: float = 30.0
    start_patience_s: float = 60.0
    drain_s: float = 10.0
    close_s: float = 3.0
    self_check_s: float = 30.0
    idle_grace_s: float = 0.1
    first_client_s: float = 10.0
    hello_s: float = 2.0
    db_workers: int = 4
    db_queue: int = 64
    net_workers: int = 4
    net_queue: int = 32
    proc_workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    proc_queue: int = 64  # jobs.submit waits here; a burst of one connection must fit
    proc_idle_s: float = 300.0
    forces_workers: int = 32  # threads that wait for an engine to load or to compute
    forces_queue: int = 256
    forces_memory_mib: int = field(default_factory=_default_memory_mib)
    forces_threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    forces_idle_s: float = 900.0
    forces_load_s: float = 600.0
    forces_call_s: float = 300.0
    materials_offline: bool = False
    materials_optimade: Mapping[str, str] = field(default_factory=dict)
    materials_folders: tuple[str, ...] = ()
    mp_api_key: str = field(default="", repr=False)
    mp_url: str = "https://api.materialsproject.org"
    switch_interval_s: float = 0.001
    log_file_bytes: int = 5 * MIB
    log_files: int = 5
    limits: WireLimits = field(default_factory=WireLimits)
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def socket_path(self) -> str:
        """Path of the socket."""
        return self.socket.path

    @property
    def forces_limits(self) -> PoolLimits:
        """Limits of the force workers."""
        from crystalmath.services.ports_pool import PoolLimits  # start-up does without

        return PoolLimits(
            memory_mib=self.forces_memory_mib,
            threads=self.forces_threads,
            idle_s=self.forces_idle_s,
            load_s=self.forces_load_s,
            call_s=self.forces_call_s,
        )

    @property
    def materials(self) -> MaterialsSettings:
        """Who is asked for structures."""
        from crystalmath.services.ports_materials import MaterialsSettings

        return MaterialsSettings(
            optimade=self.materials_optimade,
            folders=self.materials_folders,
            mp_api_key=self.mp_api_key,
            mp_url=self.mp_url,
            offline=self.materials_offline,
        )

    @property
    def engines_dir(self) -> Path:
        """Directory of the user's own declarations of engines."""
        return self.config_path.parent / "engines"

    @property
    def templates_dir(self) -> Path:
        """Directory of the user's own templates."""
        return self.config_path.parent / "templates"

    @property
    def log_path(self) -> Path:
        """The log file."""
        return self.log_dir / "server.log"

    @property
    def auto_started(self) -> bool:
        """Whether a client started the daemon, which then may exit when idle."""
        return self.started == "auto"


@dataclass(frozen=True, slots=True)
class Key:
    """One key of ``config.toml``: the setting it fills and what it may be.

    Attributes
    ----------
    variable
        Another variable that users already have for it.
    """

    target: str
    kind: Kind
    wire_limit: bool = False
    variable: str | None = None


KEYS: Final[Mapping[str, Key]] = {
    "daemon.idle_timeout_s": Key("idle_timeout_s", "seconds"),
    "daemon.log_level": Key("log_level", "level"),
    "daemon.drain_s": Key("drain_s", "seconds"),
    "daemon.self_check_s": Key("self_check_s", "seconds"),
    "daemon.unfinished_line_s": Key("unfinished_line_s", "seconds", wire_limit=True),
    "daemon.unwritable_s": Key("unwritable_s", "seconds", wire_limit=True),
    "daemon.proc_workers": Key("proc_workers", "count"),
    "daemon.proc_idle_s": Key("proc_idle_s", "seconds"),
    "jobs.max_concurrent": Key("max_concurrent_jobs", "count"),
    "jobs.poll_s": Key("pump_poll_s", "seconds"),
    "forces.memory_mib": Key("forces_memory_mib", "mib"),
    "forces.threads": Key("forces_threads", "count"),
    "forces.idle_s": Key("forces_idle_s", "seconds"),
    "forces.load_s": Key("forces_load_s", "seconds"),
    "forces.call_s": Key("forces_call_s", "seconds"),
    "materials.offline": Key("materials_offline", "flag"),
    "materials.optimade": Key("materials_optimade", "databases"),
    "materials.folders": Key("materials_folders", "folders"),
    "materials.mp_api_key": Key("mp_api_key", "secret", variable="MP_API_KEY"),
    "materials.mp_url": Key("mp_url", "url"),
}
"""Every key the daemon reads; the variable of ``a.b`` is ``CRYSTALMATH_A_B``."""

IDLE_TIMEOUT_S: Final = 1800.0


def load_settings(
    env: Mapping[str, str],
    *,
    socket: str | None = None,
    data_dir: str | None = None,
    idle_timeout_s: float | None = None,
    started: Started = "manual",
    paths_only: bool = False,
) -> Settings:
    """Read flags, environment and ``config.toml``.

    Parameters
    ----------
    env
        The environment.
    socket, data_dir, idle_timeout_s
        The flags, absolute already; None where not given.
    started
        How the daemon is started: only an auto-started one exits when idle by default.
    paths_only
        Only the paths matter, so a mistake in ``config.toml`` stops nobody from stopping the daemon
        or reading its log.

    Raises
    ------
    ConfigError
        A value cannot be used; the message names the file and line, variable or flag.
    """
    try:
        data = data_directory(data_dir, env)
        logs = xdg_directory(env, "XDG_STATE_HOME", ".local/state")
        config = Path(xdg_directory(env, "XDG_CONFIG_HOME", ".config")) / "config.toml"
    except PathRefusedError as error:
        raise ConfigError(f"{error}.", hint="Give an absolute path.") from None
    values, origins = ({}, {}) if paths_only else _configured(config, env)
    if idle_timeout_s is not None:
        values["daemon.idle_timeout_s"] = check_value("seconds", idle_timeout_s, "--idle-timeout")
        origins["daemon.idle_timeout_s"] = "flag"
    elif started != "auto":
        values.pop("daemon.idle_timeout_s", None)
    else:
        values.setdefault("daemon.idle_timeout_s", IDLE_TIMEOUT_S)
    limits = {KEYS[k].target: v for k, v in values.items() if KEYS[k].wire_limit}
    plain = {KEYS[k].target: v for k, v in values.items() if not KEYS[k].wire_limit}
    start_timeout_s = env.get("CRYSTALMATH_START_TIMEOUT", "")
    if start_timeout_s:
        plain["start_timeout_s"] = parse_value(
            "seconds", start_timeout_s, "CRYSTALMATH_START_TIMEOUT"
        )
    settings = Settings(
        socket=resolve_socket(socket, env),
        data_dir=Path(data),
        log_dir=Path(logs),
        config_path=config,
        started=started,
        limits=WireLimits(**limits),
        origins=origins,
    )
    return replace(settings, **plain)


def value_of(settings: Settings, key: str) -> Any:
    """Return the value in force of a key of ``config.toml``; of a secret only that it is set."""
    spec = KEYS[key]
    return shown(spec.kind, getattr(settings.limits if spec.wire_limit else settings, spec.target))


def wire_limits() -> tuple[str, ...]:
    """Names of the limits, for the settings' own tests."""
    return tuple(f.name for f in fields(WireLimits))


def _configured(config: Path, env: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for key, value in _read_file(config).items():
        values[key] = value
        origins[key] = "config.toml"
    for key, spec in KEYS.items():
        variable = f"CRYSTALMATH_{key.replace('.', '_').upper()}"
        if spec.variable is not None and not env.get(variable):
            variable = spec.variable
        text = env.get(variable, "")
        if text:
            values[key] = parse_value(spec.kind, text, variable)
            origins[key] = "environment"
    return values, origins


def _read_file(config: Path) -> dict[str, Any]:
    try:
        text = config.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"Cannot read {config}: {reason}.", hint="Correct the file.") from None
    import tomllib  # most users have no such file

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{config}: {error}.", hint="Correct the file.") from None
    values: dict[str, Any] = {}
    sections = sorted({key.partition(".")[0] for key in KEYS})
    for section, content in document.items():
        if section not in sections or not isinstance(content, dict):
            where = _line_of(text, section, None)
            known = ", ".join(f"[{s}]" for s in sections)
            raise ConfigError(
                f"{config}, line {where}: unknown {section!r}.", hint=f"Known: {known}."
            )
        for name, value in content.items():
            key, where = f"{section}.{name}", _line_of(text, section, name)
            if key not in KEYS:
                known = ", ".join(k.partition(".")[2] for k in KEYS if k.startswith(f"{section}."))
                raise ConfigError(
                    f"{config}, line {where}: unknown key {name!r} in [{section}].",
                    hint=f"Known: {known}.",
                )
            values[key] = check_value(KEYS[key].kind, value, f"{config}, line {where}: {name}")
    return values


def _line_of(text: str, section: str, name: str | None) -> int:
    """Find the line of a section or key; 1 when it is written in some unusual way."""
    header = re.compile(rf"\s*\[\s*[\"']?{re.escape(section)}[\"']?\s*\]|\s*{re.escape(section)}\b")
    inside, found = False, 1
    for number, line in enumerate(text.splitlines(), start=1):
        if header.match(line):
            inside, found = True, number
            if name is None or re.search(rf"\b{re.escape(name)}[\"']?\s*=", line):
                return number
        elif line.lstrip().startswith("["):
            inside = False
        elif inside and name and re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]", line):
            return number
    return found
