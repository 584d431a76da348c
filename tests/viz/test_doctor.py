"""The zero-hit doctor on the page: its sentence for each reason, the table, the filter, and the way to the frame."""

import string
from dataclasses import replace
from itertools import chain

import pytest
from streamlit.testing.v1 import AppTest

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.doctor import REASONS, diagnose
from engine.trace.hash_cache import met_blocks
from engine.trace.trace import Trace
from engine.workload import ListWorkload
from scenarios import catalogue
from scenarios.run import run
from tests.viz.app_pages import STAGE, open_page, texts
from viz.pages.parts import charts, doctor, hash_cache
from viz.pages.parts import doctor_words as say

UNIT = Settings(block_size=4, num_blocks=16, step_time=1.0, prefix_caching=True)
RADIX = UNIT.with_(prefix_caching=False, kv_manager="radix")
A = tuple(range(100, 116))
B = tuple(range(200, 216))


def run_of(settings: Settings, *prompts: tuple[int, ...], answer: tuple[int, ...] = ()) -> Trace:
    script = (answer,) if answer else None
    requests = [
        Request(f"r{i}", 5.0 * i, Prompt.of_ids(ids), SamplingParams(1, len(answer) or 1), output_script=script)
        for i, ids in enumerate(prompts)
    ]
    return simulate(settings, ListWorkload(requests))


def _told(trace: Trace) -> tuple[str, str]:
    found = diagnose(trace)[-1][-1]
    return say.what_was_found(trace, found), say.why_not_more(trace, found)


NONE = "r1 found none of its {} prompt tokens in the cache."


@pytest.mark.parametrize(
    ("trace", "found", "why"),
    [
        (
            run_of(UNIT, A[:8], B[:8]),
            NONE.format(8),
            "Nobody before it begins with id 200: nothing is shared with anybody.",
        ),
        (
            run_of(UNIT, A[:8], A[:3] + B[:5]),
            NONE.format(8),
            "The 3 tokens that it shares with r0 are shorter than a block of 4: as token 4 it has id 200, r0 has id 103.",
        ),
        (
            run_of(RADIX, A[:8], A[:3]),
            NONE.format(3),
            (
                "The 3 tokens that it shares with r0 are shorter than a page of 4: as token 4 it has the end of its tokens, "
                "r0 has id 103."
            ),
        ),
        (
            run_of(UNIT, A[:12], A[:8] + B[:4]),
            "r1 found 8 of its 12 prompt tokens in the cache, left there by r0 (8).",
            "The tokens differ at position 9: it has id 200, r0 has id 108.",
        ),
        (
            run_of(UNIT, A[:12], A[:10] + B[:4]),
            "r1 found 8 of its 14 prompt tokens in the cache, left there by r0 (8).",
            "It shares 10 tokens with r0; the last 2 of them fill no block of 4.",
        ),
        (
            run_of(UNIT, A[:8], A[:8]),
            "r1 found 4 of its 8 prompt tokens in the cache, left there by r0 (4).",
            "All 8 tokens were there before, but one at least has to be computed: the most is floor((8 - 1) / 4) = 1 block.",
        ),
        (
            run_of(UNIT.with_(num_blocks=4), A[:9], B[:13], A[:9]),
            "r2 found none of its 9 prompt tokens in the cache.",
            "The next block, tokens 1 to 4, was there and was evicted in iteration 2 to make room for r1.",
        ),
        (
            run_of(UNIT, A[:5], A[:5] + B[:3] + A[8:12], answer=B[:3]),
            "r1 found 4 of its 12 prompt tokens in the cache, left there by r0 (4).",
            (
                "Token 8 is id 202, the last one of an answer of r0: that was sampled and never computed, so the block that "
                "ends with it is in no cache."
            ),
        ),
        (
            run_of(UNIT.with_(prefix_caching=False), A[:9], A[:9]),
            "",
            (
                "Prefix caching is off. With it, and with room for everything, r1 would have found 8 of its 9 prompt tokens, "
                "left by r0."
            ),
        ),
        (
            run_of(UNIT.with_(prefix_caching=False), A[:9], B[:9]),
            "",
            (
                "Prefix caching is off. It would not have helped r1: no whole block of 4 of its 9 prompt tokens was there "
                "before."
            ),
        ),
        (run_of(UNIT, A[:9], tuple(range(200))), "", "r1 was never admitted, so it never looked."),
    ],
)
def test_the_blocking_fact_is_one_sentence_with_its_numbers(trace: Trace, found: str, why: str) -> None:
    assert _told(trace) == (found, why)


