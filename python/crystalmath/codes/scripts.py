"""Shell scripts of jobs: a text that lies beside the code that knows its values. Pure but for that.

Used by the codes whose programs need something done before, between or after them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

_PLACE: Final = re.compile(r"@([a-z_]+)@")
_WAITING: Final = Path(__file__).parent / "waiting.sh.in"


def filled(template: Path, values: Mapping[str, str]) -> str:
    """The script with each ``@name@`` replaced by its value, which is not searched again.

    ``@waiting@`` is the function ``wait_for_program``, the same in all scripts: it sets ``rc`` once
    the program behind ``$!`` has ended. Traps tell it of a signal by ``woken=1``, and find the
    program in ``running``.

    Parameters
    ----------
    values
        As they are to stand in the script: quoted for the shell where they are words of others.

    Raises
    ------
    KeyError
        The script has a place that no value is given for.
    """
    known = {"waiting": _text(_WAITING), **values}
    return _PLACE.sub(lambda place: known[place[1]], _text(template))


@cache
def _text(template: Path) -> str:
    return template.read_text(encoding="utf-8")
