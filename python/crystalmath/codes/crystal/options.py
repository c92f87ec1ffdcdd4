"""The ``inputs`` of a job of the code ``crystal``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field, StringConstraints

from crystalmath.codes.options import Options

TASKS: Final = ("scf", "optimisation", "frequencies", "elastic", "eos", "properties")
"""What a deck asks for, by its blocks; ``properties`` is a deck of the program properties."""

_ABSOLUTE: Final = r"^/[^\x00]*$"
_Absolute = Annotated[str, StringConstraints(pattern=_ABSOLUTE, max_length=4096)]


class CrystalOptions(Options):
    """``inputs`` of the code ``crystal``; the physics stands in the deck."""

    FORMS: ClassVar[Mapping[str, str]] = {_ABSOLUTE: "must be an absolute path"}
    deck: str | None = Field(
        default=None,
        max_length=1024,
        description="Which of the files is the deck; the first one that ends in .d12, else .d3, "
        "if absent.",
    )
    auxiliary: tuple[_Absolute, ...] = Field(
        default=(),
        max_length=20,
        strict=False,
        description="Files that the run starts from, whatever their names; the ending says what "
        "each is: .f9 .gui .f98 .f13 .hessopt .optinfo .freqinfo .born.",
    )
    executable: _Absolute | None = Field(
        default=None,
        description="The program, or the directory that holds crystalOMP, PcrystalOMP and "
        "properties; found by CRY23_ROOT, CRY_ARCH and CRY_VERSION, else in PATH, if absent.",
    )
    options: dict[str, Any] | None = Field(
        default=None,
        description="With a structure and no deck: the options of `materials.generate_d12`, which "
        "writes the deck.",
    )
