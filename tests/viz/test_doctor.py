"""The zero-hit doctor on the page: its sentence for each reason, the table, the filter, and the way to the frame."""

import string

import pytest

from engine.loop import simulate
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from engine.trace.doctor import REASONS, diagnose
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


def _run(settings: Settings, *prompts: tuple[int, ...], answer: tuple[int, ...] = ()) -> Trace:
    script = (answer,) if answer else None
    requests = [
        Request(f"r{i}", 5.0 * i, Prompt.of_ids(ids), SamplingParams(1, len(answer) or 1), output_script=script)
        for i, ids in enumerate(prompts)
    ]
    return simulate(settings, ListWorkload(requests))


def _told(trace: Trace) -> tuple[str, str]:
    found = diagnose(trace)[-1]
    return say.what_was_found(trace, found), say.why_not_more(trace, found)


NONE = "r1 found none of its {} prompt tokens in the cache."


@pytest.mark.parametrize(
    ("trace", "found", "why"),
    [
        (
            _run(UNIT, A[:8], B[:8]),
            NONE.format(8),
            "Nobody before it begins with id 200: nothing is shared with anybody.",
        ),
        (
            _run(UNIT, A[:8], A[:3] + B[:5]),
            NONE.format(8),
            "The 3 tokens that it shares with r0 are shorter than a block of 4: as token 4 it has id 200, r0 has id 103.",
        ),
        (
            _run(RADIX, A[:8], A[:3]),
            NONE.format(3),
            (
                "The 3 tokens that it shares with r0 are shorter than a page of 4: as token 4 it has the end of its tokens, "
                "r0 has id 103."
            ),
        ),
        (
            _run(UNIT, A[:12], A[:8] + B[:4]),
            "r1 found 8 of its 12 prompt tokens in the cache, left there by r0 (8).",
            "The tokens differ at position 9: it has id 200, r0 has id 108.",
        ),
        (
            _run(UNIT, A[:12], A[:10] + B[:4]),
            "r1 found 8 of its 14 prompt tokens in the cache, left there by r0 (8).",
            "It shares 10 tokens with r0; the last 2 of them fill no block of 4.",
        ),
        (
            _run(UNIT, A[:8], A[:8]),
            "r1 found 4 of its 8 prompt tokens in the cache, left there by r0 (4).",
            "All 8 tokens were there before, but one at least has to be computed: the most is floor((8 - 1) / 4) = 1 block.",
        ),
        (
            _run(UNIT.with_(num_blocks=4), A[:9], B[:13], A[:9]),
            "r2 found none of its 9 prompt tokens in the cache.",
            "The next block, tokens 1 to 4, was there and was evicted in iteration 2 to make room for r1.",
        ),
        (
            _run(UNIT, A[:5], A[:5] + B[:3] + A[8:12], answer=B[:3]),
            "r1 found 4 of its 12 prompt tokens in the cache, left there by r0 (4).",
            (
                "Token 8 is id 202, the last one of an answer of r0: that was sampled and never computed, so the block that "
                "ends with it is in no cache."
            ),
        ),
        (
            _run(UNIT.with_(prefix_caching=False), A[:9], A[:9]),
            "",
            (
                "Prefix caching is off. With it, and with room for everything, r1 would have found 8 of its 9 prompt tokens, "
                "left by r0."
            ),
        ),
        (
            _run(UNIT.with_(prefix_caching=False), A[:9], B[:9]),
            "",
            (
                "Prefix caching is off. It would not have helped r1: no whole block of 4 of its 9 prompt tokens was there "
                "before."
            ),
        ),
        (_run(UNIT, A[:9], tuple(range(200))), "", "r1 was never admitted, so it never looked."),
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
        for text in (*table["reasons"].values(), *table["short"].values(), *table["buttons"].values()):
            assert {name for _, name, _, _ in string.Formatter().parse(text) if name} <= fields


def test_words_of_a_vocabulary_are_named() -> None:
    trace = run(catalogue.load()["two-chats-two-shots"])
    by_name = {trace.requests[d.request]["id"]: d for d in diagnose(trace)}
    assert say.why_not_more(trace, by_name["chat 2"]) == (
        "The tokens differ at position 6: it has “tell”, chat 1 has “what”."
    )


def test_the_table_has_a_row_for_each_request_and_names_its_iteration_as_the_button_does() -> None:
    trace = _run(UNIT.with_(num_blocks=4), A[:9], B[:13], A[:9])
    table = doctor.columns(trace, diagnose(trace))
    assert table["found"] == [0, 0, 0] and table["possible"] == [0, 0, 8]
    assert table["why not more"] == ["nothing shared", "nothing shared", "evicted in iteration 2"]
    assert table["iteration"] == [1, 2, 2]
    assert say.button(trace, diagnose(trace)[2]) == "Go to the eviction, iteration 2"


def test_the_hash_cache_says_where_the_match_stopped() -> None:
    trace = _run(UNIT, A[:12], A[:8] + B[:5])
    found = diagnose(trace)[1]
    met = hash_cache.met_blocks(trace, 1, found.event, found.hit)
    table = hash_cache.columns(trace, met, found)
    assert table["prefix"] == ["h0", "h1", "–"] and table["known as block"] == ["0", "1", "–"]
    assert table["state"] == ["kept, nobody reads it"] * 2 + ["never known"]
    assert table["match"] == ["found", "found", "the match stops here"]
    assert table["tokens"][2] == "200 201 202 203"


def _stage(scenario: str, name: str | None = None, **state: object):
    params = {"scenario": scenario, **({"run": name} if name else {})}
    return open_page(STAGE, params, **{charts.KEY: charts.CACHE, **state})


def test_the_tab_explains_the_chosen_request_and_its_button_leads_to_the_frame() -> None:
    app = _stage("two-chats-two-shots")
    assert not app.exception
    app.selectbox(key=doctor.REQUEST).select(2).run()
    assert "The tokens differ at position 6: it has “tell”, chat 1 has “what”." in texts(app)
    app.button(key="doctor-go").click().run()
    assert not app.exception
    trace = run(catalogue.load()["two-chats-two-shots"])
    assert app.query_params["f"] in ("6.4", ["6.4"])
    assert trace.parse_frame("6.4") == diagnose(trace)[2].blocking
    assert app.session_state["jump"] == 1


def test_the_filter_leaves_requests_that_found_nothing() -> None:
    app = _stage("two-chats-two-shots")
    assert len(app.selectbox(key=doctor.REQUEST).options) == 5
    app.toggle(key="doctor-zero").set_value(True).run()
    assert app.selectbox(key=doctor.REQUEST).options == ["chat 1", "few-shot 1"]
    app.text_input(key="doctor-find").input("few").run()
    assert app.selectbox(key=doctor.REQUEST).options == ["few-shot 1"]
    app.text_input(key="doctor-find").input("nobody").run()
    assert not app.exception and "No request of this run is like that." in texts(app)


def test_a_run_without_a_cache_says_what_it_would_have_found() -> None:
    app = _stage("shared-system-prompt")
    off = next(r.name for r in catalogue.load()["shared-system-prompt"].runs if "cach" not in r.name)
    app = _stage("shared-system-prompt", off)
    app.selectbox(key=doctor.REQUEST).select(1).run()
    assert not app.exception
    assert "Prefix caching is off. With it, and with room for everything, R2 would have found 800 of its" in texts(app)


def test_hashed_blocks_get_their_table_and_a_tree_does_not() -> None:
    app = _stage("thousand-shared", "blocks-of-16")
    app.selectbox(key=doctor.REQUEST).select(1).run()
    assert not app.exception
    chain = next(frame.value for frame in app.dataframe if "prefix" in frame.value.columns)
    assert chain["match"].tolist() == ["found"] * 62
    app = _stage("two-chats-two-shots")
    assert not any("prefix" in frame.value.columns for frame in app.dataframe)
