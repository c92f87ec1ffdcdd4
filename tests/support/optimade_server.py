"""A small OPTIMADE server on loopback, with faults on demand. It is ours: no reference for others.

It serves ``tests/fixtures/optimade/structures.jsonl`` as the specification says for what is asked
here: the filters that ``materials.optimade`` writes, pages with ``links.next``, errors with a
detail. The first part of the path names the behaviour: ``/good/v1/structures``.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

_JSONL = Path(__file__).parents[1] / "fixtures" / "optimade" / "structures.jsonl"
_HAS = re.compile(r'elements HAS (ALL|ANY) ((?:"[A-Z][a-z]?",?)+)')
_MOST_PER_PAGE = 4


def entries() -> list[dict[str, Any]]:
    """The entries, as the database holds them."""
    return [json.loads(line) for line in _JSONL.read_text(encoding="utf-8").splitlines()]


class OptimadeServer(ThreadingHTTPServer):
    """Counts what it was asked; a slow behaviour waits for :attr:`released` or ``slow_s``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.rows = entries()
        self.asked: list[str] = []
        self.keys: list[str | None] = []
        self.slow_s = 30.0
        self.released = threading.Event()

    def url(self, behaviour: str) -> str:
        """Base URL of a behaviour: good, slow, error500, error501, broken, endless and others."""
        return f"http://127.0.0.1:{self.server_address[1]}/{behaviour}"

    def asked_of(self, behaviour: str) -> int:
        """How often it was asked; searches that were given up may still ask for others."""
        return sum(path.startswith(f"/{behaviour}/") for path in self.asked)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what some tests are about."""


@contextmanager
def optimade_server() -> Iterator[OptimadeServer]:
    """Serve until the end of the block."""
    server = OptimadeServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: OptimadeServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base
        """Say nothing."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        _, behaviour, *rest = parts.path.split("/")
        self.server.asked.append(self.path)
        self.server.keys.append(self.headers.get("X-API-KEY"))
        if behaviour.startswith("mp"):
            self._materials_project(behaviour, query)
        elif behaviour.startswith("error"):
            self._fail(int(behaviour.removeprefix("error")), "as the test wants it")
        elif behaviour == "slow":
            self.server.released.wait(self.server.slow_s)
            self._structures(behaviour, rest, query)
        elif behaviour == "broken":
            self._send(200, b'{"data": [')
        elif behaviour == "html":
            self._send(200, b"<html>come in</html>")
        elif behaviour == "list":
            self._send(200, b"[1, 2]")
        elif behaviour == "redirect":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.2:9/elsewhere")
            self.end_headers()
        else:
            self._structures(behaviour, rest, query)

    def _structures(self, behaviour: str, rest: list[str], query: dict[str, str]) -> None:
        if rest[:2] != ["v1", "structures"]:
            return self._fail(404, "no such endpoint")
        rows = self.server.rows
        if len(rest) == 3:
            found = next((row for row in rows if row["id"] == rest[2]), None)
            return self._json({"data": found, "links": {"next": None}})
        if behaviour == "picky" and "page_limit" in query:
            return self._fail(403, "page_limit is too large")
        try:
            fitting = [row for row in rows if _fits(row["attributes"], query.get("filter", ""))]
        except ValueError as error:
            return self._fail(400, f"the filter is not understood: {error}")
        if behaviour == "lying":  # whatever is asked, it answers with everything
            fitting = rows
        offset = int(query.get("page_offset", "0"))
        size = min(_MOST_PER_PAGE, int(query.get("page_limit", "4")))
        page: list[Any] = [_shown(row, behaviour) for row in fitting[offset : offset + size]]
        link = self._next(behaviour, query, offset, offset + size < len(fitting))
        more = link is not None
        if behaviour == "malformed":
            page = [*page, {"id": "x"}, {"id": "y", "attributes": {"species": 3}}, "z"]
        return self._json(
            {"data": page, "links": {"next": link}, "meta": {"more_data_available": more}}
        )

    def _next(self, behaviour: str, query: dict[str, str], offset: int, more: bool) -> Any:
        here = f"{self.server.url(behaviour)}/v1/structures"
        if behaviour == "endless":
            return f"{here}?{urlencode(query)}&n={offset}"
        if behaviour == "stray":
            return "http://127.0.0.2:9/v1/structures"
        if not more:
            return None
        size = min(_MOST_PER_PAGE, int(query.get("page_limit", "4")))
        link = f"{here}?{urlencode({**query, 'page_offset': str(offset + size)})}"
        return {"href": link} if behaviour == "objects" else link

    def _materials_project(self, behaviour: str, query: dict[str, str]) -> None:
        code = behaviour.removeprefix("mp")
        if code:
            return self._fail(int(code), "no")
        a = 4.19
        given = {
            "lattice": {"matrix": [[0, a / 2, a / 2], [a / 2, 0, a / 2], [a / 2, a / 2, 0]]},
            "sites": [
                {"species": [{"element": "Mg", "occu": 1}], "abc": [0, 0, 0]},
                {"species": [{"element": "O", "occu": 1}], "abc": [0.5, 0.5, 0.5]},
            ],
        }
        wanted = query.get("formula") in (None, "MgO") and query.get("material_ids") in (
            None,
            "mp-1265",
        )
        row = {
            "material_id": "mp-1265",
            "structure": given,
            "band_gap": 4.45,
            "energy_above_hull": 0.0,
            "is_stable": True,
        }
        return self._json({"data": [row] if wanted else [], "meta": {"total_doc": int(wanted)}})

    def _json(self, document: Any, code: int = 200) -> None:
        self._send(code, json.dumps(document).encode())

    def _fail(self, code: int, detail: str) -> None:
        self._json({"errors": [{"status": str(code), "detail": detail}]}, code)

    def _send(self, code: int, content: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _shown(row: dict[str, Any], behaviour: str) -> dict[str, Any]:
    if behaviour != "foreign":
        return row
    attributes = {**row["attributes"], "_other_thing": {"deep": [1]}, "_other_gap": 1.5, "new": 7}
    return {**row, "attributes": attributes, "relationships": {"x": {"data": []}}}


def _fits(given: dict[str, Any], text: str) -> bool:
    """Evaluate the part of the filter language that is used here."""
    for part in re.split(r" AND ", text):
        if part.startswith("NOT (") and part.endswith(")"):
            if _holds(given, part[5:-1]):
                return False
        elif not _holds(given, part):
            return False
    return True


def _holds(given: dict[str, Any], part: str) -> bool:
    if (match := _HAS.fullmatch(part)) is not None:
        wanted = set(re.findall(r'"([^"]+)"', match[2]))
        found = set(given["elements"])
        return wanted <= found if match[1] == "ALL" else bool(wanted & found)
    if part.startswith("chemical_formula_reduced="):
        return bool(part.partition("=")[2].strip('"') == given["chemical_formula_reduced"])
    if part.startswith("nelements="):
        return int(part.partition("=")[2]) == int(given["nelements"])
    if part.startswith("nsites<="):
        return int(given["nsites"]) <= int(part.partition("<=")[2])
    raise ValueError(part)
