"""The operations of a file: their names and operands, checked before anything is done, and what they add up to.

Sums over a list of operations, such as the memory that a run would take, are taken without running it. Running them is
the business of `ops.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from engine.settings import Settings
from scenarios.fields import MAX_TEXT, ScenarioError, is_unicode, shown
from scenarios.memory import Need
from scenarios.token_ids import bad_token

Op = Sequence[Any]

OPERANDS = {
    "allocate": ("name", "tokens"),
    "append": ("name", "tokens"),
    "fork": ("name", "name"),
    "free": ("name",),
    "match": ("tokens",),
    "evict": ("count",),
}
RADIX_OPERANDS = {
    "insert": ("words",),
    "match": ("words",),
    "lock": ("name", "words"),
    "unlock": ("name",),
    "evict": ("count",),
}
"""The operations of a run with kv_manager "radix"."""
MAX_TOKENS = 10_000_000
"""Of one operation."""
MAX_LENGTH = 2**31 - 1
"""Tokens of one sequence."""


def read_ops(ops: Iterable[Any], operands_of: Mapping[str, tuple[str, ...]] = OPERANDS) -> list[Op]:
    """All operations, by their names and kinds of operands. Raises ScenarioError for the first that is not well formed, or makes a sequence too long."""
    checked_ops: list[Op] = []
    lengths: dict[str, int] = {}
    for number, op in enumerate(ops):
        verb, *operands = checked(op, number, operands_of)
        checked_ops.append(op)
        if verb == "allocate":
            lengths.setdefault(operands[0], num_tokens_of(operands[1]))
        elif verb == "fork":
            lengths.setdefault(operands[1], lengths.get(operands[0], 0))
        elif verb == "free":
            lengths.pop(operands[0], None)
        elif verb == "append" and operands[0] in lengths:
            lengths[operands[0]] += num_tokens_of(operands[1])
            if lengths[operands[0]] > MAX_LENGTH:
                length = f"{lengths[operands[0]]:,} tokens; at most {MAX_LENGTH:,} are possible"
                raise ScenarioError(f"ops[{number}] append gives {shown(operands[0])} {length}.")
    return checked_ops


def checked(op: Any, number: int, operands_of: Mapping[str, tuple[str, ...]] = OPERANDS) -> Op:
    """The operation, if its name and operands are as given. Raises ScenarioError."""
    where = f"ops[{number}]"
    if not isinstance(op, (list, tuple)) or not op or not isinstance(op[0], str):
        raise ScenarioError(f"{where} is {shown(op)}; an operation is a list that begins with its name.")
    kinds = operands_of.get(op[0])
    if kinds is None:
        raise ScenarioError(f"{where} is the unknown operation {shown(op[0])}; known are {', '.join(operands_of)}.")
    if len(op) != 1 + len(kinds):
        raise ScenarioError(f"{where} {op[0]} has {len(op) - 1} operands; it takes {len(kinds)}: {', '.join(kinds)}.")
    for kind, value in zip(kinds, op[1:], strict=True):
        problem = _CHECKS[kind](value)
        if problem:
            raise ScenarioError(f"{where} {op[0]} has {shown(value)}; {problem}.")
    return op


def num_tokens_of(tokens: int | str | Sequence[int]) -> int:
    if isinstance(tokens, str):
        return len(tokens.split())
    return tokens if isinstance(tokens, int) else len(tokens)


def appended_later(ops: Sequence[Op]) -> list[int]:
    """For each operation that makes a sequence: the tokens that will be appended to it before it is freed."""
    totals = [0] * len(ops)
    maker: dict[str, int] = {}
    for number, (verb, *operands) in enumerate(ops):
        if verb in ("allocate", "fork"):
            maker.setdefault(operands[-1] if verb == "fork" else operands[0], number)
        elif verb == "append" and operands[0] in maker:
            totals[maker[operands[0]]] += num_tokens_of(operands[1])
        elif verb == "free":
            maker.pop(operands[0], None)
    return totals


def need_of_ops(settings: Settings, ops: Sequence[Op]) -> Need:
    """What a run of these operations takes at most: a block for each one that a sequence gets, new, copied or shared.

    What cannot fit into the pool counts nothing.
    """
    if settings.kv_manager == "radix":
        num_tokens = sum(num_tokens_of(operands[-1]) for verb, *operands in ops if verb in ("insert", "lock"))
        return Need.of(len(ops), num_tokens // settings.block_size, len(ops)).with_tree(num_tokens, settings)
    first, end = settings.block_range
    pool, size = end - first, settings.block_size
    known: dict[str, int] = {}
    num_requests = num_blocks = num_held = 0
    has_forks = False
    for verb, *operands in ops:
        if verb == "fork" and operands[0] in known and operands[1] not in known:
            has_forks = True
            num_requests += 1
            known[operands[1]] = known[operands[0]]
            num_blocks += -(-known[operands[1]] // size)
        elif (verb == "allocate" and operands[0] not in known) or (verb == "append" and operands[0] in known):
            before = known.get(operands[0], 0)
            num_tokens = before + num_tokens_of(operands[1])
            new = -(-num_tokens // size) - -(-before // size)
            # shared blocks are held once; with forks this count would be too high and refuse what fits
            if new + (0 if has_forks else num_held) > pool:
                continue
            num_requests += verb == "allocate"
            num_blocks += new + has_forks
            num_held += new
            known[operands[0]] = num_tokens
        elif verb == "free":
            num_held -= -(-known.pop(operands[0], 0) // size)
    return Need.of(num_requests, num_blocks, len(ops))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS


def _check_name(value: Any) -> str:
    named = isinstance(value, str) and 0 < len(value) <= 1_000 and is_unicode(value)
    return "" if named else "a sequence is named by a text of 1 to 1,000 whole characters"


def _check_count(value: Any) -> str:
    return "" if _is_count(value) else f"give a whole number from 0 to {MAX_TOKENS:,}"


def _check_tokens(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return bad_token(value) if len(value) <= MAX_TOKENS else f"give at most {MAX_TOKENS:,} token ids"
    return "" if _is_count(value) else f"give a list of token ids or a number of tokens up to {MAX_TOKENS:,}"


def _check_words(value: Any) -> str:
    if isinstance(value, str):
        return "" if len(value) <= MAX_TEXT and is_unicode(value) else f"give a text of at most {MAX_TEXT:,} characters"
    return _check_tokens(value)


_CHECKS: dict[str, Callable[[Any], str]] = {
    "name": _check_name,
    "count": _check_count,
    "tokens": _check_tokens,
    "words": _check_words,
}
