"""The ``inputs`` of a job of the code ``espresso``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from pydantic import Field, StringConstraints

from crystalmath.codes.options import Options

TASKS: Final = ("scf", "nscf", "bands", "relax", "vc-relax", "md", "vc-md")
"""What ``calculation`` may be."""
MOVING: Final = frozenset({"relax", "vc-relax", "md", "vc-md"})
RELAXING: Final = frozenset({"relax", "vc-relax"})
NEEDS_DENSITY: Final = frozenset({"nscf", "bands"})
"""They start from the charge density of an scf run."""

_ABSOLUTE: Final = r"^/[^\x00]*$"
_KEY: Final = r"^[a-z]\w{0,30}\.[a-z][\w%]{0,60}(\([0-9, ]{1,20}\))?$"
_ONE_LINE: Final = r"^[^\x00-\x1f\x7f]*$"
_Absolute = Annotated[str, StringConstraints(pattern=_ABSOLUTE, max_length=4096)]
_Key = Annotated[str, StringConstraints(pattern=_KEY, max_length=120)]
_Text = Annotated[str, StringConstraints(pattern=_ONE_LINE, max_length=1000)]


class EspressoOptions(Options):
    """``inputs`` of the code ``espresso``; the physics stands in the deck."""

    FORMS: ClassVar[Mapping[str, str]] = {
        _ABSOLUTE: "must be an absolute path",
        _KEY: "the name must be namelist.variable in lower case, like electrons.mixing_beta",
        _ONE_LINE: "must be one line without control characters",
    }
    deck: str | None = Field(
        default=None,
        max_length=1024,
        description="Which of the files is the deck; the first one that ends in .in, .pwi or .pw "
        "if absent.",
    )
    values: dict[_Key, bool | int | float | _Text] = Field(
        default_factory=dict,
        max_length=200,
        description="Values to set in the deck, e.g. electrons.mixing_beta: 0.3.",
    )
    save_from: _Absolute | None = Field(
        default=None,
        description="Directory that holds PREFIX.save of an scf run, or one whose out/ does; "
        "needed by nscf and bands.",
    )
    executable: _Absolute | None = Field(
        default=None, description="The program pw.x; looked up in PATH if absent."
    )
    npool: int | None = Field(
        default=None, ge=1, le=100_000, description="Pools of k points (-npool)."
    )
