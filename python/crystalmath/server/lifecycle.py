"""The life of the daemon from its locks to its exit code.

Light on purpose: locks are taken and the socket is published before anything heavy is imported,
so that clients find the daemon at once. The serving itself is in ``daemon``. Called by ``cli``, in
the final process.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from crystalmath import __version__
from crystalmath.errors import ConfigError, CrystalMathError
from crystalmath.server.claim import Running, claim
from crystalmath.server.instance import new_instance, this_process
from crystalmath.server.logs import JsonLog, install
from crystalmath.server.paths import (
    ensure_private_directory,
    ensure_socket_directory,
    shortening_notice,
)
from crystalmath.server.pointer import Pointer, remove_pointer, write_pointer
from crystalmath.server.publish import Publication
from crystalmath.server.settings import Settings
from crystalmath.server.start import ReadyPipe

if TYPE_CHECKING:
    from crystalmath.services.ports_server import ServerPort

_log = logging.getLogger(__name__)

SECRET_VARIABLES = ("MP_API_KEY",)


class Controller(Protocol):
    """What the daemon needs of ``api.CrystalController``."""

    def namespaces(self) -> Mapping[str, Any]:
        """Namespace → service."""

    def start(self) -> None:
        """Open the database and begin to work; raises ``CrystalMathError``."""

    def close(self) -> None:
        """Stop working and close the database."""

    def job_counts(self) -> Mapping[str, int]:
        """Number of jobs by state."""

    def cluster_rows(self) -> list[dict[str, Any]]:
        """How each cluster does."""

    def live_local_jobs(self) -> int:
        """Jobs on this machine that have not ended."""

    def is_needed(self) -> bool:
        """Whether an idle daemon must stay."""


class Builder(Protocol):
    """Makes the controller, as ``api.build`` does."""

    def __call__(self, settings: Settings, server: ServerPort) -> Controller:
        """Build, without opening anything."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a daemon is started with; the fields are those of :func:`run` and what it made."""

    settings: Settings
    ready: ReadyPipe
    log: JsonLog
    instance: str
    build: Builder | None
    namespaces: Mapping[str, type] | None


def run(
    settings: Settings,
    ready: ReadyPipe,
    *,
    build: Builder | None = None,
    namespaces: Mapping[str, type] | None = None,
) -> int:
    """Run the daemon until it is told to stop; return the exit code.

    Parameters
    ----------
    ready
        Learns when the daemon serves, or why it does not.
    build, namespaces
        The controller's builder and its service classes; None: those of ``crystalmath.api``.
        The socket answers hello before that is imported.
    """
    log: JsonLog | None = None
    try:
        _prepare(settings)
        instance = new_instance()
        log = JsonLog(
            settings.log_path,
            instance,
            settings.log_file_bytes,
            settings.log_files,
            [settings.mp_api_key, *(os.environ.get(name, "") for name in SECRET_VARIABLES)],
        )
        install(log, settings.log_level)
        log.take_standard_streams(settings.started != "foreground")
        held = claim(settings, time.monotonic() + settings.start_timeout_s)
        if isinstance(held, Running):
            return _already_running(held, settings, ready)
    except CrystalMathError as error:
        report_failure(error, settings, ready)
        return 1
    try:
        return _serve(Start(settings, ready, log, instance, build, namespaces))
    finally:
        held.release()


def report_failure(error: CrystalMathError, settings: Settings, ready: ReadyPipe) -> None:
    """Say why the daemon does not start: to the log, and to whoever started it."""
    _log.error("start failed: %s", error.message, exc_info=error.__cause__)
    ready.error(
        code=error.code, message=error.message, hint=error.hint, log_path=str(settings.log_path)
    )
    if settings.started == "foreground":
        print(f"crystalmath-server: {error.message}", file=sys.stderr)  # noqa: T201 (a terminal)
        if error.hint:
            print(error.hint, file=sys.stderr)  # noqa: T201


def _prepare(settings: Settings) -> None:
    os.umask(0o077)
    if os.getuid() != os.geteuid() or os.getgid() != os.getegid():
        raise ConfigError("The daemon does not run with changed user or group id (setuid).")
    ensure_private_directory(settings.log_dir)
    ensure_private_directory(settings.data_dir)
    ensure_socket_directory(settings.socket)


def _already_running(held: Running, settings: Settings, ready: ReadyPipe) -> int:
    if held.elsewhere and settings.socket.origin == "flag":
        ready.error(
            code=-32000,
            message=f"A daemon for {settings.data_dir} runs already, at {held.socket}.",
            hint="Leave out --socket, or give another data directory.",
            log_path=str(settings.log_path),
        )
        return 1
    ready.ready(
        socket=held.socket,
        pid=held.pid,
        instance=held.instance,
        version=held.version,
        already_running=True,
    )
    return 0


def _serve(start: Start) -> int:
    settings, ready = start.settings, start.ready
    publication = Publication(settings.socket_path)
    try:
        publication.publish()
        _write_pointer(settings, start.instance)
    except (CrystalMathError, OSError) as error:
        publication.withdraw()
        report_failure(_cannot_listen(error, settings), settings, ready)
        return 1
    notice = shortening_notice(settings.socket)
    if notice is not None:
        _log.warning("%s", notice)
    try:
        from crystalmath.server.daemon import Daemon  # pydantic and jsonrpcserver

        code = Daemon(start, publication).run()
    finally:
        publication.withdraw()
        remove_pointer(settings.data_dir, start.instance)
    _log.info("stopped")
    return code


def _cannot_listen(error: CrystalMathError | OSError, settings: Settings) -> CrystalMathError:
    if isinstance(error, CrystalMathError):
        return error
    return CrystalMathError(
        f"Cannot listen at {settings.socket_path}: {error.strerror}.",
        hint="Check the directory and its free space, or give another path with --socket.",
    )


def _write_pointer(settings: Settings, instance: str) -> None:
    process = this_process()
    write_pointer(
        settings.data_dir,
        Pointer(
            socket=settings.socket_path,
            pid=process.pid,
            pid_start=process.pid_start,
            boot_id=process.boot_id,
            host=process.host,
            version=__version__,
            instance=instance,
            started=settings.started,
        ),
    )
