"""Sequences that end before their length: a stop token, a request that is taken back, a memory that is full."""

import pytest

from engine.batch import Batch, StepOutput
from engine.live import LiveEngine
from engine.request import SamplingParams, SequenceStatus
from engine.script import replay
from engine.settings import Settings, SettingsError
from engine.trace.endings import finish_reasons
from engine.trace.metrics import measure
from viz.player.sentences import sentence_text

STOP = 9


class Speaker:
    """Says for every sample what is written down for it (by request and sample), then 1 for ever."""

    def __init__(self, lines: dict[tuple[str, int], list[int]] | None = None) -> None:
        self._lines = lines or {}
        self.num_rows: list[int] = []

    def execute(self, batch: Batch) -> StepOutput:
        self.num_rows.append(len(batch.rows))
        return StepOutput(1.0, [self._answer(row) for row in batch.rows])

    def _answer(self, row) -> list[int]:
        group = row.sequence.group
        samples = group.sequences if row.num_samples > 1 else [row.sequence] * row.num_samples
        answers = [self._lines.get((group.request.request_id, seq.sample), []) for seq in samples]
        return [
            answer[len(seq.output_token_ids)] if len(seq.output_token_ids) < len(answer) else 1
            for seq, answer in zip(samples, answers, strict=True)
        ]


def live(settings: Settings, **lines: list[int]) -> LiveEngine:
    """`A=[1, 2]` is what A's only sample says, `A1=...` what its sample 1 says."""
    spoken = {(name[0], int(name[1:] or 0)): tokens for name, tokens in lines.items()}
    return LiveEngine(settings, Speaker(spoken), clock=lambda: 0.0)


def submit(engine: LiveEngine, name: str, prompt_len: int, max_tokens: int = 20, n: int = 1):
    sampling = SamplingParams(n, max_tokens, stop_token_ids=(STOP,))
    return engine.submit(range(100, 100 + prompt_len), sampling, request_id=name)


def finish(engine: LiveEngine) -> list[str]:
    """To the end; returns what was said about it."""
    while engine.has_work:
        assert engine.step() is not None or not engine.has_work
        engine.engine.check()
    trace = engine.trace()
    assert replay(engine.script()).run_id == trace.run_id
    return [text for event in range(trace.num_events + 1) if (text := sentence_text(trace, event))]


SMALL = Settings(block_size=4, num_blocks=8)


def test_a_stop_token_ends_an_answer_and_is_its_last_token() -> None:
    engine = live(SMALL, A=[1, 2, STOP, 4])
    (seq,) = submit(engine, "A", 4).sequences
    said = finish(engine)
    assert seq.output_token_ids == [1, 2, STOP]
    assert engine.engine.num_steps == 3
    assert said[-1] == "A ends with its stop token after 3 tokens; 2 blocks return to the pool."
    assert finish_reasons(engine.trace()) == ["stop"]


def test_a_stop_token_at_the_limit_is_a_stop() -> None:
    engine = live(SMALL, A=[1, STOP], B=[1, 2])
    submit(engine, "A", 4, max_tokens=2)
    submit(engine, "B", 4, max_tokens=2)
    finish(engine)
    assert finish_reasons(engine.trace()) == ["stop", "length"]


def test_the_place_of_who_stopped_is_taken_in_the_next_step() -> None:
    engine = live(SMALL.with_(max_num_seqs=1), A=[1, STOP])
    submit(engine, "A", 4)
    submit(engine, "B", 4, max_tokens=3)
    assert "B is admitted because A left its seat." in finish(engine)
    assert engine.engine.num_steps == 5


def test_in_a_static_batch_who_stopped_keeps_its_seat() -> None:
    engine = live(SMALL.with_(policy="static", max_num_seqs=2), A=[STOP], C=[STOP])
    for name in "ABC":
        submit(engine, name, 4, max_tokens=4)
    finish(engine)
    assert engine.engine.num_steps == 5


@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("manager", ["paged", "hashed", "radix", "max"])
def test_when_a_sample_stops_with_its_first_token_the_others_do_not_compute_the_prompt_again(
    first: int, manager: str
) -> None:
    values = {"kv_manager": "paged", "prefix_caching": True} if manager == "hashed" else {"kv_manager": manager}
    engine = live(
        Settings.of({**values, "block_size": 4, "num_blocks": 40, "max_model_len": 30}), **{f"A{first}": [STOP]}
    )
    group = submit(engine, "A", 6, max_tokens=5, n=3)
    finish(engine)
    lengths = [5, 5, 5]
    lengths[first] = 1
    assert [len(seq.output_token_ids) for seq in group.sequences] == lengths
    assert engine.trace().steps["num_scheduled_tokens"].tolist() == [6, 2, 2, 2, 2]


def test_a_request_that_waits_is_taken_back() -> None:
    engine = live(SMALL.with_(max_num_seqs=1))
    submit(engine, "A", 4, max_tokens=3)
    submit(engine, "B", 4)
    engine.step()
    assert engine.abort("B")
    assert not engine.abort("B")
    said = finish(engine)
    assert "B is stopped by its user after 0 tokens." in said
    assert not any("B is admitted" in text or "B is finished" in text for text in said)
    assert finish_reasons(engine.trace()) == ["length", "abort"]


