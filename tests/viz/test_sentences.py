"""Every event that has something to say says it in one sentence, with the numbers of that moment."""

import re
from dataclasses import replace

import numpy as np
import pytest

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.chunk import Chunk
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, EVICTION_REASONS, HAPPENINGS, REASONS
from engine.workload import ListWorkload
from scenarios import catalogue
from scenarios.run import run as run_scenario
from tests.engine.trace import synthetic
from tests.engine.trace.test_frame import HEADER, REQUEST
from viz.player.messages import CODES, MESSAGES, TAGS
from viz.player.narration import narrate
from viz.player.occupants import known_before
from viz.player.sentences import Sentences, sentence_text, sequence_name


def run(settings: Settings, *requests: tuple[str, int, int, int]) -> Trace:
    """A run of requests (id, prompt tokens, output tokens, samples) that all arrive at once."""
    made = [
        Request(name, 0.0, Prompt.of_length(prompt, content), SamplingParams(n=n, max_tokens=output))
        for content, (name, prompt, output, n) in enumerate(requests)
    ]
    return simulate(replace(settings, step_time=1.0), ListWorkload(made))


def said(trace: Trace) -> list[str]:
    return [text for event in range(trace.num_events + 1) if (text := sentence_text(trace, event))]


FOUR_SAMPLES = run(Settings(block_size=16, num_blocks=64), ("A", 100, 3, 4))


def test_copies_name_the_readers_of_that_moment_and_the_last_one_writes_in_place() -> None:
    assert [text for text in said(FOUR_SAMPLES) if "opied" in text or "in place" in text] == [
        "Block 6 is copied to 7 because A1 is about to write where A2, A3 and A4 still read.",
        "Block 6 is copied to 8 because A2 is about to write where A3 and A4 still read.",
        "Block 6 is copied to 9 because A3 is about to write where A4 still reads.",
        "A4 writes into block 6 in place because nobody else reads it any more.",
    ]


def test_what_a_request_waits_for_later_is_no_reason_for_its_first_admission() -> None:
    trace = run(Settings(policy="static", block_size=4, num_blocks=5), ("R1", 6, 5, 1), ("R2", 8, 5, 1))
    admissions = [text for text in said(trace) if text.startswith("R2 is admitted")]
    assert admissions[0] == "R2 is admitted because it needs 2 blocks and 3 are free."


def test_a_fork_says_whose_blocks_are_read() -> None:
    assert "A3 reads 7 blocks of A1 because both continue the same prompt." in said(FOUR_SAMPLES)


def test_a_run_from_arrival_to_end() -> None:
    trace = run(Settings(block_size=4, num_blocks=8), ("A", 4, 3, 1))
    assert said(trace) == [
        "A arrives with a prompt of 4 tokens.",
        "A is admitted because it needs 1 block and 8 are free.",
        "4 tokens are computed for 1 sequence.",
        "A gets block 1 because its last block is full.",
        "Each sequence writes one token.",
        "Each sequence writes one token; no block changes hands.",
        "A is finished after 3 tokens; 2 blocks return to the pool.",
    ]


def test_who_waits_says_what_is_missing_and_who_is_before_it() -> None:
    trace = run(Settings(block_size=4, num_blocks=10), ("A", 24, 4, 1), ("B", 20, 4, 1), ("C", 4, 4, 1))
    sentences = said(trace)
    waits = sentences.index("B waits because it needs 5 blocks and 4 are free.")
    blocked = "C waits although it would fit because B is before it, first come, first served."
    assert sentences[waits + 1] == blocked
    assert sentences.count(blocked) == 1
    seats = run(Settings(max_num_seqs=1), ("A", 4, 4, 1), ("B", 4, 4, 1))
    assert "B waits because it needs 1 seat and 0 are free." in said(seats)
    tokens = run(Settings(max_num_batched_tokens=8), ("A", 6, 4, 1), ("B", 6, 4, 1))
    assert "B waits because it computes 6 tokens and 2 are left in this step." in said(tokens)


