"""What is staged and collected: the names that CRYSTAL uses in its directory, and ours. Pure data.

Names of work files are the program's; endings go behind the stem of the deck's name.
"""

from __future__ import annotations

from typing import Final

DECKS: Final = (".d12", ".d3")
WAVE_DECK, PROPERTIES_DECK = DECKS

STAGED: Final = {
    ".gui": "fort.34",
    ".f9": "fort.20",
    ".f98": "fort.98",
    ".f13": "fort.13",
    ".hessopt": "HESSOPT.DAT",
    ".optinfo": "OPTINFO.DAT",
    ".freqinfo": "FREQINFO.DAT",
    ".born": "BORN.DAT",
}
"""Ending → name in the directory of a calculation."""

STAGED_FOR_PROPERTIES: Final = {**STAGED, ".f9": "fort.9"}
"""Of properties: the wave function itself, not a guess."""

COLLECTED: Final = {
    "fort.9": ".f9",
    "fort.98": ".f98",
    "fort.13": ".f13",
    "fort.25": ".f25",
    "fort.33": ".xyz",
    "fort.34": ".gui",
    "HESSOPT.DAT": ".hessopt",
    "OPTINFO.DAT": ".optinfo",
    "FREQINFO.DAT": ".freqinfo",
    "BORN.DAT": ".born",
    "SCFOUT.LOG": ".scflog",
    "PPAN.DAT": ".ppan",
    "BAND.DAT": ".BAND",
    "DOSS.DAT": ".DOSS",
    "IRSPEC.DAT": ".IRSPEC",
    "RAMSPEC.DAT": ".RAMSPEC",
}
"""Name in the directory → ending; any other ``NAME.DAT`` gets the ending ``.NAME``."""

STORY: Final = ".optstory"
"""Ending of the folder with the geometries of an optimisation."""
STORY_FILES: Final = ("opta[0-9]*", "optc[0-9]*")
ON_FAILURE: Final = ("fort.87", "ERROR", "ERROR.*")
"""Kept under their names: they tell what went wrong."""

NEEDS: Final = {
    "EXTERNAL": (".gui",),
    "GUESSP": (".f9",),
    "GUESSF": (".f9",),
    "HESSOPT": (".hessopt",),
    "RDFMWF": (".f98",),
}
"""Keyword of a deck → files without which the program stops."""
RESTARTED: Final = {"OPTGEOM": ".optinfo", "FREQCALC": ".freqinfo"}
"""Block that holds RESTART → the file that it goes on from."""
