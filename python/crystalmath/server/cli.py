"""``crystalmath-server``: start, stop and look at the daemon.

Imports little, so that the daemon is there quickly; what a command needs is imported inside it.
The exit codes are part of the interface: see ``daemon`` in the documentation.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import click

from crystalmath import __version__
from crystalmath.errors import CrystalMathError
from crystalmath.server import start as starting
from crystalmath.server.paths import shortening_notice
from crystalmath.server.settings import Settings, Started, load_settings

NOT_RUNNING: Final = 3
NO_ANSWER: Final = 4
TELL_AFTER_S: Final = 1.0
LOG_LINES: Final = 20

F = TypeVar("F", bound=Callable[..., Any])
Run = Callable[[Settings, starting.ReadyPipe], int]


@dataclass(frozen=True, slots=True)
class Invocation:
    """The options before the command, and what runs as the daemon."""

    options: dict[str, Any]
    run: Run


def common(function: F) -> F:
    """Add the options that every command takes."""
    for option in (
        click.option("--ready-fd", type=int, hidden=True, help="Report readiness here."),
        click.option("--idle-timeout", type=float, metavar="S", help="Exit after S idle seconds."),
        click.option("--data-dir", metavar="PATH", help="Directory of the database and the jobs."),
        click.option("--socket", metavar="PATH", help="Path of the socket."),
    ):
        function = option(function)
    return function


@click.group(invoke_without_command=True)
@click.option("--foreground", is_flag=True, help="Run on this terminal, until interrupted.")
@click.version_option(__version__, prog_name="crystalmath-server")
@common
@click.pass_context
def cli(context: click.Context, /, foreground: bool, **options: Any) -> None:
    """Start, stop and look at the CrystalMath daemon."""
    context.obj = Invocation(options, context.obj)
    if context.invoked_subcommand is None:
        if not foreground:
            click.echo(context.get_help())
            return
        _foreground(context.obj)
    elif foreground:
        raise click.UsageError("--foreground stands alone.")


@cli.command()
@common
@click.pass_context
def start(context: click.Context, /, **options: Any) -> None:
    """Start the daemon, unless it runs already; return when it is ready."""
    given = _merged(context, options)
    ready_fd = given["ready_fd"]
    settings = _settings(given, "manual" if ready_fd is None else "auto")
    context.exit(_start(settings, ready_fd, context.obj.run))


@cli.command()
@click.option("--force", is_flag=True, help="End it with a signal if it does not stop.")
@common
@click.pass_context
def stop(context: click.Context, /, force: bool, **options: Any) -> None:
    """Stop the daemon and wait until it is gone. Local jobs go on."""
    from crystalmath.server.control import stop_daemon

    settings = _settings(_merged(context, options), "manual", paths_only=True)
    outcome = stop_daemon(settings, force=force)
    click.echo(outcome.text, err=not outcome.gone)
    context.exit(0 if outcome.gone else 1)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@common
@click.pass_context
def status(context: click.Context, /, as_json: bool, **options: Any) -> None:
    """Tell whether the daemon runs and what it does; start nothing."""
    from crystalmath.server.control import look

    settings = _settings(_merged(context, options), "manual", paths_only=True)
    seen = look(settings)
    if as_json:
        click.echo(json.dumps(seen.document()))
    else:
        click.echo(seen.text())
    context.exit({"running": 0, "down": NOT_RUNNING, "silent": NO_ANSWER}[seen.outcome])


@cli.command()
@click.option("-f", "--follow", is_flag=True, help="Go on as lines come.")
@common
@click.pass_context
def logs(context: click.Context, /, follow: bool, **options: Any) -> None:
    """Show the log file."""
    from crystalmath.server.control import log_text

    settings = _settings(_merged(context, options), "manual", paths_only=True)
    try:
        for text in log_text(settings.log_path, follow=follow):
            click.echo(text, nl=False)
    except KeyboardInterrupt:
        context.exit(0)


@cli.command()
@common
@click.pass_context
def openrpc(context: click.Context, /, **options: Any) -> None:
    """Print the OpenRPC document of all methods."""
    from crystalmath.api import method_table
    from crystalmath.contract.openrpc import document

    del context, options  # it says the same wherever it is asked
    click.echo(json.dumps(document(method_table()), indent=2, ensure_ascii=False))


def run_production(settings: Settings, ready: starting.ReadyPipe) -> int:
    """Run the daemon with the services of ``crystalmath.api``."""
    from crystalmath.server.lifecycle import run

    return run(settings, ready)


def main(run: Run = run_production) -> None:
    """Entry point of ``crystalmath-server``.

    Parameters
    ----------
    run
        What is run in the daemon's process; the tests give a variant with methods of their own.
    """
    starting.leave_job(os.environ)
    starting.keep_standard_descriptors()
    cli.main(prog_name="crystalmath-server", obj=run)


def _merged(context: click.Context, /, options: dict[str, Any]) -> dict[str, Any]:
    """Options may stand before or behind the command; behind wins."""
    return {k: v if v is not None else context.obj.options[k] for k, v in options.items()}


def _settings(options: dict[str, Any], started: Started, *, paths_only: bool = False) -> Settings:
    absolute = {
        k: str(Path(options[k]).absolute()) if options[k] else None for k in ("socket", "data_dir")
    }
    try:
        settings = load_settings(
            os.environ,
            socket=absolute["socket"],
            data_dir=absolute["data_dir"],
            idle_timeout_s=options["idle_timeout"],
            started=started,
            paths_only=paths_only,
        )
        notice = shortening_notice(settings.socket)
        if notice is not None:
            click.echo(notice, err=True)
        return settings
    except CrystalMathError as error:
        ready = starting.ReadyPipe(options["ready_fd"])
        ready.error(code=error.code, message=error.message, hint=error.hint, log_path="")
        _complain(error.message, error.hint)
        sys.exit(1)


def _foreground(invocation: Invocation) -> NoReturn:
    settings = _settings(invocation.options, "foreground")
    ready = starting.ReadyPipe(invocation.options["ready_fd"])
    starting.leave(invocation.run(settings, ready))


def _start(settings: Settings, relay_fd: int | None, run: Run) -> int:
    """Start the detached daemon and wait for its word."""
    reading = starting.detach(lambda ready: run(settings, ready), settings.log_path)
    relay = starting.Relay(relay_fd)
    begin = time.monotonic()
    try:
        for message in starting.messages(
            reading, settings.start_timeout_s, settings.start_patience_s, TELL_AFTER_S, _still
        ):
            relay.pass_on(message)
            if "ready" in message:
                return _report_ready(message["ready"])
            if "error" in message:
                error = message["error"]
                _complain(error["message"], error["hint"], error["log_path"])
                return 1
            if time.monotonic() - begin > TELL_AFTER_S:
                click.echo(message.get("progress", ""), err=True)
    except TimeoutError:
        _complain(
            f"The daemon is not ready after {time.monotonic() - begin:.0f} s.",
            "`crystalmath-server status` tells more.",
            str(settings.log_path),
        )
        return 1
    _died(settings.log_path)
    return 1


def _still() -> None:
    click.echo("starting the daemon …", err=True)


def _report_ready(facts: dict[str, Any]) -> int:
    word = "already running" if facts.get("already_running") else "started"
    click.echo(f"{word} (pid {facts['pid']}, version {facts['version']}, socket {facts['socket']})")
    return 0


def _died(log_path: Path) -> None:
    from crystalmath.server.logs import last_lines

    _complain("The daemon died while starting.", None, str(log_path))
    for line in last_lines(log_path, LOG_LINES):
        click.echo(f"  {line}", err=True)


def _complain(message: str, hint: str | None, log_path: str | None = None) -> None:
    click.echo(f"crystalmath-server: {message}", err=True)
    if hint:
        click.echo(hint, err=True)
    if log_path:
        click.echo(f"log: {log_path}", err=True)
