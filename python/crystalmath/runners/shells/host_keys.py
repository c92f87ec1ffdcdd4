"""Host keys, strictly: known ones pass, all others raise, and nothing is added silently."""

from __future__ import annotations

import base64
import os
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crystalmath.errors import Conflict, HostKeyChanged, HostKeyUnknown
from crystalmath.runners.shells.hosts import Hop
from crystalmath.runners.shells.known_hosts import (
    Entry,
    Verdict,
    fingerprint,
    judge,
    known_name,
    known_types,
    parse_known_hosts,
)


@dataclass(frozen=True, slots=True)
class HostKeyOffer:
    """The key that a host on the way offers now."""

    host: str
    name: str
    key_type: str
    sha256: str
    known: bool


class HostKeys:
    """What is known of host keys: our own file, and those that the ssh configuration names.

    Parameters
    ----------
    own
        The file that accepted keys are written to.
    """

    def __init__(self, own: Path) -> None:
        self.own = own
        self._writing = threading.Lock()

    def entries(self, hop: Hop) -> list[Entry]:
        """Read every file that counts for a hop; files that are not there are empty."""
        found: list[Entry] = []
        for place in dict.fromkeys((self.own, *hop.known_hosts)):
            try:
                text = place.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            found += parse_known_hosts(text, str(place))[0]
        return found

    def preferred_types(self, hop: Hop) -> list[str]:
        """The key types to ask a host for first."""
        return known_types(self.entries(hop), hop.key_name, hop.port)

    def check(self, hop: Hop, key_type: str, key: bytes) -> HostKeyOffer:
        """Pass a known key.

        Raises
        ------
        HostKeyUnknown, HostKeyChanged
        """
        verdict = judge(self.entries(hop), hop.key_name, hop.port, key_type, key)
        if verdict.outcome != "known":
            raise _refusal(hop, key_type, key, verdict)
        return _offer(hop, key_type, key, known=True)

    def look(self, hop: Hop, key_type: str, key: bytes) -> HostKeyOffer:
        """Return what a host offers, known or not; changed and revoked keys raise."""
        verdict = judge(self.entries(hop), hop.key_name, hop.port, key_type, key)
        if verdict.outcome in {"changed", "revoked"}:
            raise _refusal(hop, key_type, key, verdict)
        return _offer(hop, key_type, key, known=verdict.outcome == "known")

    def accept(self, hop: Hop, key_type: str, key: bytes, sha256: str) -> HostKeyOffer:
        """Write a key into our own file, if it is the one that the user has seen.

        Raises
        ------
        Conflict
            The host offers another key now.
        HostKeyChanged
            Another key of the host is known, or this one is revoked.
        """
        offer = self.look(hop, key_type, key)
        if offer.sha256 != sha256:
            raise Conflict(
                f"{hop.label} offers another key now: {offer.sha256} ({key_type}), not {sha256}",
                hint="Compare the fingerprint with what the site publishes.",
                field="fingerprint",
            )
        if not offer.known:
            name = known_name(hop.key_name, hop.port)
            self._append(f"{name} {key_type} {base64.b64encode(key).decode()}\n")
        return _offer(hop, key_type, key, known=True)

    def _append(self, line: str) -> None:
        with self._writing:
            self.own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            before = self.own.read_bytes() if self.own.exists() else b""
            if before and not before.endswith(b"\n"):
                before += b"\n"
            # By rename, so that nobody reads half a file; mkstemp makes it 0600.
            descriptor, made = tempfile.mkstemp(dir=self.own.parent, prefix=".known_hosts.")
            with os.fdopen(descriptor, "wb") as file:
                file.write(before + line.encode())
                file.flush()
                os.fsync(file.fileno())
            Path(made).replace(self.own)


def _offer(hop: Hop, key_type: str, key: bytes, *, known: bool) -> HostKeyOffer:
    name = known_name(hop.key_name, hop.port)
    return HostKeyOffer(hop.label, name, key_type, fingerprint(key), known)


def _refusal(
    hop: Hop, key_type: str, key: bytes, verdict: Verdict
) -> HostKeyUnknown | HostKeyChanged:
    offered, name = fingerprint(key), known_name(hop.key_name, hop.port)
    facts = {"host": hop.label, "name": name, "key_type": key_type, "sha256": offered}
    if verdict.outcome == "unknown":
        return HostKeyUnknown(
            f"the host key of {hop.label} is not known: {key_type} {offered}",
            hint=_unknown_hint(verdict),
            host=hop.label,
            stage="host_key",
            facts=facts,
        )
    first = verdict.entries[0]
    facts |= {"known_sha256": fingerprint(first.key), "file": first.file, "line": str(first.line)}
    where = f"{first.file}:{first.line}"
    if verdict.outcome == "revoked":
        return HostKeyChanged(
            f"the host key of {hop.label} is revoked: {key_type} {offered}, by {where}",
            hint="Ask the site for its new key. The revoked one will not be used.",
            host=hop.label,
            stage="host_key",
            facts=facts,
        )
    return HostKeyChanged(
        f"the host key of {hop.label} has changed: it offers {key_type} {offered}, "
        f"known is {fingerprint(first.key)} by {where}",
        hint="Somebody may be listening. If the site says that it has a new key: "
        f"{_forget_line(name, verdict.entries)}",
        host=hop.label,
        stage="host_key",
        facts=facts,
    )


def _unknown_hint(verdict: Verdict) -> str:
    others = sorted({entry.key_type for entry in verdict.entries})
    hint = "Compare the fingerprint with what the site publishes, then `clusters.accept_host_key`."
    if others:
        hint += f" On file are other keys of this host: {', '.join(others)}."
    if verdict.has_authority:
        hint += " The host is certified by an authority: `shell: openssh` can check that."
    return hint


def _forget_line(name: str, entries: Sequence[Entry]) -> str:
    files = dict.fromkeys(entry.file for entry in entries)
    return "; ".join(f"ssh-keygen -R '{name}' -f '{file}'" for file in files)
