"""The sentences of the zero-hit doctor, one table a language, and how a diagnosis is put into them.

Fields: r the request, x the other one, n the tokens that it looked up, hit what it found, shared what both have in common,
most what could be found, size and unit of a block or page, k the first token that is not shared counted from 1, mine and
theirs the tokens that stand there. A request that was preempted shares most with itself: then it is told as `own`.
"""

from typing import Any

from engine.trace.doctor import Diagnosis, caused_by, frame_name
from engine.trace.prompts import Symbol
from engine.trace.trace import Trace

LANGUAGE = "en"
MAX_SOURCES = 3
MAX_ID = 60

WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "tab": "Prefix cache",
        "heading": "Why not more from the cache?",
        "chain_heading": "What the cache knew of its blocks when it was admitted",
        "comparing": "The prompts are being compared",
        "reading": "The blocks of its prompt are being looked up",
        "compared": "{done:,} of {all:,} admissions",
        "looked_up": "{done:,} of {all:,} parts of the run",
        "stopped": "This was ended before it was finished.",
        "again": "Compare again",
        "request": "Request",
        "admission": "Admission",
        "which": "admission {number:,} of {all:,}, iteration {iteration:,}",
        "find": "find a request",
        "only_zero": "Only requests that found nothing",
        "nobody": "No request of this run is like that.",
        "no_requests": "Nobody asked for anything: this run has no request.",
        "first_of": "The first {shown:,} of {all:,} requests are listed; find others by their name.",
        "units": {"block": ("block", "blocks"), "page": ("page", "pages")},
        "tokens": ("prompt tokens", "tokens of prompt and answer"),
        "found": "{r} found {hit:,} of its {n:,} {tokens} in the cache, left there by {sources}.",
        "found_alone": "{r} found {hit:,} of its {n:,} {tokens} in the cache.",
        "found_none": "{r} found none of its {n:,} {tokens} in the cache.",
        "source": "{x} ({tokens:,})",
        "more_sources": "{number:,} more",
        "words": "“{0}”",
        "id": "id {0}",
        "place": "token {1} of text {0}",
        "end": "the end of its tokens",
        "reasons": {
            "not_published": "The run does not say what its prompts hold, so the reason is not known.",
            "not_admitted": "{r} was never admitted, so it never looked.",
            "off": "Prefix caching is off. With it, and with room for everything, {r} would have found {most:,} of its "
            "{n:,} {tokens}, left by {x}.",
            "off_nothing": "Prefix caching is off. It would not have helped {r}: no whole {unit} of {size:,} of its "
            "{n:,} {tokens} was there before.",
            "nothing": "Nobody before it begins with {mine}: nothing is shared with anybody.",
            "shorter": "The {shared:,} tokens that it shares with {x} are shorter than a {unit} of {size:,}: as token "
            "{k:,} it has {mine}, {x} has {theirs}.",
            "differs": "The tokens differ at position {k:,}: it has {mine}, {x} has {theirs}.",
            "tail": "It shares {shared:,} tokens with {x}; the last {rest:,} of them fill no {unit} of {size:,}.",
            "no_kv": "Token {k:,} is {mine}, the last one of an answer of {x}: that was sampled and never computed, so "
            "the {unit} that ends with it is in no cache.",
            "last_token": "All {n:,} tokens were there before, but one at least has to be computed: "
            "the most is floor(({n:,} - 1) / {size:,}) = {limit}.",
            "evicted": "The next {unit}, tokens {first:,} to {last:,}, was there and was evicted in iteration "
            "{iteration:,}{cause}.",
            "not_yet": "{x} begins with the same tokens, but tokens {first:,} to {last:,} were not in the cache yet; "
            "they came in iteration {iteration:,}.",
            "never_came": "{x} begins with the same tokens, but tokens {first:,} to {last:,} never came into the cache.",
        },
        "own": {
            "shorter": "All its {n:,} tokens are shorter than a {unit} of {size:,}.",
            "tail": "The last {rest:,} of its {n:,} tokens fill no {unit} of {size:,}.",
            "not_yet": "It had tokens {first:,} to {last:,} before it was preempted, but they were not in the cache; they "
            "came in iteration {iteration:,}.",
            "never_came": "It had tokens {first:,} to {last:,} before it was preempted, but they never came into the "
            "cache.",
        },
        "cause": " to make room for {x}",
        "short": {
            "not_published": "not published",
            "not_admitted": "never admitted",
            "off": "caching is off",
            "nothing": "nothing shared",
            "shorter": "shorter than a {unit}",
            "differs": "differs at token {k:,}",
            "tail": "{rest:,} tokens fill no {unit}",
            "no_kv": "last token of an answer",
            "last_token": "last token is computed",
            "evicted": "evicted in iteration {iteration:,}",
            "not_yet": "not in the cache yet",
        },
        "buttons": {
            "evicted": "Go to the eviction, iteration {iteration:,}",
            "not_yet": "Go to where they came, iteration {iteration:,}",
            "otherwise": "Go to its admission, iteration {iteration:,}",
        },
        "columns": ("request", "prompt tokens", "admissions", "found", "possible", "why not more", "iteration"),
        "chain_columns": ("block of the prompt", "tokens", "prefix", "known as block", "state", "match"),
        "states": {
            "used": "used ×{readers}",
            "cached": "kept, nobody reads it",
            "evicted": "evicted in iteration {iteration:,}",
            "never": "never known",
        },
        "match": {
            "found": "found",
            "stopped": "the match stops here",
            "computed": "last token is computed",
            "after": "",
        },
    }
}


