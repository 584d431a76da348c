"""Reading named values from outside JSON, each checked for type and range before anything is built from it.

`Fields` wraps one object of a file and answers every bad value with one `ScenarioError` sentence that says where it
stands, what it is, and what would be right. It knows nothing about scenarios; `scenario.py` and `request_fields.py`
say which names exist.
"""

from collections.abc import Iterable, Mapping
from reprlib import Repr
from typing import Any

MAX_TEXT = 10_000
MAX_SHOWN = 60
HALF_CHARACTERS = "it has a surrogate that stands alone, which is half a character; write the whole one"


class ScenarioError(ValueError):
    """A scenario, a workload or a file that cannot be used; the message is one sentence for the user."""


def shown(value: Any) -> str:
    """The value as a message may quote it: one line, about 60 characters, however large or deep it is."""
    if isinstance(value, str):
        return repr(shortened(value))
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    return shortened(_SHORT.repr(value))


def shown_path(path: object) -> str:
    """A path in quotes; of a long one the end, which tells it from others."""
    text = str(path)
    return repr(text if len(text) <= MAX_SHOWN else "…" + text[-MAX_SHOWN:])


def shortened(text: str) -> str:
    """The text, or its first 60 characters and a sign that there are more."""
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold the text; JSON can also give halves of characters (lone surrogates), which no file can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Fields:
    """One JSON object; `where` names it in messages, `allowed` are the keys it may have."""

    def __init__(self, data: Any, where: str, allowed: Iterable[str]) -> None:
        if not isinstance(data, Mapping):
            raise ScenarioError(f"{where} is {shown(data)}; it has to be an object with named values.")
        names = tuple(allowed)
        for key in data:
            if key not in names:
                raise ScenarioError(f"{where} has the unknown key {shown(key)}; known are {', '.join(names)}.")
        self.data, self.where = data, where

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def problem(self, key: str, what: str) -> ScenarioError:
        return ScenarioError(f"{self.where}: {key} is {shown(self.data.get(key))}; {what}.")

    def required(self, key: str) -> Any:
        if key not in self:
            raise ScenarioError(f"{self.where}: {key} is missing.")
        return self.data[key]

    def text(self, key: str, default: str | None = None, limit: int = MAX_TEXT) -> str:
        """A text of at most `limit` characters without line breaks or other control characters."""
        value = self.required(key) if default is None else self.data.get(key, default)
        if not isinstance(value, str) or len(value) > limit or not value.isprintable():
            raise self.problem(key, f"it has to be one line of text of at most {limit:,} characters")
        return value

    def id(self, key: str) -> str:
        """Any text of at most `MAX_TEXT` characters that is not empty: ids come from files and are shown escaped."""
        value = self.required(key)
        if not isinstance(value, str) or not 0 < len(value) <= MAX_TEXT:
            raise self.problem(key, f"it has to be a text of 1 to {MAX_TEXT:,} characters")
        if not is_unicode(value):
            raise self.problem(key, HALF_CHARACTERS)
        return value

    def name(self, key: str) -> str:
        """A text that can stand in a link, a heading and a file name."""
        value = self.text(key, limit=100)
        if not value.strip() or "/" in value or "\\" in value:
            raise self.problem(key, "it needs at least one letter and no slash")
        return value

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int:
        value = self.required(key) if default is None else self.data.get(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            limits = f"{low:,}" if low == high else f"a whole number from {low:,} to {high:,}"
            raise self.problem(key, f"it has to be {limits}")
        return value

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        value = self.required(key) if default is None else self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise self.problem(key, f"it has to be a number from {low:,} to {high:,}")
        return float(value)

    def items(self, key: str, limit: int) -> list[Any]:
        """A list of at most `limit` entries."""
        value = self.required(key)
        if not isinstance(value, (list, tuple)):
            raise self.problem(key, "it has to be a list")
        if len(value) > limit:
            raise ScenarioError(f"{self.where}: {key} has {len(value):,} entries; at most {limit:,} are allowed.")
        return list(value)

    def message(self, key: str, limit: int = MAX_TEXT) -> dict[str, str]:
        """A text in languages, {"en": ..., "zh": ...}; a plain text is the English one."""
        value = self.data.get(key, "")
        texts = Fields({"en": value} if isinstance(value, str) else value, f"{self.where}: {key}", ("en", "zh"))
        return {language: _prose(texts, language, limit) for language in ("en", *(k for k in texts.data if k != "en"))}


def _prose(texts: Fields, language: str, limit: int) -> str:
    value = texts.required(language)
    if not isinstance(value, str) or len(value) > limit:
        raise texts.problem(language, f"it has to be a text of at most {limit:,} characters")
    if not is_unicode(value):
        raise texts.problem(language, HALF_CHARACTERS)
    return value


_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 2 * MAX_SHOWN
_SHORT.maxlevel = 4
