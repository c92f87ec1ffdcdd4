"""The outputs of VASP on disk: which they are, and how much of them is read.

Follows no link in a job directory, where a program may have put anything. Used by ``adapter``,
``foreign`` and ``proceed``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crystalmath.codes import outputs
from crystalmath.codes.outputs import open_regular, read_head
from crystalmath.codes.tail import read_tail
from crystalmath.codes.vasp.output.run import Run
from crystalmath.codes.vasp.output.vasprun import parse_vasprun

VASPRUN: Final = "vasprun.xml"
OUTCAR: Final = "OUTCAR"
OSZICAR: Final = "OSZICAR"
TAIL_BYTES: Final = 256 * 1024
_BANNER: Final = re.compile(rb"<modeling>.{0,400}?<generator>.{0,400}?\bvasp\b", re.DOTALL)
_OUTCAR_BANNER: Final = re.compile(rb"^ ?vasp\.[0-9]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Words:
    """What the texts beside vasprun.xml say.

    Attributes
    ----------
    scf_reached
        Whether the last electronic loop says that it reached EDIFF; None where it says nothing.
    relaxed
        VASP says that the structure is relaxed.
    stopped
        It was told to stop by STOPCAR.
    finished
        OUTCAR has its timing, the last that VASP writes.
    text
        The ends of standard output and OUTCAR.
    """

    scf_reached: bool | None = None
    relaxed: bool = False
    stopped: bool = False
    finished: bool | None = None
    text: str = ""


def sniff(head: bytes) -> bool:
    """Whether a file begins as a vasprun.xml does."""
    return _BANNER.search(head[:4096]) is not None


def find_vasprun(directory: Path) -> Path | None:
    """The vasprun.xml of a directory."""
    path = directory / VASPRUN
    return path if outputs.is_output(path, sniff) else None


def meant_vasprun(path: Path) -> Path | None:
    """The vasprun.xml that a path means: itself, the one of a directory, or beside an OUTCAR."""
    if path.is_dir():
        return find_vasprun(path)
    resolved = path.resolve()
    if outputs.is_output(resolved, sniff):
        return resolved
    head, _ = read_head(resolved, 4096)
    return find_vasprun(resolved.parent) if _OUTCAR_BANNER.search(head) else None


def load_run(path: Path) -> Run:
    """Read a vasprun.xml; an empty result when there is none."""
    stream = open_regular(path)
    if stream is None:
        return Run()
    with stream:
        return parse_vasprun(stream)


def load_words(directory: Path) -> Words:
    """Read the ends of what VASP wrote beside its vasprun.xml."""
    outcar = read_tail(directory / OUTCAR, TAIL_BYTES)
    printed = read_tail(directory / outputs.STDOUT, TAIL_BYTES)
    both = f"{printed}\n{outcar}"
    loops = re.findall(r"aborting loop (?:because )?EDIFF (is|was not) reached", outcar)
    return Words(
        scf_reached=loops[-1] == "is" if loops else None,
        relaxed="reached required accuracy - stopping structural energy minimisation" in both,
        stopped=re.search(r"(?:soft|hard) stop encountered", both) is not None,
        finished="General timing and accounting informations for this job" in outcar
        if outcar
        else None,
        text=both,
    )
