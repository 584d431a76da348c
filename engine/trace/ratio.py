"""A share of nothing is missing: not 0, not NaN, and it enters no average."""


def ratio(part: float, whole: float) -> float | None:
    """part / whole; None where `whole` is 0."""
    return part / whole if whole else None
