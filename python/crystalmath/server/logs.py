"""The log file: one JSON object per line, rotated by size, never a reason to stop serving.

Params are never logged. When a line cannot be written it is counted, and the count is part of
``system.status``. Called by ``lifecycle``; everybody else uses ``logging``.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # it would load pydantic before the socket is there
    from crystalmath.server.calls import InlineCall

_SECRET = re.compile(
    r"(?i)((?:api[_-]?key|token|passw(?:or)?d|passphrase|secret|authorization)\w*[\"']?\s*[=:]\s*"
    r"(?:bearer\s+)?)[\"']?[^\s\"',;}]+"
)
_MAX_TEXT_CHARS: Final = 20_000


class JsonLog(logging.Handler):
    """Writes log records and finished calls.

    Parameters
    ----------
    path
        The file; rotated ones get ``.1`` … behind the name.
    instance
        Id of this run, part of every line.
    max_bytes, files
        Size at which the file is rotated; how many files there are in all.
    secrets
        Values that must never appear, e.g. an API key from the environment.
    """

    def __init__(
        self, path: Path, instance: str, max_bytes: int, files: int, secrets: Iterable[str] = ()
    ) -> None:
        super().__init__()
        self.problems = 0
        self._carries_stderr = False
        self._path = path
        self._instance = instance
        self._max_bytes = max_bytes
        self._files = files
        self._secrets = tuple(s for s in secrets if len(s) >= 4)
        self._write_lock = threading.Lock()
        self._fd: int | None = None
        self._size = 0
        self._retry_at = 0.0
        with self._write_lock:
            self._open()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record of the ``logging`` module."""
        line: dict[str, Any] = {"lvl": record.levelname.lower(), "msg": record.getMessage()}
        line["logger"] = record.name
        trace_id = getattr(record, "trace_id", None)
        if trace_id is not None:
            line["trace_id"] = trace_id
        if record.exc_info and record.exc_info[0] is not None:
            text = "".join(traceback.format_exception(*record.exc_info))
            line["traceback"] = text[-_MAX_TEXT_CHARS:]
        self.write(line, record.created)

    def log_call(self, call: InlineCall, reply_bytes: int) -> None:
        """Write the line of a finished call."""
        now = time.monotonic()
        started = call.started if call.started is not None else now
        line: dict[str, Any] = {
            "lvl": "info",
            "conn": call.connection.id,
            "id": None if call.request.is_notification else call.request.id,
            "trace_id": call.trace_id,
            "method": call.request.method[:100],
            "lane": call.lane,
            "queue_ms": round((started - call.received) * 1e3, 3),
            "run_ms": round((now - started) * 1e3, 3),
            "bytes": reply_bytes,
            "code": call.code,
        }
        if isinstance(line["id"], str):
            line["id"] = line["id"][:100]
        self.write(line, time.time())

    def write(self, line: dict[str, Any], when: float) -> None:
        """Write one line; a failure is counted, not raised."""
        stamp = datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds")
        head = {"ts": stamp.replace("+00:00", "Z"), "instance": self._instance}
        safe = {k: self._redact(v) if isinstance(v, str) else v for k, v in line.items()}
        data = json.dumps({**head, **safe}, default=str, ensure_ascii=True).encode() + b"\n"
        with self._write_lock:
            try:
                if self._fd is None:
                    if time.monotonic() < self._retry_at:
                        self.problems += 1
                        return
                    self._open()
                if self._fd is None:
                    self.problems += 1
                    return
                if self._size + len(data) > self._max_bytes:
                    self._rotate()
                if self._fd is not None:
                    self._size += os.write(self._fd, data)
            except OSError:
                self.problems += 1

    def reopen(self) -> None:
        """Open the file anew, e.g. after somebody has moved it away."""
        with self._write_lock:
            self._close()
            self._open()

    def take_standard_streams(self, wanted: bool) -> None:
        """Whether standard output and error go to the log too, also after a rotation."""
        with self._write_lock:
            self._carries_stderr = wanted
            self._redirect()

    def _redirect(self) -> None:
        if self._carries_stderr and self._fd is not None:
            os.dup2(self._fd, 1)
            os.dup2(self._fd, 2)

    def _redact(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[redacted]")
        return _SECRET.sub(r"\1[redacted]", text)

    def _open(self) -> None:
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._fd = os.open(self._path, flags, 0o600)
            self._size = os.fstat(self._fd).st_size
        except OSError:
            self.problems += 1
            self._retry_at = time.monotonic() + 1.0
            return
        self._redirect()

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _rotate(self) -> None:
        self._close()
        for number in range(self._files - 1, 0, -1):
            source = self._numbered(number - 1)
            if source.exists():
                source.replace(self._numbered(number))
        self._open()

    def _numbered(self, number: int) -> Path:
        return self._path if number == 0 else self._path.with_name(f"{self._path.name}.{number}")


def install(log: JsonLog, level: str) -> None:
    """Send everything that uses ``logging`` or ``warnings`` to the log."""
    root = logging.getLogger()
    root.handlers[:] = [log]
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)
    # the library logs every request and every reply of its own accord
    logging.getLogger("jsonrpcserver").setLevel(logging.CRITICAL)

    def report(args: threading.ExceptHookArgs) -> None:
        exc_info = (args.exc_type, args.exc_value, args.exc_traceback)
        logging.getLogger(__name__).error("a thread failed", exc_info=exc_info)  # type: ignore[arg-type]

    threading.excepthook = report


def last_lines(path: Path, count: int) -> list[str]:
    """Return the last lines of a log, reading at most its last 64 KiB."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 65536))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    return list(deque(lines, maxlen=count))