def words(lang: str = LANGUAGE) -> dict[str, Any]:
    return WORDS[lang]


def what_was_found(trace: Trace, diagnosis: Diagnosis, lang: str = LANGUAGE) -> str:
    """How much the request found, and who had left it there."""
    table = WORDS[lang]
    fields = {
        "r": _name(trace, diagnosis.request),
        "hit": diagnosis.hit,
        "n": diagnosis.num_tokens,
        "tokens": _tokens(trace, diagnosis, lang),
    }
    if not diagnosis.hit:
        return "" if diagnosis.reason in ("off", "not_admitted") else str(table["found_none"].format(**fields))
    if not diagnosis.sources:
        return str(table["found_alone"].format(**fields))
    sources = [
        table["source"].format(x=_name(trace, x), tokens=tokens) for x, tokens in diagnosis.sources[:MAX_SOURCES]
    ]
    if len(diagnosis.sources) > MAX_SOURCES:
        sources.append(table["more_sources"].format(number=len(diagnosis.sources) - MAX_SOURCES))
    return str(table["found"].format(**fields, sources=", ".join(sources)))


def why_not_more(trace: Trace, diagnosis: Diagnosis, lang: str = LANGUAGE) -> str:
    """The blocking fact in one sentence."""
    reason = diagnosis.reason
    if reason == "off" and not diagnosis.possible:
        reason = "off_nothing"
    elif reason == "not_yet" and diagnosis.blocking == diagnosis.event:
        reason = "never_came"
    table = WORDS[lang]
    own = table["own"] if diagnosis.is_own else {}
    return str(own.get(reason, table["reasons"][reason]).format(**_fields(trace, diagnosis, lang)))


def admission(trace: Trace, diagnosis: Diagnosis, num_admissions: int, lang: str = LANGUAGE) -> str:
    """Which admission of its request it is."""
    which = WORDS[lang]["which"]
    at = iteration(trace, diagnosis.event)
    return str(which.format(number=diagnosis.number + 1, all=num_admissions, iteration=at))


def short_reason(trace: Trace, diagnosis: Diagnosis, lang: str = LANGUAGE) -> str:
    """The reason in a few words, for a table."""
    return str(WORDS[lang]["short"][diagnosis.reason].format(**_fields(trace, diagnosis, lang)))


def button(trace: Trace, diagnosis: Diagnosis, lang: str = LANGUAGE) -> str:
    """What the way to the frame is called."""
    labels = WORDS[lang]["buttons"]
    came_never = diagnosis.blocking == diagnosis.event
    label = labels["otherwise"] if came_never else labels.get(diagnosis.reason, labels["otherwise"])
    return str(label.format(iteration=iteration(trace, diagnosis.blocking)))


def iteration(trace: Trace, event: int) -> int:
    """The iteration of an event, counted from 1."""
    return int(frame_name(trace, event).split(".")[0]) + 1


def token_text(trace: Trace, symbol: Symbol | None, lang: str = LANGUAGE) -> str:
    """A token as a word of the vocabulary, else by its id, else by its place in a text; None is the end."""
    table = WORDS[lang]
    if symbol is None:
        return str(table["end"])
    if isinstance(symbol, int):
        vocabulary = trace.header.get("vocabulary", [])
        known = 0 <= symbol < len(vocabulary)
        return str(table["words"].format(vocabulary[symbol]) if known else table["id"].format(symbol))
    return str(table["place"].format(symbol[0], symbol[1] + 1))


def _fields(trace: Trace, d: Diagnosis, lang: str) -> dict[str, Any]:
    table, size = WORDS[lang], trace.header["block_size"]
    limit = max(d.num_tokens - 1, 0) // size
    unit, units = table["units"]["page" if "nodes" in trace.tracks else "block"]
    cause = caused_by(trace, d.blocking) if d.reason == "evicted" else -1
    return {
        "r": _name(trace, d.request),
        "x": _name(trace, d.other),
        "n": d.num_tokens,
        "tokens": _tokens(trace, d, lang),
        "hit": d.hit,
        "shared": d.shared,
        "rest": d.shared - d.hit,
        "most": d.possible,
        "size": size,
        "unit": unit,
        "limit": f"{limit:,} {unit if limit == 1 else units}",
        "k": d.shared + 1,
        "mine": token_text(trace, d.mine, lang),
        "theirs": token_text(trace, d.theirs, lang),
        "first": d.hit + 1,
        "last": d.hit + size,
        "iteration": iteration(trace, d.blocking),
        "cause": table["cause"].format(x=_name(trace, cause)) if cause >= 0 else "",
    }


def _tokens(trace: Trace, diagnosis: Diagnosis, lang: str) -> str:
    of_prompt, of_both = WORDS[lang]["tokens"]
    return str(of_both if diagnosis.num_tokens > trace.requests[diagnosis.request]["prompt_len"] else of_prompt)


def _name(trace: Trace, request: int) -> str:
    if not 0 <= request < len(trace.requests):
        return "?"
    name = str(trace.requests[request]["id"])
    return name if len(name) <= MAX_ID else name[: MAX_ID - 1] + "…"