def test_free_blocks_whose_content_is_known_count_as_free() -> None:
    """A leaves 2 full blocks that stay known and one that does not; B shares nothing with it and takes one of the 2."""
    trace = run(Settings(block_size=4, num_blocks=4, prefix_caching=True), ("A", 9, 1, 1), ("B", 9, 2, 1))
    sentences = said(trace)
    assert "B waits because it needs 3 blocks and 1 is free." in sentences
    assert (
        "B is admitted because it needs 3 blocks and 4 are free; "
        "what A left in 1 of them, unused longest, is forgotten." in sentences
    )


def test_a_preemption_names_who_needed_the_block() -> None:
    """A and B take 2 blocks each. Of 5, A gets the fifth and B then finds none; of 4, A finds none already."""
    both_at_the_border = said(run(Settings(block_size=4, num_blocks=5), ("A", 8, 8, 1), ("B", 8, 8, 1)))
    assert "B is preempted because it needs a block and none is free." in both_at_the_border
    assert "B is admitted again because it needs 3 blocks and 5 are free." in both_at_the_border
    a_later = said(run(Settings(block_size=4, num_blocks=4), ("A", 8, 8, 1), ("B", 6, 8, 1)))
    assert "B is preempted because A needs a block, none is free, and B was admitted last." in a_later
    shortest = Settings(block_size=4, num_blocks=5, victim="fewest_outputs")
    assert "B is preempted because A needs a block, none is free, and B has written least." in said(
        run(shortest, ("A", 8, 8, 1), ("B", 10, 8, 1))
    )


def test_the_head_of_the_queue_is_named_where_only_the_order_stands_in_the_way() -> None:
    decision = (1, ACTIONS.index("skip"), REASONS.index("behind_head"), 1, 0, 0, 0, 0)
    requests = [REQUEST, {**REQUEST, "id": "B", "first_sequence": 1}]
    chunk = Chunk(num_events=1, requests=requests, decisions=np.array([decision], np.int32))
    assert said(Trace.of(HEADER, [chunk])) == [
        "B waits although it would fit because A is before it, first come, first served."
    ]


@pytest.mark.parametrize(
    ("settings", "request_", "sentence"),
    [
        (
            Settings(block_size=4, num_blocks=2),
            (20, 5),
            "B is refused because it needs 6 blocks of 2; raise num_blocks.",
        ),
        (
            Settings(block_size=4, kv_capacity_tokens=8),
            (20, 5),
            "B is refused because it needs 6 blocks of 2; raise kv_capacity_tokens.",
        ),
        (
            Settings(kv_manager="max", max_model_len=64, kv_capacity_tokens=32),
            (20, 5),
            "B is refused because it needs 64 slots of 32; raise kv_capacity_tokens.",
        ),
        (
            Settings(max_model_len=16),
            (20, 5),
            "B is refused because it needs a context of 21 tokens, not 16; raise max_model_len.",
        ),
        (
            Settings(max_num_batched_tokens=10),
            (20, 5),
            "B is refused because its 20 tokens exceed the 10 of a step; raise max_num_batched_tokens.",
        ),
        (Settings(), (0, 5), "B is refused because its prompt is empty; give it at least one token."),
        (Settings(), (5, 0), "B is refused because it asks for no output; ask for at least one token."),
    ],
)
def test_a_refusal_names_need_limit_and_setting(settings: Settings, request_: tuple[int, int], sentence: str) -> None:
    assert sentence in said(run(settings, ("B", *request_, 1)))


def test_contiguous_memory_speaks_of_slots() -> None:
    texts = said(run(Settings(kv_manager="max", max_model_len=64, num_blocks=8), ("A", 10, 2, 1), ("B", 10, 2, 1)))
    assert "A is admitted because 64 slots in one piece are free." in texts
    assert "A is finished after 2 tokens; 64 slots return." in texts