def test_two_equal_prompts_in_one_step() -> None:
    requests = [Request(name, 0.0, Prompt.of_ids(A[:9]), SamplingParams(1, 1)) for name in "ab"]
    trace = simulate(UNIT.with_(register_at="update"), ListWorkload(requests))
    assert _told(trace)[1] == (
        "a begins with the same tokens, but tokens 1 to 4 were not in the cache yet; they came in iteration 1."
    )


def test_every_language_says_every_reason_and_uses_known_fields_only() -> None:
    fields = {
        *"rxnk",
        "hit",
        "shared",
        "rest",
        "most",
        "size",
        "unit",
        "tokens",
        "limit",
        "mine",
        "theirs",
        "first",
        "last",
        "iteration",
        "cause",
    }
    for table in say.WORDS.values():
        assert set(table["short"]) == set(REASONS)
        assert set(table["reasons"]) == set(REASONS) | {"off_nothing", "never_came"}
        assert set(table["own"]) <= set(table["reasons"])
        texts = (table[name].values() for name in ("reasons", "own", "short", "buttons"))
        for text in chain.from_iterable(texts):
            assert {name for _, name, _, _ in string.Formatter().parse(text) if name} <= fields


def test_words_of_a_vocabulary_are_named() -> None:
    trace = run(catalogue.load()["two-chats-two-shots"])
    by_name = {trace.requests[d.request]["id"]: d for (d,) in diagnose(trace)}
    assert say.why_not_more(trace, by_name["chat 2"]) == (
        "The tokens differ at position 6: it has “tell”, chat 1 has “what”."
    )


def test_the_table_has_a_row_for_each_request_and_names_its_iteration_as_the_button_does() -> None:
    trace = run_of(UNIT.with_(num_blocks=4), A[:9], B[:13], A[:9])
    table = doctor.columns(trace, diagnose(trace))
    assert table["found"] == [0, 0, 0] and table["possible"] == [0, 0, 8]
    assert table["why not more"] == ["nothing shared", "nothing shared", "evicted in iteration 2"]
    assert table["iteration"] == [1, 2, 2]
    assert say.button(trace, diagnose(trace)[2][0]) == "Go to the eviction, iteration 2"


def test_the_hash_cache_says_where_the_match_stopped() -> None:
    trace = run_of(UNIT, A[:12], A[:8] + B[:5])
    found = diagnose(trace)[1][0]
    met = met_blocks(trace, found)
    table = hash_cache.columns(trace, met, found)
    assert table["prefix"] == ["h0", "h1", "–"] and table["known as block"] == ["0", "1", "–"]
    assert table["state"] == ["kept, nobody reads it"] * 2 + ["never known"]
    assert table["match"] == ["found", "found", "the match stops here"]
    assert table["tokens"][2] == "200 201 202 203"


def cache_tab(scenario: str, name: str | None = None, **state: object):
    params = {"scenario": scenario, **({"run": name} if name else {})}
    return open_page(STAGE, params, **{charts.KEY: charts.CACHE, **state})


def test_the_tab_explains_the_chosen_request_and_its_button_leads_to_the_frame() -> None:
    app = cache_tab("two-chats-two-shots")
    assert not app.exception
    app.selectbox(key=doctor.REQUEST).select(2).run()
    assert "The tokens differ at position 6: it has “tell”, chat 1 has “what”." in texts(app)
    app.button(key="doctor-go").click().run()
    assert not app.exception
    trace = run(catalogue.load()["two-chats-two-shots"])
    assert app.query_params["f"] in ("6.4", ["6.4"])
    assert trace.parse_frame("6.4") == diagnose(trace)[2][0].blocking
    assert app.session_state["jump"] == 1


