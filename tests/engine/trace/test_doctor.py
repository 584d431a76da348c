"""The zero-hit doctor: every reason by an example, and agreement with a doctor that compares everything with everything."""

import io
from itertools import chain
from random import Random
from typing import Any

import pytest

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.doctor import REASONS, Diagnosis, caused_by, diagnose, frame_name
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS
from engine.workload import ListWorkload
from tests.engine.trace.plain_doctor import Finding, examined, random_requests, random_settings

UNIT = Settings(block_size=4, num_blocks=16, step_time=1.0, prefix_caching=True)
RADIX = UNIT.with_(prefix_caching=False, kv_manager="radix")
A = tuple(range(100, 116))
B = tuple(range(200, 216))


def _request(name: str, arrival: float, ids: tuple[int, ...], answer: tuple[int, ...] = (), **more: Any) -> Request:
    script = {"output_script": (answer,)} if answer else {}
    return Request(name, arrival, Prompt.of_ids(ids), SamplingParams(1, len(answer) or 1), **script, **more)


def _run(settings: Settings, *requests: Request) -> Trace:
    return simulate(settings, ListWorkload(list(requests)))


def _last(settings: Settings, *requests: Request) -> Diagnosis:
    return diagnose(_run(settings, *requests))[-1][0]


@pytest.mark.parametrize("settings", [UNIT, RADIX])
def test_a_prompt_that_nobody_had_shares_nothing(settings: Settings) -> None:
    found = _last(settings, _request("a", 0, A[:8]), _request("b", 5, B[:8]))
    assert (found.reason, found.hit, found.shared, found.possible, found.other) == ("nothing", 0, 0, 0, -1)


@pytest.mark.parametrize("settings", [UNIT, RADIX])
def test_three_tokens_in_common_are_shorter_than_a_block_of_four(settings: Settings) -> None:
    found = _last(settings, _request("a", 0, A[:8]), _request("b", 5, A[:3] + B[:5]))
    assert (found.reason, found.hit, found.shared, found.other) == ("shorter", 0, 3, 0)
    assert (found.mine, found.theirs) == (200, 103)


def test_with_pages_of_one_token_the_same_three_are_found() -> None:
    settings = RADIX.with_(block_size=1, num_blocks=64)
    found = _last(settings, _request("a", 0, A[:8]), _request("b", 5, A[:3] + B[:5]))
    assert (found.reason, found.hit, found.shared, found.sources) == ("differs", 3, 3, ((0, 3),))


@pytest.mark.parametrize("settings", [UNIT, RADIX])
def test_tokens_that_differ_after_whole_blocks_are_named(settings: Settings) -> None:
    found = _last(settings, _request("a", 0, A[:12]), _request("b", 5, A[:8] + B[:4]))
    assert (found.reason, found.hit, found.shared, found.possible) == ("differs", 8, 8, 8)
    assert (found.mine, found.theirs, found.sources) == (200, 108, ((0, 8),))


@pytest.mark.parametrize("settings", [UNIT, RADIX])
def test_shared_tokens_after_the_last_whole_block_are_a_tail(settings: Settings) -> None:
    found = _last(settings, _request("a", 0, A[:12]), _request("b", 5, A[:10] + B[:4]))
    assert (found.reason, found.hit, found.shared, found.possible) == ("tail", 8, 10, 8)


@pytest.mark.parametrize("settings", [UNIT, RADIX])
def test_of_an_equal_prompt_one_token_has_to_be_computed(settings: Settings) -> None:
    found = _last(settings, _request("a", 0, A[:8]), _request("b", 5, A[:8]))
    assert (found.reason, found.hit, found.shared, found.possible, found.mine) == ("last_token", 4, 8, 4, None)


