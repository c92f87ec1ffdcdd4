"""What a host is like: asked in one command. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final

from crystalmath.runners.shells.places import expanded
from crystalmath.services.ports_shell import Ran

PROBE: Final = """\
echo "home $HOME"
echo "user $(id -un)"
echo "shell ${SHELL:-?}"
echo "system $(uname -srm)"
echo "node $(uname -n)"
echo "time $(date +%s.%N)"
for p in rsync tar sha256sum shasum openssl sbatch nohup setsid python3; do
  if command -v $p >/dev/null 2>&1; then echo "has $p"; fi
done
"""


def read_facts(ran: Ran) -> dict[str, str]:
    """Read the answer of :data:`PROBE`; programs that are there have the value ``yes``."""
    facts: dict[str, str] = {}
    for line in ran.out_text().split("\n"):
        word, _, rest = line.partition(" ")
        if word == "has":
            facts[rest] = "yes"
        elif word:
            facts[word] = rest
    return facts


def clock_offset_s(facts: Mapping[str, str], sent_at: float, back_at: float) -> float:
    """The host's clock minus ours; half the round trip is the uncertainty.

    Some systems know no nanoseconds and write a letter: then the seconds have to do.
    """
    text = facts.get("time", "")
    whole, _, part = text.partition(".")
    if not whole.isdigit():
        return 0.0
    middle = (sent_at + back_at) / 2
    if part.isdigit():
        return float(text) - middle
    offset = float(whole) + 0.5 - middle
    return 0.0 if abs(offset) <= 0.5 else offset


def noise_lines(noise: bytes) -> tuple[str, ...]:
    """The lines that start-up files print."""
    lines = (line.strip() for line in noise.decode("utf-8", "replace").splitlines())
    return tuple(line for line in lines if line)[:20]


def scratch_script(directory: str) -> str:
    """Write, read and remove a file; makes the directory, if it was not there, and removes it."""
    place = expanded(directory)
    return f"""\
made=; if [ ! -d {place} ]; then mkdir -p {place} || exit 1; made=1; fi
cd {place} || exit 1
f=.cm-test.$$
echo crystalmath >"$f" && [ "$(cat "$f")" = crystalmath ]; rc=$?
rm -f "$f"
printf 'path %s\\n' "$(pwd -P)"
echo "free $(df -Pk . | awk 'NR==2 {{print $4}}')"
if [ -n "$made" ]; then cd / && rmdir {place}; fi
exit $rc
"""


def program_script(programs: Mapping[str, str]) -> str:
    """Find executables: name → path or word, as in ``codes`` of a cluster."""
    lines = []
    for name, program in programs.items():
        lines.append(
            f"p=$(command -v {expanded(program)} 2>/dev/null) && "
            f"printf '%s %s\\n' {shlex.quote(name)} \"$p\""
        )
    return "\n".join([*lines, ":"])
