"""The hash-block cache as one request met it, block by block of its prompt: which physical block is known under which
prefix, in which state, and where the match stopped. Prefixes are h0, h1, ... in order of first appearance.
"""

from typing import Any

import streamlit as st

from engine.trace.doctor import Diagnosis
from engine.trace.hash_cache import MetBlock, is_hashed
from engine.trace.prompts import Symbol
from engine.trace.trace import Trace
from viz.pages.parts import doctor_jobs, page
from viz.pages.parts import doctor_words as say

MAX_ROWS = 1_000
MAX_TOKENS = 8
NOTHING = "–"


def show(trace: Trace, diagnosis: Diagnosis) -> None:
    """The blocks that it looked up; nothing for a run without hashed blocks or a request without full ones."""
    if not is_hashed(trace) or diagnosis.event < 0:
        return
    met = doctor_jobs.chain(trace, diagnosis)
    if met:
        met = met[:MAX_ROWS]
        page.heading(say.words()["chain_heading"])
        st.dataframe(
            columns(trace, met, diagnosis), hide_index=True, key="hash-cache", alt=say.words()["chain_heading"]
        )


def columns(trace: Trace, met: list[MetBlock], diagnosis: Diagnosis) -> dict[str, list[Any]]:
    """Column title -> cells, one for each block."""
    words = say.words()
    num_found = diagnosis.hit // trace.header["block_size"]
    rows = []
    for each in met:
        match = "found" if each.is_found else "after"
        if each.index == num_found:
            match = "computed" if diagnosis.reason == "last_token" else "stopped"
        rows.append(
            (
                each.index,
                block_text(trace, each.tokens),
                f"h{each.prefix}" if each.prefix >= 0 else NOTHING,
                str(each.block) if each.block >= 0 else NOTHING,
                _state(trace, each),
                words["match"][match],
            )
        )
    return {title: list(cells) for title, cells in zip(words["chain_columns"], zip(*rows, strict=True), strict=True)}


def block_text(trace: Trace, tokens: tuple[Symbol, ...]) -> str:
    """The first tokens of a block: words, ids, or stretches of a text as 7[0:16]."""
    vocabulary = trace.header.get("vocabulary", [])
    texts = []
    for symbol in tokens[:MAX_TOKENS]:
        if isinstance(symbol, int):
            texts.append(vocabulary[symbol] if 0 <= symbol < len(vocabulary) else str(symbol))
        else:
            content, start, length = symbol
            texts.append(f"{content}[{start}:{start + length}]")
    return " ".join([*texts, *(["…"] if len(tokens) > MAX_TOKENS else [])])


def _state(trace: Trace, each: MetBlock) -> str:
    iteration = say.iteration(trace, each.evicted) if each.evicted >= 0 else 0
    return str(say.words()["states"][each.state].format(readers=each.readers, iteration=iteration))
