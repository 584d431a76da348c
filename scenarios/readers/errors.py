"""The two ways in which outside data fails: a whole file (`ReadError`), or one row of it (`RowError`).

Both carry one sentence for the user. Values are quoted through `quoted`, which keeps them short and on one line.
"""

REASONS = (
    "missing",
    "not_integer",
    "not_finite",
    "negative",
    "zero_prompt",
    "zero_output",
    "not_json",
    "bad_time",
    "no_sub_requests",
    "text",
)


class ReadError(ValueError):
    """A file or an option that cannot be used at all; the message is one sentence for the user."""


class RowError(ValueError):
    """A row that cannot be used: `reason` is one of REASONS, `text` one sentence; the other rows go on."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason, self.text = reason, text


def quoted(value: object) -> str:
    """The value as a message may quote it: one line, about 60 characters, without rendering long values."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:60] + "…")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    if isinstance(value, (list, dict)):
        return f"a {'list' if isinstance(value, list) else 'JSON object'} of {len(value):,} entries"
    text = str(value)
    return text if len(text) <= 60 else text[:60] + "…"
