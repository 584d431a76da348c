"""What is said where full blocks are known by their content: blocks of 8, prompts that begin with the same 24 tokens."""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.frame import Frame
from engine.trace.trace import Trace
from engine.trace.track import BLOCK_STATES, HAPPENINGS
from engine.workload import ListWorkload
from tests.engine.live_runs import live_run, live_settings
from viz.player.block_lives import BlockLives
from viz.player.sentences import sentence_text, sequence_name

LIVE = Settings(policy="chunked", prefix_caching=True, block_size=8, num_blocks=20, max_num_batched_tokens=64)
USED, CACHED = BLOCK_STATES.index("used"), BLOCK_STATES.index("cached")
TEMPLATE = range(24)


def ask(name: str, prompt: int, output: int, at: float = 0.0, samples: int = 1, common: int = 24) -> Request:
    """A prompt of so many tokens; after the common ones come those that nobody else has."""
    own = 1000 + 100 * ord(name[0])
    ids = [*TEMPLATE[:common], *range(own, own + prompt - common)]
    return Request(name, at, Prompt.of_ids(ids), SamplingParams(n=samples, max_tokens=output))


def run(chosen: Settings, *requests: Request) -> Trace:
    return simulate(replace(chosen, step_time=1.0), ListWorkload(list(requests)))


def said(trace: Trace) -> list[str]:
    return [text for event in range(trace.num_events + 1) if (text := sentence_text(trace, event))]


def said_at_ends(trace: Trace) -> list[str]:
    """The sentences of whole steps."""
    return [sentence_text(trace, int(event)) for event in trace.steps["scheduled"]]


def test_an_admission_that_finds_blocks_says_whose_and_why() -> None:
    """A takes 7 of 20 blocks; of B's 5, 3 are A's."""
    sentences = said(run(LIVE, ask("A", 54, 6), ask("B", 37, 6)))
    assert "A is admitted because it needs 7 blocks and 20 are free." in sentences
    assert (
        "B finds 3 blocks of A because both begin with the same 24 tokens; it needs 2 more and 13 are free."
        in sentences
    )


def test_blocks_of_who_has_ended_were_left() -> None:
    """A's 4 full blocks stay known. B takes 3 of them, so 9 - 3 are free for its other 2."""
    sentences = said(run(replace(LIVE, num_blocks=9), ask("A", 37, 3), ask("B", 37, 3, at=5.0)))
    assert (
        "B finds 3 blocks that A left because both begin with the same 24 tokens; it needs 2 more and 6 are free."
        in sentences
    )


def test_blocks_of_a_sample_bear_its_name_and_memory_without_a_limit_counts_nothing() -> None:
    unlimited = replace(LIVE, num_blocks=None)
    assert "B finds 3 blocks of A1 because both begin with the same 24 tokens; it gets 2 more." in said(
        run(unlimited, ask("A", 37, 6, samples=2), ask("B", 37, 6))
    )


def test_the_writer_of_a_block_stays_known_when_others_have_read_it() -> None:
    """C finds what A wrote, and B, who read it in between, has ended as well."""
    trace = run(LIVE, ask("A", 37, 2), ask("B", 37, 2, at=5.0), ask("C", 37, 2, at=10.0))
    assert sum(" finds 3 blocks that A left because" in text for text in said(trace)) == 2


def test_who_comes_back_after_its_preemption_finds_its_own_blocks() -> None:
    """B has 4 full blocks when it needs a fifth. A grows from 5 to 7 of the 9 and takes B's last two; once it has
    ended, B finds the other two, and of the 3 that it needs beyond them one is without content."""
    sentences = said(run(replace(LIVE, num_blocks=9), ask("A", 33, 20), ask("B", 30, 20, common=0)))
    assert "B is preempted because it needs a block and none is free." in sentences
    assert (
        "B finds 2 blocks because its first 16 tokens are still in memory; "
        "for 3 more, what A left, unused longest, is forgotten." in sentences
    )


