"""What a value of ``config.toml``, of a variable or a flag may be. Called by ``settings``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from crystalmath.errors import ConfigError

Kind = Literal["seconds", "count", "mib", "level", "flag", "url", "databases", "folders", "secret"]
LOG_LEVELS: Final = ("debug", "info", "warning", "error")
SET: Final = "set"
"""What is shown of a secret."""
_MAY_HOLD_SECRETS: Final = ("secret", "url", "databases")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_TAKEN: Final = ("embedded", "project", "files", "materials_project", "optimade", "local", "job")
"""Names of providers that are no database of the user."""
_EXPECTED: Final[Mapping[str, str]] = {
    "seconds": "a number of seconds above 0",
    "count": "a whole number above 0",
    "mib": "a whole number of MiB, at least 64",
    "level": "one of " + ", ".join(LOG_LEVELS),
    "flag": "true or false",
    "url": "an address like https://example.org",
    "databases": "a table of names and addresses like { cod = 'https://example.org/optimade' }; "
    f"names are lower-case letters, digits and _, and not {', '.join(_TAKEN)}",
    "folders": "a list of absolute paths of folders",
    "secret": "text",
}


def check_value(kind: Kind, value: Any, where: str) -> Any:
    """Return the value as the settings hold it.

    Raises
    ------
    ConfigError
        It is of another kind.
    """
    found = _CHECKS[kind](value)
    if found is None:
        named = "this" if kind in _MAY_HOLD_SECRETS else repr(value)
        raise ConfigError(f"{where}: {named} is not {_EXPECTED[kind]}.", hint="Correct the value.")
    return found


def parse_value(kind: Kind, text: str, where: str) -> Any:
    """The same of the text of a variable."""
    if kind in ("level", "url", "secret"):
        return check_value(kind, text, where)
    if kind == "flag":
        words = {"1": True, "true": True, "0": False, "false": False}
        return check_value(kind, words.get(text.lower(), text), where)
    if kind == "folders":
        return check_value(kind, [part for part in text.split(":") if part], where)
    if kind == "databases":
        pairs = [item.partition("=") for item in text.split()]
        return check_value(kind, {name: url for name, _, url in pairs}, where)
    try:
        return check_value(kind, float(text) if kind == "seconds" else int(text), where)
    except ValueError:
        raise ConfigError(
            f"{where}: {text!r} is not a number.", hint="Correct the value."
        ) from None


def shown(kind: Kind, value: Any) -> Any:
    """What may be shown of a value: of a secret whether there is one."""
    if kind == "secret":
        return SET if value else None
    return value


def _seconds(value: Any) -> float | None:
    return float(value) if _is_number(value) and 0 < value < 1e9 else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and _is_number(value) and 0 < value <= 100_000 else None


def _mib(value: Any) -> int | None:
    return value if isinstance(value, int) and _is_number(value) and 64 <= value <= 10**8 else None


def _level(value: Any) -> str | None:
    return value if value in LOG_LEVELS else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _url(value: Any) -> str | None:
    if not isinstance(value, str) or not value.isprintable():
        return None
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and parts.hostname and not parts.password
        good = good and parts.port != 0
    except ValueError:  # the port is no number
        return None
    return value if good and not parts.query and not parts.fragment else None


def _databases(value: Any) -> dict[str, str] | None:
    """Names and addresses; an empty address stands for a database that is not asked."""
    if not isinstance(value, dict):
        return None
    for name, url in value.items():
        if not _NAME.fullmatch(name) or name in _TAKEN or (url != "" and _url(url) is None):
            return None
    return dict(value)


def _folders(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(path, str) for path in value):
        return None
    paths = [Path(path).expanduser() for path in value]
    return tuple(map(str, paths)) if all(path.is_absolute() for path in paths) else None


def _secret(value: Any) -> str | None:
    return value.strip() if isinstance(value, str) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_CHECKS: Final[Mapping[Kind, Callable[[Any], Any]]] = {
    "seconds": _seconds,
    "count": _count,
    "mib": _mib,
    "level": _level,
    "flag": _flag,
    "url": _url,
    "databases": _databases,
    "folders": _folders,
    "secret": _secret,
}
