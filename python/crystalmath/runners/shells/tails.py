"""Reading on in files that grow: all of them in one command, exact to the byte. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from crystalmath.runners.shells.places import literal
from crystalmath.services.ports_shell import Tail, TailFrom

_FUNCTION: Final = """\
cm_tail() {
  if [ ! -f "$1" ]; then echo "TOKEN none"; return; fi
  set -- "$1" "$2" "$3" "$4" $(stat -L -c '%i:%W %s' "$1" 2>/dev/null ||
    stat -L -f '%i:%B %z' "$1")
  i=$5; n=$6; o=$2
  if [ "$o" -lt 0 ]; then o=$((n + o)); [ "$o" -ge 0 ] || o=0; fi
  if [ -n "$4" ] && { [ "$4" != "$i" ] || [ "$n" -lt "$o" ]; }; then o=0; fi
  [ "$o" -le "$n" ] || o=$n
  c=$((n - o)); [ "$c" -le "$3" ] || c=$3
  echo "TOKEN file $i $n $o"
  if [ "$c" -gt 0 ]; then tail -c +$((o + 1)) "$1" | head -c "$c"; fi
}
"""


def tail_script(wants: Sequence[TailFrom], token: str) -> str:
    """Return the command that reads on in every file.

    A file of another identity, or one that has shrunk, is read from its start; an offset past the
    end gives nothing, and a negative one counts from the end.
    """
    lines = [_FUNCTION.replace("TOKEN", token)]
    for want in wants:
        identity = want.identity or ""
        known = identity if identity.replace(":", "").replace("-", "").isalnum() else ""
        lines.append(f"cm_tail {literal(want.path)} {want.offset} {want.max_bytes} '{known}'")
    lines.append(f"echo {token} end")
    return "\n".join(lines)


def sizes_script(wants: Sequence[TailFrom]) -> str:
    """Return the command that looks at all files at once, with one process for all of them."""
    paths = " ".join(literal(want.path) for want in wants)
    return f"""if stat -L -c %s / >/dev/null 2>&1; then stat -L -c '%i:%W %s %n' {paths}
else stat -L -f '%i:%B %z %N' {paths}; fi 2>/dev/null
:"""


def read_unchanged(out: bytes, wants: Sequence[TailFrom]) -> dict[PurePosixPath, Tail]:
    """The files that are as they were when the last byte that is known was read."""
    found = set(out.decode("utf-8", "replace").splitlines())
    return {
        want.path: Tail(want.path, want.offset, b"", want.offset, want.identity)
        for want in wants
        if f"{want.identity} {want.offset} {want.path}" in found
    }


def read_tails(out: bytes, wants: Sequence[TailFrom], token: str) -> list[Tail] | None:
    """Read the answer; None when it is not whole."""
    mark = token.encode() + b" "
    # What stands before the first mark is nothing; each block is one line and its bytes.
    blocks = out.split(mark)[1:]
    if len(blocks) != len(wants) + 1 or blocks[-1] != b"end\n":
        return None
    tails = []
    for want, block in zip(wants, blocks, strict=False):
        head, _, data = block.partition(b"\n")
        words = head.decode("ascii", "replace").split(" ")
        if words[0] == "none":
            tails.append(Tail(want.path, 0, b"", None, None))
        elif len(words) == 4 and words[2].isdigit() and words[3].isdigit():
            tails.append(Tail(want.path, int(words[3]), data, int(words[2]), words[1]))
        else:
            return None
    return tails