def test_the_step_limit_is_said() -> None:
    texts = said(run(Settings(max_steps=3), ("A", 10, 20, 1)))
    assert texts[-1] == "The run stops here because it reached its limit of 3 steps; raise max_steps."


def test_the_rarest_of_an_event_speaks() -> None:
    kinds = [HAPPENINGS.index(kind) for kind in ("allocated", "admitted", "arrived")]
    happenings = np.array([(1, kind, 0, 0, 2, -1, 1) for kind in kinds], np.int32)
    trace = Trace.of(HEADER, [Chunk(num_events=1, requests=[REQUEST], happenings=happenings)])
    assert said(trace) == ["A is admitted because it needs 1 block and 3 are free."]


def test_an_event_speaks_at_most_once_and_events_ascend() -> None:
    rows = Sentences.of(synthetic.small()).rows
    assert np.all(np.diff(rows[:, 0]) > 0)


def test_every_list_names_the_readers_of_the_source_and_nobody_else() -> None:
    trace = synthetic.small()
    sentences = Sentences.of(trace)
    copied = [row for row in sentences.rows.tolist() if row[1] in (CODES["copied"], CODES["copied_from_one"])]
    assert len(copied) > 10
    for event, _, source, target, sequence, position, *_ in copied:
        frame = trace.cut(event=event)
        others = [s for s in range(trace.tracks["sequences"].num_keys) if source in frame.table(s)]
        count = sentences.lists[position]
        assert sentences.lists[position + 1 : position + 1 + count].tolist() == others
        assert target in frame.table(sequence)


def test_every_step_has_a_sentence_at_its_scheduled_cut() -> None:
    trace = synthetic.small()
    assert all(sentence_text(trace, int(event)) for event in trace.steps["scheduled"])


def test_long_lists_are_cut() -> None:
    trace = run(Settings(block_size=16, num_blocks=64), ("A", 100, 3, 8))
    assert "Block 6 is copied to 7 because A1 is about to write where A2, A3, A4 and 4 more still read." in said(trace)


@pytest.mark.parametrize(("name", "n", "names"), [("A", 1, ["A"]), ("A", 2, ["A1", "A2"]), ("r7", 2, ["r7.1", "r7.2"])])
def test_a_sequence_is_called_by_its_request_and_sample(name: str, n: int, names: list[str]) -> None:
    trace = run(Settings(), (name, 4, 2, n))
    assert [sequence_name(trace, sequence) for sequence in range(n)] == names
    assert sequence_name(trace, n) == "?"


def test_names_from_files_stay_plain_text() -> None:
    name = "**{r0}** <b onclick=1>{n2|x|y}\\1"
    assert said(run(Settings(), (name, 4, 2, 1)))[0] == f"{name} arrives with a prompt of 4 tokens."


def test_templates_name_only_operands_that_exist_and_open_with_a_bold_clause() -> None:
    for messages in MESSAGES.values():
        assert list(messages) == list(CODES)
        for message in messages.values():
            rest = re.sub(r"\{[bsrnSw][0-5](\|[^|{}]+\|[^|{}]+)?\}", "", message.text)
            assert "{" not in rest
            assert message.text.startswith("**")
            assert message.text.count("**") == 2
    assert all({message.kind for message in MESSAGES[lang].values()} == set(TAGS[lang]) for lang in MESSAGES)


def test_every_reason_to_wait_or_refuse_has_words() -> None:
    without = {"fits", "alone", "step_limit", "never_fits", *EVICTION_REASONS.values()}
    assert set(REASONS) - without <= set(CODES)


def test_who_takes_the_last_seat_is_told_who_left_it() -> None:
    trace = run(Settings(max_num_seqs=2), ("A", 4, 2, 1), ("B", 4, 5, 1), ("C", 4, 2, 1))
    assert "C is admitted because A left its seat." in said(trace)
    static = run(Settings(max_num_seqs=2, policy="static"), ("A", 4, 2, 1), ("B", 4, 5, 1), ("C", 4, 2, 1))
    assert "C is admitted because the batch before it has ended." in said(static)