def test_the_filter_leaves_requests_that_found_nothing() -> None:
    app = cache_tab("two-chats-two-shots")
    assert len(app.selectbox(key=doctor.REQUEST).options) == 5
    app.toggle(key="doctor-zero").set_value(True).run()
    assert app.selectbox(key=doctor.REQUEST).options == ["chat 1", "few-shot 1"]
    app.text_input(key="doctor-find").input("few").run()
    assert app.selectbox(key=doctor.REQUEST).options == ["few-shot 1"]
    app.text_input(key="doctor-find").input("nobody").run()
    assert not app.exception and "No request of this run is like that." in texts(app)


def test_a_run_without_a_cache_says_what_it_would_have_found() -> None:
    app = cache_tab("shared-system-prompt")
    off = next(r.name for r in catalogue.load()["shared-system-prompt"].runs if "cach" not in r.name)
    app = cache_tab("shared-system-prompt", off)
    app.selectbox(key=doctor.REQUEST).select(1).run()
    assert not app.exception
    assert "Prefix caching is off. With it, and with room for everything, R2 would have found 800 of its" in texts(app)


def test_hashed_blocks_get_their_table_and_a_tree_does_not() -> None:
    app = cache_tab("thousand-shared", "blocks-of-16")
    app.selectbox(key=doctor.REQUEST).select(1).run()
    assert not app.exception
    table = next(frame.value for frame in app.dataframe if "prefix" in frame.value.columns)
    assert table["match"].tolist() == ["found"] * 62
    app = cache_tab("two-chats-two-shots")
    assert not any("prefix" in frame.value.columns for frame in app.dataframe)


def test_every_admission_of_a_preempted_request_is_explained() -> None:
    requests = [
        Request(f"r{i}", 0.0, Prompt.of_ids(ids[:8]), SamplingParams(1, 16), output_script=(tuple(range(1, 17)),))
        for i, ids in enumerate((A, B))
    ]
    trace = simulate(UNIT.with_(num_blocks=8), ListWorkload(requests))
    own = diagnose(trace)[1]
    assert [say.admission(trace, each, len(own)) for each in own] == [
        "admission 1 of 2, iteration 1",
        f"admission 2 of 2, iteration {say.iteration(trace, own[1].event)}",
    ]
    assert say.what_was_found(trace, own[0]) == "r1 found none of its 8 prompt tokens in the cache."
    assert say.what_was_found(trace, own[1]) == (
        "r1 found 8 of its 17 tokens of prompt and answer in the cache, left there by r1 (8)."
    )
    assert doctor.columns(trace, diagnose(trace))["admissions"] == [1, 2]

    def draw(trace) -> None:
        from viz.pages.parts import doctor

        doctor.show(trace)

    app = AppTest.from_function(draw, args=(trace,), default_timeout=60).run()
    assert not app.exception
    assert not [box for box in app.selectbox if str(box.key).startswith(doctor.ADMISSION)]
    app.selectbox(key=doctor.REQUEST).select(1).run()
    assert say.why_not_more(trace, own[0]) in texts(app)
    app.selectbox(key=f"{doctor.ADMISSION}-1").select(1).run()
    assert not app.exception
    assert say.why_not_more(trace, own[1]) in texts(app) and say.why_not_more(trace, own[0]) not in texts(app)
    table = next(frame.value for frame in app.dataframe if "prefix" in frame.value.columns)
    assert len(table) == 4, "of 17 tokens four blocks of 4 are full"


def test_what_a_preempted_request_had_itself_is_told_as_its_own() -> None:
    trace = run_of(UNIT, A[:10], A[:10])
    found = diagnose(trace)[1][0]
    assert found.reason == "tail"
    own = replace(found, other=1)
    assert say.why_not_more(trace, own) == "The last 2 of its 10 tokens fill no block of 4."
    never = replace(found, other=1, reason="not_yet", hit=4, blocking=found.event)
    assert say.why_not_more(trace, never) == (
        "It had tokens 5 to 8 before it was preempted, but they never came into the cache."
    )
