"""The hash-block cache as one request met it: for each full block of its prompt, which block was known for it, and where
the match stopped. Read off the trace; it knows what `cache_replay` knows, for a run with blocks that are known by hash.
"""

from dataclasses import dataclass

from engine.trace.cache_replay import HashedReplay
from engine.trace.diagnosis import Diagnosis, Progress
from engine.trace.prompts import Symbol, first_tokens, is_published, pages, sequence_symbols
from engine.trace.trace import Trace

STATES = ("used", "cached", "evicted", "never")
"""Known and read by somebody; known and free; known once and evicted; not known so far."""
NUM_REPORTS = 50
"""How often it says how far it is."""


@dataclass(frozen=True, slots=True)
class MetBlock:
    """Block `index` of a prompt, all tokens up to whose end are `prefix`, a number in order of first appearance (-1: the
    cache never knew it). `block` is the physical block known for it, -1 for none, `readers` its reference count;
    `evicted` is the event of its last eviction, -1 for none; `is_found` says that the request took it over."""

    index: int
    tokens: tuple[Symbol, ...]
    prefix: int
    state: str
    block: int = -1
    readers: int = 0
    evicted: int = -1
    is_found: bool = False


def is_hashed(trace: Trace) -> bool:
    """Whether the run knows blocks by their hash."""
    return (
        "tables" in trace.tracks
        and "nodes" not in trace.tracks
        and bool(trace.header["settings"].get("prefix_caching"))
    )


def met_blocks(trace: Trace, diagnosis: Diagnosis, progress: Progress | None = None) -> list[MetBlock]:
    """The full blocks of what an admission looked up, just before it. Empty without an admission, for a prompt that is
    not published, or for a run whose blocks are not known by hash."""
    entry, event = trace.requests[diagnosis.request], diagnosis.event
    if not is_hashed(trace) or not is_published(entry) or event < 0:
        return []
    replay = HashedReplay(trace)
    for number in range(1, NUM_REPORTS + 1):
        if progress is not None:
            progress(number, NUM_REPORTS)
        replay.advance((event - 1) * number // NUM_REPORTS)
    readers = trace.cut(event=event - 1).tracks["blocks"]["ref_count"] if "blocks" in trace.tracks else None
    met = []
    content = sequence_symbols(entry, diagnosis.sequence - entry["first_sequence"])
    contents = list(pages(first_tokens(content, diagnosis.num_tokens), replay.page_size))
    for index, prefix in enumerate(replay.chain(diagnosis.sequence, len(contents))[: len(contents)]):
        known = replay.known.get(prefix)
        gone = replay.gone.get(prefix, -1)
        num_readers = int(readers[known.block]) if known is not None and readers is not None else 0
        state = "never" if gone < 0 else "evicted"
        if known is not None:
            state = "used" if num_readers else "cached"
        met.append(
            MetBlock(
                index=index,
                tokens=contents[index],
                prefix=prefix if known is not None or gone >= 0 else -1,
                state=state,
                block=-1 if known is None else known.block,
                readers=num_readers,
                evicted=-1 if known is not None else gone,
                is_found=(index + 1) * replay.page_size <= diagnosis.hit,
            )
        )
    return met