def test_contiguous_memory_has_no_blocks_to_change_hands() -> None:
    trace = run(Settings(kv_manager="oracle", kv_capacity_tokens=64), ("A", 4, 3, 1))
    assert "Each sequence writes one token into its own strip." in said(trace)
    assert not any("block" in sentence for sentence in said(trace))


@pytest.mark.parametrize(
    ("settings", "requests"),
    [
        (
            Settings(policy="chunked", num_blocks=12, block_size=4, max_num_batched_tokens=8, chunk_size=5),
            (("A", 10, 4, 2), ("B", 16, 4, 1)),
        ),
        (Settings(num_blocks=6, block_size=4), (("A", 8, 8, 1), ("B", 6, 8, 2))),
        (Settings(num_blocks=20, block_size=3, admit_lookahead=4, null_block=True), (("A", 5, 9, 1), ("B", 7, 5, 1))),
    ],
    ids=["chunks", "a recompute of two samples", "look-ahead"],
)
def test_a_last_block_that_is_said_to_be_full_is_full(
    settings: Settings, requests: tuple[tuple[str, int, int, int], ...]
) -> None:
    trace = run(settings, *requests)
    said_so = 0
    for row in np.flatnonzero(trace.happenings["kind"] == HAPPENINGS.index("allocated")):
        event, sequence = (int(trace.happenings[name][row]) for name in ("event", "sequence"))
        text = sentence_text(trace, event) or ""
        before = trace.cut(event=event - 1)
        table = before.table(sequence)
        if "gets block" in text and table:
            fill = before.tracks["blocks"]["fill"][table[-1]]
            assert ("is full" in text) == (fill == settings.block_size), text
            said_so += 1
    assert said_so


def test_only_who_has_a_seat_and_memory_above_the_watermark_is_said_to_fit() -> None:
    seats = run(Settings(num_blocks=6, block_size=4, max_num_seqs=2), ("A", 12, 8, 1), ("H", 16, 2, 1), ("F", 4, 2, 2))
    assert not any("F waits although it would fit" in text for text in said(seats))
    fits = run(Settings(num_blocks=6, block_size=4, max_num_seqs=3), ("A", 12, 8, 1), ("H", 16, 2, 1), ("F", 4, 2, 2))
    assert any("F waits although it would fit" in text for text in said(fits))


def test_blocks_that_a_radix_tree_keeps_are_not_free() -> None:
    trace = run_scenario(catalogue.load()["two-chats-two-shots"])
    admissions = 0
    for row in np.flatnonzero(trace.happenings["kind"] == HAPPENINGS.index("admitted")):
        event = int(trace.happenings["event"][row])
        found = re.search(r"because it needs (\d+) blocks? and (\d+)", sentence_text(trace, event) or "")
        if found:
            assert int(found[2]) == int((trace.cut(event=event - 1).tracks["blocks"]["state"] == 0).sum())
            admissions += 1
    assert admissions


def test_a_request_that_comes_back_computes_all_that_is_known_of_it() -> None:
    """B has a prompt of 6 and two samples; 3 tokens of each are known when it loses its memory: 6 + 3 + 3."""
    trace = run(Settings(block_size=4, num_blocks=7), ("A", 7, 12, 1), ("B", 6, 9, 2))
    resumed = np.flatnonzero(trace.happenings["kind"] == HAPPENINGS.index("resumed"))
    event = int(trace.happenings["event"][resumed[0]])
    assert trace.cut(event=event - 1).tracks["sequences"]["num_tokens"].tolist()[1:] == [9, 9]
    assert known_before(trace, np.array([1]), np.array([event])).tolist() == [12]
    rows = [row.tolist() for row in narrate(trace)[0] if row[1] == CODES["resumed_at_once"]]
    assert all(row[3] == 12 for row in rows if row[0] == event)
