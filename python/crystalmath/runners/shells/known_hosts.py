"""Reading known_hosts files: line by line, by OpenSSH's rules. Pure.

Own code, because paramiko loads nothing at all from a file with one marker line.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from crystalmath.runners.shells.hosts import DEFAULT_PORT

Marker = Literal["", "cert-authority", "revoked"]

_MARKERS: Final[dict[str, Marker]] = {"@cert-authority": "cert-authority", "@revoked": "revoked"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line.

    Attributes
    ----------
    names
        The first field: patterns separated by commas, or one hashed name.
    """

    file: str
    line: int
    names: str
    key_type: str
    key: bytes
    marker: Marker = ""

    def covers(self, name: str, port: int) -> bool:
        """Whether the line speaks of this host."""
        return matches(self.names, known_name(name, port))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the files say about a key that a host offers.

    Attributes
    ----------
    entries
        The lines it rests on.
    """

    outcome: Literal["known", "unknown", "changed", "revoked"]
    entries: tuple[Entry, ...] = ()
    has_authority: bool = False


def fingerprint(key: bytes) -> str:
    """SHA256 fingerprint as ``ssh-keygen -l`` prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")


def known_name(name: str, port: int) -> str:
    """How a host is called in these files: ``host``, or ``[host]:port`` for an unusual port."""
    return name.lower() if port == DEFAULT_PORT else f"[{name.lower()}]:{port}"


def parse_known_hosts(text: str, file: str) -> tuple[list[Entry], int]:
    """Read a file; returns its entries and the number of lines that are no entry."""
    entries: list[Entry] = []
    garbage = 0
    for number, written in enumerate(text.split("\n"), 1):
        line = written.strip()
        if not line or line.startswith("#"):
            continue
        entry = _parse_line(line, file, number)
        if entry is None:
            garbage += 1
        else:
            entries.append(entry)
    return entries, garbage


def _parse_line(line: str, file: str, number: int) -> Entry | None:
    fields = line.split(None, 4)
    marker: Marker = ""
    if fields[0].startswith("@"):
        if fields[0] not in _MARKERS:
            return None
        marker = _MARKERS[fields.pop(0)]
    if len(fields) < 3:
        return None
    names, key_type, encoded = fields[:3]
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
    # A key blob begins with its own type: the line must not say another.
    length = int.from_bytes(key[:4], "big")
    if key[4 : 4 + length] != key_type.encode("ascii", "replace"):
        return None
    return Entry(file, number, names, key_type, key, marker)


def matches(names: str, name: str) -> bool:
    """Whether the first field of a line speaks of a host."""
    if names.startswith("|1|"):
        return _matches_hash(names, name)
    found = False
    for pattern in names.split(","):
        wanted = not pattern.startswith("!")
        if _pattern(pattern.removeprefix("!").lower()).fullmatch(name):
            if not wanted:
                return False
            found = True
    return found


def _pattern(text: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(c, re.escape(c)) for c in text), re.DOTALL)


def _matches_hash(names: str, name: str) -> bool:
    parts = names.split("|")
    if len(parts) != 4:
        return False
    try:
        salt, wanted = (base64.b64decode(part, validate=True) for part in parts[2:])
    except (binascii.Error, ValueError):
        return False
    made = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return hmac.compare_digest(made, wanted)


def judge(entries: Sequence[Entry], name: str, port: int, key_type: str, key: bytes) -> Verdict:
    """Judge the key that a host offers."""
    ours = [entry for entry in entries if entry.covers(name, port)]
    for entry in ours:
        if entry.marker == "revoked" and entry.key == key:
            return Verdict("revoked", (entry,))
    authority = any(entry.marker == "cert-authority" for entry in ours)
    plain = [entry for entry in ours if not entry.marker]
    if port != DEFAULT_PORT and not plain:
        # As OpenSSH: the same key under the name without a port will do.
        bare = [e for e in entries if not e.marker and e.covers(name, DEFAULT_PORT)]
        plain = [entry for entry in bare if entry.key == key]
        revoked = [e for e in entries if e.marker == "revoked" and e.covers(name, DEFAULT_PORT)]
        if any(entry.key == key for entry in revoked):
            return Verdict("revoked", tuple(revoked))
    same = tuple(entry for entry in plain if entry.key == key)
    if same:
        return Verdict("known", same, authority)
    of_type = tuple(entry for entry in plain if entry.key_type == key_type)
    if of_type:
        return Verdict("changed", of_type, authority)
    return Verdict("unknown", tuple(plain), authority)


def known_types(entries: Iterable[Entry], name: str, port: int) -> list[str]:
    """Key types on file for a host: those are to be asked for first."""
    found = [e.key_type for e in entries if not e.marker and e.covers(name, port)]
    return list(dict.fromkeys(found))