def test_content_that_gives_way_is_said_with_its_writer() -> None:
    """A leaves 4 known blocks of 9, B one. C's 8 blocks take the 4 without content first, then 4 of the known ones."""
    settings = replace(LIVE, num_blocks=9)
    trace = run(settings, ask("A", 37, 3), ask("B", 37, 3, at=5.0), ask("C", 60, 13, at=5.0, common=0))
    sentences = said(trace)
    assert (
        "C is admitted because it needs 8 blocks and 9 are free; "
        "what was left in 4 of them, unused longest, is forgotten." in sentences
    )
    assert (
        "C gets block 0 because its last block is full; what A left in it, unused longest, is forgotten." in sentences
    )


def test_what_a_preempted_request_left_gives_way_or_its_block_is_taken() -> None:
    """C loses 2 blocks of its own: one is full and known, the other one is not and goes first."""
    sentences = said(
        run(replace(LIVE, num_blocks=9), ask("A", 37, 6), ask("B", 37, 20), ask("C", 37, 20), ask("D", 40, 2))
    )
    assert "C is preempted because A needs a block, none is free, and C was admitted last." in sentences
    assert "B gets block 3 of C because its last block is full and C was preempted." in sentences
    assert (
        "A gets block 8 because its last block is full; what C left in it, unused longest, is forgotten." in sentences
    )


def test_a_find_that_makes_content_give_way_says_so() -> None:
    sentences = said(
        run(replace(LIVE, num_blocks=9), ask("A", 37, 6), ask("B", 37, 20), ask("C", 37, 20), ask("D", 40, 2))
    )
    assert (
        "D finds 3 blocks of C because both begin with the same 24 tokens; "
        "for 2 more, what B left, unused longest, is forgotten." in sentences
    )


def test_a_prompt_that_is_cut_says_how_much_is_left_and_what_is_used_up() -> None:
    """64 = 54 of A + 10 of the 13 that B lacks. With chunks of 16, A reads 16 + 16 + 5."""
    cut = said_at_ends(run(LIVE, ask("A", 54, 6), ask("B", 37, 6)))
    assert cut[0] == "B reads 10 tokens of its prompt, 3 are left, because the budget of 64 is used up."
    assert cut[1] == "4 tokens are computed for 2 sequences; no block changes hands."
    chunks = said_at_ends(run(replace(LIVE, chunk_size=16), ask("A", 37, 6)))
    assert chunks[:3] == [
        "A reads 16 tokens of its prompt, 21 are left, because a step reads 16 of a prompt at most.",
        "A reads 16 tokens of its prompt, 5 are left, because a step reads 16 of a prompt at most.",
        "5 tokens are computed for 1 sequence.",
    ]


def test_a_recompute_that_is_cut_is_no_prompt() -> None:
    """B has 33 tokens when the ninth block is gone, and computes 16 + 16 of them when A has ended; with the last one it decodes."""
    small = replace(LIVE, prefix_caching=False, num_blocks=9, max_num_batched_tokens=16)
    ends = said_at_ends(run(small, ask("A", 33, 20), ask("B", 30, 20)))
    assert [text for text in ends if "again" in text] == [
        "B computes 16 tokens again, 17 are left, because the budget of 16 is used up."
    ]


def test_one_token_of_a_prompt_is_not_an_answer() -> None:
    """33 tokens, of which 32 are found: one is computed, as many as for A, who answers."""
    trace = run(LIVE, ask("A", 33, 9), Request("B", 3.0, ask("A", 33, 9).prompt, SamplingParams(max_tokens=2)))
    assert "2 tokens are computed for 2 sequences." in said_at_ends(trace)


def test_who_gets_no_token_of_a_step_is_counted() -> None:
    """Three samples decode with a budget of 2."""
    ends = said_at_ends(run(replace(LIVE, max_num_batched_tokens=2), ask("A", 4, 4, samples=3, common=0)))
    assert "2 sequences write one token each, 1 other waits for its turn; no block changes hands." in ends


def _steps_without_a_change(trace: Trace) -> Iterator[tuple[Frame, Frame]]:
    before = 0
    for event in trace.steps["scheduled"].tolist():
        if "no block changes hands" in sentence_text(trace, event):
            yield trace.cut(event=before), trace.cut(event=event)
        before = event


