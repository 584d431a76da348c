"""What the zero-hit doctor says of one admission, and how it comes to that.

The search stops before the first page that is not known, and that page has one of few reasons: nobody before had these
tokens (nothing in common, less than a page, another token at position k), or somebody had them and they were evicted, or
they were not in the cache yet.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from engine.trace.admissions import Admission
from engine.trace.cache_replay import CacheReplay
from engine.trace.contents import Contents
from engine.trace.prefix_trie import num_common
from engine.trace.prompts import Symbol, token_at

Progress = Callable[[int, int], None]
"""`progress(done, all)`; it may raise to stop."""
REASONS = (
    "not_published",  # the trace does not say what the prompt holds
    "not_admitted",  # it never ran
    "off",  # the run has no prefix cache; `possible` is what an unlimited one would have given
    "nothing",  # its first token is that of nobody before it
    "shorter",  # what it shares with somebody is shorter than a page
    "differs",  # all whole pages in common were found; the next token is another one
    "tail",  # as before, and some tokens more are shared, which fill no page
    "no_kv",  # the next page ends with the last token of an answer, which was sampled and never computed
    "last_token",  # everything is shared, but one token at least has to be computed
    "evicted",  # the next page was known and was evicted
    "not_yet",  # somebody before has the next page too, but it was not in the cache yet
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Tokens unless said otherwise; requests are numbers, -1 for none.

    number      counts the admissions of the request from 0
    event       of the admission, -1 without one; `sequence` is the one that looked
    num_tokens  looked up: the prompt, or what was known when it was admitted again
    hit         found; `sources` says who left it there: (request, tokens) in order of the prompt
    shared      longest common prefix with what anybody had by then, the first of whom is `other`
    possible    whole pages of the shared part that may be found
    mine        token at position `shared`, None at the end; `theirs` the same of `other`
    blocking    the event to look at: the eviction, or when the page became known after all, else the admission
    """

    request: int
    reason: str
    num_tokens: int
    number: int = 0
    event: int = -1
    sequence: int = -1
    hit: int = 0
    sources: tuple[tuple[int, int], ...] = ()
    shared: int = 0
    other: int = -1
    possible: int = 0
    mine: Symbol | None = None
    theirs: Symbol | None = None
    blocking: int = -1

    @property
    def is_own(self) -> bool:
        """Whether it shares most with what it had itself before it was preempted."""
        return self.other == self.request


def of_admission(
    admission: Admission, symbols: list[Symbol], page_size: int, contents: Contents, replay: CacheReplay | None
) -> Diagnosis:
    """The diagnosis of an admission that looked up `symbols`, with `contents` and `replay` as they were just before.
    Where the page comes later, `blocking` is still open (-1)."""
    hit, end, event = admission.hit, admission.hit + page_size, admission.event
    common = contents.common(symbols, event - 1)
    shared, other = common.shared, common.other
    if shared < end <= common.written:
        reason, other = "no_kv", common.writer
    elif shared < end and shared == hit:
        reason = "differs" if hit else "nothing"
    elif shared < end:
        reason = "tail" if hit else "shorter"
    else:
        reason = "last_token" if end >= admission.num_tokens else "not_yet"
    blocking = event
    if replay is None:
        reason = "off"
    elif reason == "not_yet":
        reason, blocking = _of_known_page(replay, admission.sequence, end // page_size)
    return Diagnosis(
        request=admission.request,
        reason=reason,
        num_tokens=admission.num_tokens,
        number=admission.number,
        event=event,
        sequence=admission.sequence,
        hit=hit,
        sources=() if replay is None else _sources(replay, admission.sequence, hit),
        shared=shared,
        other=other,
        possible=min(shared, max(admission.num_tokens - 1, 0)) // page_size * page_size,
        mine=token_at(symbols, shared),
        theirs=_theirs(contents, other, event - 1, symbols, shared),
        blocking=blocking,
    )


def _of_known_page(replay: CacheReplay, sequence: int, num_pages: int) -> tuple[str, int]:
    prefix = replay.chain(sequence, num_pages)[num_pages - 1]
    return ("evicted", replay.gone[prefix]) if prefix in replay.gone else ("not_yet", -1)


def _sources(replay: CacheReplay, sequence: int, hit: int) -> tuple[tuple[int, int], ...]:
    pages = (replay.known[prefix].request for prefix in replay.hit(sequence, hit))
    return tuple((request, replay.page_size * sum(1 for _ in group)) for request, group in groupby(pages))


def _theirs(contents: Contents, other: int, event: int, symbols: list[Symbol], shared: int) -> Symbol | None:
    """The token of `other` at position `shared`, in the sample that has most in common."""
    if other < 0:
        return None
    nearest: list[Symbol] = max(contents.of(other, event), key=lambda content: num_common(content, symbols))
    return token_at(nearest, shared)
