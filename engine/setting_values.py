"""Values of settings as they come from outside: a file, a link, a shell, a form.

Numbers and truth values may come as text. A value that is not of its type is answered with one sentence that names it.
"""

import re
from math import isfinite
from typing import Any

_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class SettingsError(ValueError):
    """A setting that cannot be used; the message is one sentence for the user."""


def coerced(name: str, value: Any, kind: str, is_optional: bool) -> Any:
    """The value in the type of the field, `kind`: str, bool, int, float or tuple (of whole numbers)."""
    text = value.strip().lower() if isinstance(value, str) else value
    if kind.startswith("tuple") and text in ("", "none", None):
        return ()
    if text in ("none", None):
        if is_optional:
            return None
        raise SettingsError(f"{name} needs a value.")
    if kind == "str":
        return str(value)
    if kind == "bool":
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise SettingsError(f"{name} is {shown(value)}; write true or false.")
    if kind.startswith("tuple"):
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, (list, tuple)):
            raise SettingsError(f"{name} is {shown(value)}; give a list of whole numbers.")
        return tuple(_number(name, part, whole=True) for part in parts)
    return _number(name, value, whole=kind.startswith("int"))


def _number(name: str, value: Any, whole: bool) -> int | float:
    problem = SettingsError(f"{name} is {shown(value)}; give a {'whole ' if whole else ''}number.")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise problem
    if isinstance(value, str) and not (_WHOLE if whole else _DECIMAL).fullmatch(value.strip()):
        raise problem
    try:
        number = int(value) if whole and not isinstance(value, float) else float(value)
        if isinstance(number, float) and (not isfinite(number) or (whole and not number.is_integer())):
            raise problem
    except (ValueError, OverflowError):
        raise problem from None
    return int(number) if whole else number


def shown(value: Any) -> str:
    """The value as a user wrote it, cut when it is long; text stands in quotes."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:60] + "…")
    text = _digits(value) if isinstance(value, int) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _digits(number: int) -> str:
    """A whole number as text; one of thousands of digits only by its size."""
    return str(number) if abs(number) < 10**60 else f"a number of about {int(number.bit_length() * 0.30103)} digits"
