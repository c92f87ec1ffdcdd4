"""The commands around a transfer, and what they answer. Pure.

Each answer is a line; files are known by their number, so no name needs to be read back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from crystalmath.runners.shells.places import expanded, literal
from crystalmath.runners.shells.transfer.carriers import Source
from crystalmath.services.ports_shell import Get

PART: Final = ".part"
CHECKSUM_UP_TO_BYTES: Final = 64 * 1024 * 1024

_FUNCTIONS: Final = """\
if command -v sha256sum >/dev/null 2>&1; then
  cm_sha() { cm=$(sha256sum <"$1"); cm=${cm%% *}; }
elif command -v shasum >/dev/null 2>&1; then
  cm_sha() { cm=$(shasum -a 256 <"$1"); cm=${cm%% *}; }
elif command -v openssl >/dev/null 2>&1; then
  cm_sha() { cm=$(openssl dgst -sha256 <"$1"); cm=${cm##* }; }
else
  cm_sha() { cm=none; }
fi
cm_size() { cm=-1; [ -f "$1" ] && cm=$(wc -c <"$1") && cm=$((cm)); }
cm_stat() { stat -L -c '%s %Y %i' "$1" 2>/dev/null || stat -L -f '%z %m %i' "$1"; }
cm_same() {
  cm_size "$1"; [ "$cm" = "$2" ] || return 1
  cm_sha "$1"; [ "$cm" = "$3" ] || [ "$cm" = none ]
}
"""
"""Results are in ``$cm``: a subshell less for each file."""

_HEX: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the host has before an upload.

    Attributes
    ----------
    free_bytes
        None when the host does not say.
    parts, done
        By number: bytes of a part that is there; files that are there already, whole.
    """

    directory: str
    free_bytes: int | None
    parts: Mapping[int, int] = field(default_factory=dict)
    done: frozenset[int] = frozenset()


def prepare_script(sources: Sequence[Source], into: PurePosixPath) -> str:
    """Make the directories, and see what an earlier try has left."""
    parents = {str(source.put.path.parent) for source in sources} - {"."}
    lines = [
        _FUNCTIONS,
        "umask 077",
        f"mkdir -p {expanded(into)} && cd {expanded(into)} || exit 74",
        *(f"mkdir -p {literal(parent)} || exit 74" for parent in sorted(parents)),
        'printf "dir %s\\n" "$(pwd -P)"',
        "echo \"free $(df -Pk . | awk 'NR==2 {print $4}')\"",
    ]
    for number, source in enumerate(sources):
        path, part = literal(source.put.path), literal(f"{source.put.path}{PART}")
        lines.append(
            f'if [ -f {part} ]; then cm_size {part}; echo "part {number} $cm"; fi\n'
            f"if cm_same {path} {source.size} {source.sha256} && "
            f'[ "$cm" != none ]; then echo "done {number}"; fi'
        )
    lines.append(":")
    return "\n".join(lines)


def read_prepared(text: str) -> Prepared | None:
    """Read the answer; None when it is no answer."""
    directory, free, parts, done = None, None, dict[int, int](), set[int]()
    for line in text.split("\n"):
        word, _, rest = line.partition(" ")
        if word == "dir":
            directory = rest
        elif word == "free" and rest.isdigit():
            free = int(rest) * 1024
        elif word == "part":
            number, _, size = rest.partition(" ")
            if size.isdigit():
                parts[int(number)] = int(size)
        elif word == "done":
            done.add(int(rest))
    if directory is None:
        return None
    return Prepared(directory, free, parts, frozenset(done))


def finish_script(directory: str, numbered: Sequence[tuple[int, Source]]) -> str:
    """Compare each part with its checksum, and only then give it its name."""
    lines = [_FUNCTIONS, f"cd {literal(directory)} || exit 74"]
    for number, source in numbered:
        path, part = literal(source.put.path), literal(f"{source.put.path}{PART}")
        lines.append(
            f"if cm_same {part} {source.size} {source.sha256}; then "
            f"if [ -d {path} ]; then echo 'taken {number}'; "
            f"elif chmod {source.put.mode:o} {part} && mv -f {part} {path}; "
            f"then echo 'ok {number}'; else echo 'stuck {number}'; fi; "
            f"else echo 'bad {number}'; fi"
        )
    return "\n".join(lines)


def read_finished(text: str) -> dict[int, str]:
    """By number: ``ok``, ``bad`` (not what was sent), ``taken`` (a directory), ``stuck``."""
    found = {}
    for line in text.split("\n"):
        words = line.split(" ")
        if len(words) >= 2 and words[0] in {"ok", "bad", "taken", "stuck"} and words[1].isdigit():
            found[int(words[1])] = words[0]
    return found


def remove_script(directory: str, names: Sequence[PurePosixPath]) -> str:
    """Remove parts."""
    parts = " ".join(literal(f"{name}{PART}") for name in names)
    return f"cd {literal(directory)} && rm -f {parts}"


def full_script(directory: str) -> str:
    """See whether anything can still be written: SFTP and ``cat`` do not always say why not."""
    return (
        f"cd {literal(directory)} || exit 74\n"
        "dd if=/dev/zero of=.cm-room.part bs=65536 count=4 2>&1; rc=$?; rm -f .cm-room.part\n"
        "exit $rc"
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """A file of the host; ``inode`` tells whether it is still the same one."""

    size: int
    mtime: int
    inode: str

    @property
    def identity(self) -> str:
        """What a part must belong to, to be resumed."""
        return f"{self.size} {self.mtime} {self.inode}"


def look_script(gets: Sequence[Get], appear_s: float) -> str:
    """Look at files; a required one that is not there is looked for again, for a while.

    Listing the directory makes NFS clients forget that it was not there.
    """
    lines = [_FUNCTIONS, f"cm_until=$(( $(date +%s) + {int(appear_s)} ))"]
    for number, get in enumerate(gets):
        path, parent = literal(get.remote), literal(get.remote.parent)
        if get.required:
            lines.append(
                f'while [ ! -e {path} ] && [ "$(date +%s)" -lt "$cm_until" ]; '
                f"do ls {parent} >/dev/null 2>&1; sleep 1; done"
            )
        lines.append(f'if [ -f {path} ]; then printf "file {number} "; cm_stat {path}; fi')
    lines.append(":")
    return "\n".join(lines)


def read_seen(text: str) -> dict[int, Seen]:
    """Read what was seen, by number."""
    found = {}
    for line in text.split("\n"):
        words = line.split(" ")
        if len(words) == 5 and words[0] == "file":
            found[int(words[1])] = Seen(int(words[2]), int(words[3]), words[4])
    return found


def confirm_script(numbered: Sequence[tuple[int, Get, bool]]) -> str:
    """Look at fetched files again, with their checksums where asked for."""
    lines = [_FUNCTIONS]
    for number, get, checksum in numbered:
        path = literal(get.remote)
        lines.append(f'printf "file {number} "; cm_stat {path}')
        if checksum:
            lines.append(f'cm_sha {path}; echo "sha {number} $cm"')
    lines.append(":")
    return "\n".join(lines)


def read_checksums(text: str) -> dict[int, str]:
    """Read checksums, by number; files without one are left out."""
    found = {}
    for line in text.split("\n"):
        words = line.split(" ")
        if len(words) == 3 and words[0] == "sha" and _HEX.fullmatch(words[2]):
            found[int(words[1])] = words[2]
    return found