@pytest.mark.parametrize("settings", [UNIT.with_(num_blocks=4), RADIX.with_(num_blocks=4)])
def test_an_evicted_block_is_the_reason_and_its_eviction_the_frame(settings: Settings) -> None:
    trace = _run(settings, _request("a", 0, A[:9]), _request("b", 5, B[:13]), _request("c", 10, A[:9]))
    found = diagnose(trace)[-1][0]
    assert (found.reason, found.hit, found.shared, found.possible) == ("evicted", 0, 9, 8)
    assert trace.step_of(found.blocking) == 1, "b runs in step 1 and takes all four blocks"
    kinds = trace.happenings["kind"][trace.happenings["event"] == found.blocking]
    assert HAPPENINGS.index("evicted") in kinds
    assert trace.requests[caused_by(trace, found.blocking)]["id"] == "b"


def test_two_equal_prompts_in_one_step_compute_the_same_twice() -> None:
    trace = _run(UNIT.with_(register_at="update"), _request("a", 0, A[:9]), _request("b", 0, A[:9]))
    found = diagnose(trace)[-1][0]
    assert (found.reason, found.hit, found.shared, found.possible) == ("not_yet", 0, 9, 8)
    assert trace.steps["update_begin"][0] < found.blocking <= trace.steps["updated"][0]


def test_the_second_of_them_hits_at_once_where_blocks_are_known_as_soon_as_they_are_scheduled() -> None:
    found = _last(UNIT, _request("a", 0, A[:9]), _request("b", 0, A[:9]))
    assert (found.reason, found.hit) == ("tail", 8)


def test_the_last_token_of_an_answer_has_no_kv() -> None:
    first = _request("a", 0, A[:5], answer=B[:3])
    found = _last(UNIT, first, _request("b", 9, A[:5] + B[:3] + A[8:12]))
    assert (found.reason, found.hit, found.shared, found.mine, found.theirs) == ("no_kv", 4, 7, 202, 202)


def test_a_longer_answer_is_found_with_the_prompt() -> None:
    first = _request("a", 0, A[:5], answer=B[:4])
    found = _last(UNIT, first, _request("b", 9, A[:5] + B[:4] + A[8:12]))
    assert (found.reason, found.hit, found.sources) == ("differs" if found.shared == 8 else "tail", 8, ((0, 8),))


def test_without_a_cache_it_says_what_one_would_have_given() -> None:
    for settings in (UNIT.with_(prefix_caching=False), UNIT.with_(prefix_caching=False, kv_manager="oracle")):
        found = _last(settings, _request("a", 0, A[:9]), _request("b", 5, A[:9]))
        assert (found.reason, found.hit, found.shared, found.possible) == ("off", 0, 9, 8)


def test_who_never_runs_and_what_is_not_published_is_said() -> None:
    trace = _run(UNIT, _request("a", 0, A[:9]), _request("huge", 1, tuple(range(300))), _request("c", 2, A[:9]))
    assert [found.reason for (found,) in diagnose(trace)] == ["nothing", "not_admitted", "tail"]
    old = Trace.of(trace.header, trace.chunks())
    for request in old.requests:
        request.pop("prompt_ids")
    assert [(found.reason, found.hit) for (found,) in diagnose(old)] == [
        ("not_published", 0),
        ("not_admitted", 0),
        ("not_published", 8),
    ]


def test_prompts_made_of_contents_are_compared_token_by_token() -> None:
    def request(name: str, arrival: float, *runs: tuple[int, int, int]) -> Request:
        return Request(name, arrival, Prompt(runs), SamplingParams(1, 1))

    trace = _run(UNIT, request("a", 0, (7, 0, 4), (7, 4, 6)), request("b", 5, (7, 0, 9), (8, 0, 4)))
    found = diagnose(trace)[-1][0]
    assert (found.reason, found.hit, found.shared) == ("tail", 8, 9)
    assert (found.mine, found.theirs) == ((8, 0, 1), (7, 9, 1))


