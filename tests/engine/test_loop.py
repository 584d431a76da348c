"""Whole runs that fit on a slide, step by step."""

from engine.loop import Engine, simulate
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.settings import Settings
from engine.workload import ListWorkload


def request(name: str, prompt_len: int, max_tokens: int, arrival: float = 0.0, **more) -> Request:
    return Request(name, arrival, Prompt.of_length(prompt_len), SamplingParams(more.pop("n", 1), max_tokens), **more)


def scheduled(settings: Settings, requests: list[Request]) -> list[dict[str, int]]:
    """Tokens of each request in each step."""
    engine, steps = Engine(settings), []
    execute = engine.executor.execute

    def watch(batch):
        step: dict[str, int] = {}
        for row in batch.rows:
            name = row.sequence.group.request.request_id
            step[name] = step.get(name, 0) + row.num_tokens
        steps.append(step)
        return execute(batch)

    engine.executor.execute = watch
    engine.run(ListWorkload(requests))
    return steps


UNIT = Settings(step_time=1.0)


def test_b05_continuous_batching_fills_every_place():
    outputs = {"A": 3, "B": 8, "C": 5, "D": 4, "G": 5, "E": 3, "F": 2}
    steps = scheduled(UNIT.with_(max_num_seqs=3), [request(name, 1, n) for name, n in outputs.items()])
    assert ["".join(step) for step in steps] == ["ABC"] * 3 + ["BCD"] * 2 + ["BDG"] * 2 + ["BGE"] + ["GEF"] * 2
    assert sum(len(step) for step in steps) == 30


def test_b05_static_batching_waits_for_the_longest():
    outputs = {"A": 3, "B": 8, "C": 5, "D": 4, "E": 3}
    steps = scheduled(UNIT.with_(max_num_seqs=3, policy="static"), [request(name, 1, n) for name, n in outputs.items()])
    assert ["".join(step) for step in steps][:9] == ["ABC"] * 3 + ["BC"] * 2 + ["B"] * 3 + ["DE"]


def test_static_batching_can_wait_for_a_full_batch():
    requests = [request("A", 1, 2), request("B", 1, 2, arrival=5.0), request("C", 1, 2, arrival=9.0)]
    settings = UNIT.with_(max_num_seqs=2, policy="static", static_start="full")
    trace = simulate(settings, ListWorkload(requests))
    assert trace.times[:, 0].tolist() == [5.0, 6.0, 9.0, 10.0]


def test_a_chunk_takes_what_the_decodes_leave_of_the_budget():
    settings = UNIT.with_(policy="chunked", max_num_batched_tokens=16)
    steps = scheduled(settings, [request("A", 3, 6), request("B", 40, 2, arrival=1.0), request("C", 3, 2, arrival=2.0)])
    assert steps[:5] == [
        {"A": 3},
        {"A": 1, "B": 15},
        {"A": 1, "B": 15},
        {"A": 1, "B": 10, "C": 3},
        {"A": 1, "B": 1, "C": 1},
    ]


def test_decodes_first_serves_a_decode_admitted_behind_a_long_prefill():
    """A (4 tokens of budget) is still reading its prompt when B, behind it in order, wants to decode."""
    requests = [request("A", 12, 2, n=1), request("B", 2, 4)]
    settings = UNIT.with_(policy="chunked", max_num_batched_tokens=6, chunk_size=4)
    assert scheduled(settings, requests)[:2] == [{"A": 4, "B": 2}, {"A": 4, "B": 1}]
    tight = UNIT.with_(policy="chunked", max_num_batched_tokens=4, chunk_size=3)
    in_order = scheduled(tight, [request("A", 12, 2), request("B", 1, 4)])
    first = scheduled(tight.with_(running_order="decodes_first"), [request("A", 12, 2), request("B", 1, 4)])
    assert in_order[1] == first[1] == {"A": 3, "B": 1}


def test_four_samples_are_recomputed_once_and_share_again():
    """Two requests of four samples in 20 blocks of 4 (each takes 18): the second is preempted and its prompt is computed once more."""
    settings = UNIT.with_(num_blocks=20, block_size=4)
    engine = Engine(settings)
    engine.run(ListWorkload([request("A", 10, 12, n=4), request("B", 10, 12, n=4)]))
    a, b = engine.groups
    assert a.num_preemptions == 0
    assert b.num_preemptions > 0
    assert a.status is b.status is SequenceStatus.FINISHED
    assert engine.kv.num_used == 0


def test_a_recompute_longer_than_the_budget_runs_alone():
    settings = UNIT.with_(num_blocks=5, block_size=4, max_num_seqs=2, max_num_batched_tokens=10)
    steps = scheduled(settings, [request("A", 4, 14), request("B", 6, 10)])
    oversized = [step for step in steps if sum(step.values()) > 10]
    assert oversized == [{"B": 11}] or all(list(step) == ["B"] for step in oversized)
    assert oversized


def test_one_output_token_leaves_nothing_behind():
    engine = Engine(UNIT.with_(num_blocks=8, block_size=4))
    engine.run(ListWorkload([request("A", 5, 1, n=3)]))
    assert engine.num_steps == 1
    assert engine.kv.num_used == 0


def test_a_run_stops_at_its_step_limit():
    engine = Engine(UNIT.with_(max_steps=5))
    engine.run(ListWorkload([request("A", 4, 100_000)]))
    assert engine.num_steps == 5


def test_later_rounds_arrive_after_the_earlier_ended_even_when_it_was_refused():
    requests = [request("A", 4, 2), request("A2", 4, 2, after="A", delay=3.0)]
    requests += [request("X", 0, 2), request("X2", 4, 2, after="X", delay=1.0)]
    trace = simulate(UNIT, ListWorkload(requests))
    assert {r["id"]: r["arrival_s"] for r in trace.requests} == {"A": 0.0, "X": 0.0, "X2": 1.0, "A2": 5.0}


def test_two_engines_with_different_settings_do_not_touch_each_other():
    requests = [request("A", 10, 5), request("B", 10, 5)]
    alone = simulate(UNIT.with_(num_blocks=4), ListWorkload(requests)).run_id
    one, two = Engine(UNIT.with_(num_blocks=4)), Engine(UNIT.with_(num_blocks=64, block_size=2))
    for engine in (one, two, one, two):
        engine.submit(requests[0])
        engine.step()
    assert simulate(UNIT.with_(num_blocks=4), ListWorkload(requests)).run_id == alone


def test_the_context_cuts_the_output_and_refuses_what_has_no_room():
    engine = Engine(Settings(max_model_len=2048))
    sizes = [(2047, 1), (2047, 5), (2048, 1), (2049, 1), (1, 2047), (1, 2048)]
    groups = [engine.submit(request(f"r{i}", *size)) for i, size in enumerate(sizes)]
    assert [g.max_tokens for g in groups if g.status is SequenceStatus.WAITING] == [1, 1, 2047, 2047]
    assert [g.index for g in groups if g.status is SequenceStatus.REJECTED] == [2, 3]