def test_a_running_request_is_taken_back_with_all_its_samples_and_keeps_its_tokens() -> None:
    engine = live(SMALL)
    group = submit(engine, "A", 4, n=2)
    engine.step()
    engine.step()
    assert engine.abort("A")
    assert engine.engine.kv.num_used == 0
    assert not engine.has_work
    assert engine.step() is None
    assert [seq.output_token_ids for seq in group.sequences] == [[1, 1], [1, 1]]
    finish(engine)


def test_a_preempted_request_is_taken_back() -> None:
    engine = live(Settings(block_size=4, num_blocks=4))
    submit(engine, "A", 8, max_tokens=8)
    group = submit(engine, "B", 6, max_tokens=8)
    while group.status is not SequenceStatus.PREEMPTED:
        engine.step()
    assert engine.abort("B")
    assert finish(engine)[-1].startswith("A is finished after 8 tokens")


def test_with_reserved_memory_the_strip_of_a_request_that_is_taken_back_returns() -> None:
    settings = Settings(kv_manager="max", max_model_len=16, kv_capacity_tokens=32)
    for policy, num_used in (("continuous", 16), ("static", 32)):
        engine = live(settings.with_(policy=policy))
        submit(engine, "A", 4, max_tokens=4)
        submit(engine, "B", 4, max_tokens=4)
        engine.step()
        engine.abort("A")
        assert engine.engine.kv.num_used == num_used
        finish(engine)
        assert engine.engine.kv.num_used == 0


@pytest.mark.parametrize("manager", ["hashed", "radix"])
def test_what_a_request_had_computed_when_it_was_taken_back_is_still_found(manager: str) -> None:
    chosen = {"prefix_caching": True} if manager == "hashed" else {"kv_manager": "radix"}
    engine = live(Settings.of({**chosen, "block_size": 4, "num_blocks": 8}))
    submit(engine, "A", 10)
    engine.step()
    engine.abort("A")
    submit(engine, "B", 10, max_tokens=2)
    finish(engine)
    assert engine.trace().steps["num_scheduled_tokens"].tolist() == [10, 2, 1]


def test_an_answer_that_fills_the_memory_ends_there_with_its_length() -> None:
    """4 blocks of 4 hold the prompt of 8 and 8 of 9 output tokens; the last one has no KV yet."""
    engine = live(Settings(block_size=4, num_blocks=4))
    (seq,) = submit(engine, "A", 8, max_tokens=100).sequences
    (other,) = submit(engine, "B", 4, max_tokens=2).sequences
    said = finish(engine)
    assert "A ends here after 9 tokens, because it fills all memory; raise num_blocks." in said
    assert len(seq.output_token_ids) == 9
    assert len(other.output_token_ids) == 2
    assert finish_reasons(engine.trace()) == ["length", "length"]


def test_of_two_that_need_all_memory_the_first_is_served_to_its_end() -> None:
    engine = live(Settings(block_size=4, num_blocks=4))
    first, second = (submit(engine, name, 6, max_tokens=100).sequences[0] for name in "AB")
    finish(engine)
    assert (len(first.output_token_ids), len(second.output_token_ids)) == (11, 11)
    assert second.group.num_preemptions > 0


def test_samples_that_fill_the_memory_end_one_by_one() -> None:
    """A prompt block and 3 more: the first sample takes two, the second one and ends there, which leaves it to the first."""
    engine = live(Settings(block_size=4, num_blocks=4))
    group = submit(engine, "A", 4, max_tokens=100, n=2)
    finish(engine)
    assert [len(seq.output_token_ids) for seq in group.sequences] == [13, 5]


def test_only_a_prompt_that_does_not_fit_is_refused() -> None:
    engine = live(Settings(block_size=4, num_blocks=4))
    refused, let_in = submit(engine, "A", 17), submit(engine, "B", 16, max_tokens=100)
    assert engine.why_refused(refused) == (
        "The request needs 5 blocks and the memory has 4; shorten the prompt or raise num_blocks."
    )
    assert engine.why_refused(let_in) is None
    assert engine.why_refused(submit(engine, "C", 0)) == "The prompt is empty; write at least one word."
    finish(engine)


def test_a_live_run_refuses_memory_that_knows_how_long_an_answer_gets() -> None:
    with pytest.raises(SettingsError, match="kv_manager is 'oracle'"):
        live(Settings(kv_manager="oracle"))


def test_two_requests_cannot_have_one_name() -> None:
    engine = live(SMALL)
    submit(engine, "A", 4)
    with pytest.raises(ValueError, match="There is a request 'A' already"):
        submit(engine, "A", 4)


def test_who_has_no_memory_is_finished_when_the_next_step_begins() -> None:
    """A fills 4 blocks of 4 in 9 steps of 1 s; the tenth begins with B, which had to wait for the memory."""
    engine = live(Settings(block_size=4, num_blocks=4))
    submit(engine, "A", 8, max_tokens=100)
    submit(engine, "B", 12, max_tokens=2)
    finish(engine)
    assert measure(engine.trace()).requests.finish.tolist() == [9.0, 11.0]