def test_the_name_of_a_frame_leads_back_to_its_event() -> None:
    trace = _run(UNIT.with_(num_blocks=4), *(_request(f"r{i}", i, (A, B)[i % 2][:9], answer=A[:5]) for i in range(6)))
    names = [frame_name(trace, event) for event in range(1, int(trace.steps["updated"][-1]) + 1)]
    assert [trace.parse_frame(name) for name in names] == list(range(1, len(names) + 1))
    assert str(trace.num_steps - 1) in names


def test_a_saved_run_gets_the_same_diagnoses() -> None:
    rng = Random(5)
    trace = _run(UNIT, *random_requests(rng))
    file = io.BytesIO()
    trace.save(file)
    assert diagnose(Trace.load(file.getvalue())) == diagnose(trace)


def test_a_request_that_was_preempted_looks_again_for_prompt_and_answer() -> None:
    """Two requests of 8 and up to 24 tokens in blocks of 4; b is preempted for a and comes back when a has ended."""
    answer = tuple(range(1, 17))
    both = (_request(name, 0, ids, answer=answer) for name, ids in (("a", A[:8]), ("b", B[:8])))
    trace = _run(UNIT.with_(num_blocks=8), *both)
    first, second = diagnose(trace)[1]
    assert (first.number, first.reason, first.num_tokens, first.hit) == (0, "nothing", 8, 0)
    assert (second.number, second.num_tokens, second.shared) == (1, 17, 17), "both had filled four of the eight blocks"
    assert second.event > first.event and second.is_own
    assert (second.reason, second.hit, second.sources) == ("evicted", 8, ((1, 8),))
    assert trace.requests[caused_by(trace, second.blocking)]["id"] == "a"


def test_what_goes_on_is_compared_as_far_as_it_is() -> None:
    """a has answered 1 2 3 when b comes with 1 2 3 4 5 after the same prompt; c comes with 6 as well when a has ended."""
    answer = (1, 2, 3, 4, 5, 6, 7, 8)
    b, c = (*A[:4], *answer[:5], 98), (*A[:4], *answer[:6], 99)
    trace = _run(UNIT, _request("a", 0, A[:4], answer=answer), _request("b", 3, b), _request("c", 20, c))
    during, after = (diagnose(trace)[number][0] for number in (1, 2))
    assert (during.shared, during.other, during.mine, during.theirs) == (7, 0, 4, None)
    assert (after.shared, after.other, after.mine, after.theirs) == (10, 0, 99, 7)


def test_it_tells_how_far_it_is_and_can_be_stopped() -> None:
    trace = _run(UNIT, *(_request(name, number, A[:5]) for number, name in enumerate("abc")))
    told: list[tuple[int, int]] = []
    diagnose(trace, lambda *progress: told.append(progress))
    assert told == [(0, 3), (1, 3), (2, 3)]

    def stop(done: int, number: int) -> None:
        told.append((done, number))
        if done == 1:
            raise KeyboardInterrupt

    told.clear()
    with pytest.raises(KeyboardInterrupt):
        diagnose(trace, stop)
    assert told == [(0, 3), (1, 3)]


@pytest.mark.parametrize("kind", ["hashed", "radix"])
def test_it_agrees_with_a_doctor_that_compares_everything(kind: str) -> None:
    seen: set[str] = set()
    for seed in range(400):
        rng = Random(seed)
        trace, plain = examined(random_settings(rng, kind), random_requests(rng))
        found = [
            Finding(d.request, d.number, d.reason, d.hit, d.shared, d.blocking)
            for of_one in diagnose(trace)
            for d in of_one
            if d.reason != "not_admitted"
        ]
        assert found == [finding for _, finding in sorted(plain.findings.items())], f"seed {seed}"
        seen |= {finding.reason for finding in found}
        seen |= {f"{finding.reason} again" for finding in found if finding.number}
        for d in chain.from_iterable(diagnose(trace)):
            assert sum(tokens for _, tokens in d.sources) == d.hit
    again = {"evicted again", "tail again", "last_token again"}
    assert seen >= again | (set(REASONS) - {"not_published", "not_admitted", "off"})