def _memory(frame: Frame) -> list[list[int]]:
    blocks = frame.tracks["blocks"]
    return [frame.tracks["tables"]["block"].tolist(), (blocks["state"] == USED).tolist(), blocks["ref_count"].tolist()]


@settings(deadline=None, max_examples=60)
@given(chosen=live_settings(), seed=st.integers(0, 10**6))
def test_no_block_changes_hands_where_this_is_said(chosen: Settings, seed: int) -> None:
    trace = live_run(chosen, seed).engine.recorder.trace()
    for before, after in _steps_without_a_change(trace):
        assert "tables" in after.tracks
        assert _memory(before) == _memory(after)


@settings(deadline=None, max_examples=60)
@given(chosen=live_settings().filter(lambda chosen: chosen.prefix_caching), seed=st.integers(0, 10**6))
def test_what_is_said_to_be_found_or_forgotten_is(chosen: Settings, seed: int) -> None:
    trace = live_run(chosen, seed).engine.recorder.trace()
    names = {s: sequence_name(trace, s) for s in range(trace.tracks["sequences"].num_keys)}
    for event in range(1, trace.num_events + 1):
        text = sentence_text(trace, event)
        before, after = trace.cut(event=event - 1), trace.cut(event=event)
        was, now = before.tracks["blocks"], after.tracks["blocks"]
        grown = [s for s in names if before.table(s) != after.table(s)]
        if found := re.search(r" finds (\d+) blocks?.*; (it needs|it gets|for) (\d+) more(?: and (\d+) )?", text):
            assert len(after.table(grown[0])) == int(found[1]) + int(found[3])
            if found[4]:
                read_again = after.table(grown[0])[: int(found[1])]
                free = (was["state"] != USED).sum() - (was["state"][read_again] != USED).sum()
                assert int(found[4]) == free - chosen.null_block
            if holder := re.search(r" blocks? of (\S+) because", text):
                holding = next(s for s in names if names[s] == holder[1])
                assert before.table(holding)[: int(found[1])] == after.table(grown[0])[: int(found[1])]
        lost = (was["state"] == CACHED) & (now["state"] == USED) & (now["fill"] < chosen.block_size)
        if "is forgotten" in text:
            assert lost.any()
        if found := re.search(r"left in (\d+) of them", text):
            assert int(found[1]) == lost.sum()


def test_the_writer_of_a_block_is_who_took_it_last() -> None:
    """Held against the frames: whenever a block is taken anew, its owner then."""
    trace = run(replace(LIVE, num_blocks=9), ask("A", 37, 6), ask("B", 37, 20), ask("C", 37, 20), ask("D", 40, 2))
    lives, evicted = BlockLives(trace), trace.happenings["kind"] == HAPPENINGS.index("evicted")
    lost = set(
        zip(trace.happenings["block"][evicted].tolist(), trace.happenings["event"][evicted].tolist(), strict=True)
    )
    writers, before = np.full(9, -1), np.zeros(9, int)
    for event in range(1, trace.num_events + 1):
        blocks = np.arange(9)
        assert lives.writers(blocks, np.full(9, event)).tolist() == writers.tolist()
        now = trace.cut(event=event).tracks["blocks"]
        for block in blocks.tolist():
            is_known = before[block] == CACHED and (block, event) not in lost
            if now["state"][block] == USED and before[block] != USED and not is_known:
                writers[block] = now["owner"][block]
        before = now["state"]


@pytest.mark.parametrize("num_requests", [1, 3])
def test_a_tree_that_is_asked_again_counts_all_that_is_known(num_requests: int) -> None:
    """Who comes back looks up its prompt and its answer so far, so it never finds more than it looks up."""
    tree = replace(LIVE, prefix_caching=False, kv_manager="radix", num_blocks=9)
    trace = run(tree, *(ask(name, 37, 20) for name in "ABC"[:num_requests]))
    reused = [re.match(r"(\d+) of (\d+) tokens are reused", text) for text in said(trace)]
    assert all(int(found[1]) < int(found[2]) for found in reused if found)
    assert any(int(found[2]) > 37 for found in reused if found) == (num_requests > 1)
