"""Starts the worker: agreement, configuration, loading, then the loop.

The order matters. The declaration's ``import-first`` comes before numpy, which the arrays of this
program need, so everything that uses numpy is imported after it.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from . import declaration, pulse, wire
from .control import Control, HostGone
from .faults import Fault, describe
from .page import StatusPage

EXIT_LOAD_FAILED = 4


def _be_the_first_to_go() -> None:
    """When memory runs out, the system is to end this process and not what has the user's work."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("600", encoding="ascii")


def main(arguments: list[str]) -> NoReturn:
    """Run the worker; ends the process."""
    given = _parse(arguments)
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C belongs to the host, which ends us
    _be_the_first_to_go()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)
    control = Control(socket.socket(fileno=given.control))
    page = StatusPage(given.status)
    try:
        control.agree()
        config = control.wait(wire.CONFIG)
        beat = pulse.Pulse(control, page)
        beat.start()
        desk = _load(control, page, config, given.declaration)
        if desk is not None:
            beat.memory = desk.memory
            from .serving import Server

            Server(control, desk).run()
    except HostGone:
        _leave(0)
    _leave(0 if desk is not None else EXIT_LOAD_FAILED)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="worker", description="Computes for another process.")
    parser.add_argument("--control", type=int, required=True, metavar="FD")
    parser.add_argument("--status", type=int, metavar="FD")
    parser.add_argument("--declaration", required=True, metavar="PATH")
    return parser.parse_args(arguments)


def _load(control: Control, page: StatusPage, config: Mapping[str, Any], path: str) -> Any:
    """Load the engine and tell the host what it can do; None after a failure, which is told too."""
    began = time.monotonic()
    try:
        page.enter("importing")
        declaration.import_first(config.get("import_first") or ())
        from .loading import load_desk

        desk, answer = load_desk(config, path, page)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an engine may raise anything
        fault = describe(error)
        sys.stderr.write(f"loading failed: {fault}\n{fault.details.get('traceback', '')}")
        control.say(wire.FAULT, {**fault.document(), "phase": page.phase})
        return None
    answer["pid"], answer["rss_bytes"] = os.getpid(), pulse.resident_bytes()
    answer["load_s"] = round(time.monotonic() - began, 3)
    page.enter("ready")
    control.say(wire.CONFIG, answer)
    return desk


def _leave(code: int) -> NoReturn:
    """End at once: tearing down a large library may hang, and nothing of it is needed."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


__all__ = ["EXIT_LOAD_FAILED", "Fault", "main"]
