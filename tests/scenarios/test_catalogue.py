"""The catalogue: every scenario runs as recorded, can be written and read, and shows the numbers of the texts."""

import json

import numpy as np
import pytest

from engine.trace.trace import Trace
from engine.trace.track import BLOCK_STATES, HAPPENINGS
from scenarios import catalogue
from scenarios.run import run
from scenarios.scenario import CHIPS, Scenario
from scenarios.summary import recorded_at, summaries

SCENARIOS = catalogue.load()
SMALL = [name for name, scenario in SCENARIOS.items() if scenario.workload is None]


def trace_of(name: str, run_name: str | None = None) -> Trace:
    return run(SCENARIOS[name], run_name)


def blocks_in_use(trace: Trace, step: int) -> int:
    return int((trace.cut(step=step, at="scheduled").tracks["blocks"]["ref_count"] > 0).sum())


def tables_at_the_end(trace: Trace) -> list[list[int]]:
    frame = trace.cut(event=trace.num_events)
    return [frame.table(sequence) for sequence in range(len(trace.requests))]


def test_every_section_of_the_list_has_its_scenarios() -> None:
    sections = {scenario.section for scenario in SCENARIOS.values()}
    expected = "B04 B05 B07 C02 C04 C06 C12 D01 D02 D03 E02 E03 E04 E09 H03 H04 H05 H06 H08 "
    expected += "H10 H12 H13 H14 H15 H16 H17 H18 H19"
    assert sections == set(expected.split())


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_has_a_story_and_chips(name: str) -> None:
    scenario = SCENARIOS[name]
    assert scenario.name == name
    assert 10 < len(scenario.title["en"]) < 60
    assert len(scenario.story["en"]) > 150 and "  " not in scenario.story["en"]
    assert scenario.chips and set(scenario.chips) <= set(CHIPS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_is_what_was_recorded(name: str) -> None:
    scenario = SCENARIOS[name]
    assert summaries(scenario) == json.loads(recorded_at(scenario).read_text())


@pytest.mark.parametrize("name", SCENARIOS)
def test_bookmarks_point_at_steps_and_events_that_exist(name: str) -> None:
    scenario = SCENARIOS[name]
    traces = {each.name: run(scenario, each.name) for each in scenario.runs} if scenario.bookmarks else {}
    for bookmark in scenario.bookmarks:
        trace = traces[bookmark.run]
        trace.cut(
            event=trace.parse_frame(f"{bookmark.step}.{bookmark.event}" if bookmark.event else str(bookmark.step))
        )
        assert 0 < len(bookmark.text["en"]) <= 90


@pytest.mark.parametrize("name", SMALL)
def test_a_scenario_file_gives_the_same_runs(name: str) -> None:
    scenario = SCENARIOS[name]
    again = Scenario.load(json.loads(json.dumps(scenario.dump())))
    for each in scenario.runs:
        assert run(again, each.name).run_id == run(scenario, each.name).run_id


def test_step_by_step_prints_the_eight_times_of_the_lecture() -> None:
    continuous = [f"{end:.3f}" for end in trace_of("step-by-step", "continuous").times[:, 1]]
    static = [f"{end:.3f}" for end in trace_of("step-by-step", "static").times[:, 1]]
    assert continuous[:3] == ["0.018", "0.036", "0.055"]
    assert static[:3] == ["0.028", "0.046", "0.065"]
    assert static[5] == "0.119"


def test_ten_iterations_fill_thirty_places() -> None:
    continuous = trace_of("ten-iterations", "continuous").steps["num_scheduled_sequences"]
    static = trace_of("ten-iterations", "static").steps["num_scheduled_sequences"]
    assert list(continuous) == [3] * 10
    assert static[:8].sum() == 16


def test_address_translation_finds_token_9_in_block_5() -> None:
    tables = tables_at_the_end(trace_of("address-translation"))
    assert tables == [[7, 2, 5], [3, 4]]
    assert (tables[0][9 // 4], 9 % 4) == (5, 1)


def test_alan_turing_takes_block_0_for_the_ninth_token() -> None:
    trace = trace_of("alan-turing")
    tables = [trace.cut(step=step, at="scheduled").table(0) for step in range(4)]
    assert tables == [[3, 2], [3, 2], [3, 2], [3, 2, 0]]


def test_two_sequences_take_turns_in_eight_blocks() -> None:
    trace = trace_of("eight-blocks")
    assert tables_at_the_end(trace) == [[0, 2, 6], [1, 4, 7]]
    assert np.flatnonzero(trace.cut(event=trace.num_events).tracks["blocks"]["ref_count"] == 0).tolist() == [3, 5]


def test_two_forks_copy_the_open_block_only() -> None:
    trace = trace_of("fork-and-copy")
    frame = trace.cut(step=4)
    assert [frame.table(sequence) for sequence in range(3)] == [[7, 6], [7, 5], [7, 4]]
    counts = trace.cut(step=5).tracks["blocks"]["ref_count"].tolist()
    assert counts == [0, 0, 0, 0, 1, 1, 0, 2]


@pytest.mark.parametrize(
    ("name", "blocks", "copies"),
    [
        ("four-samples", 22, 3),
        ("four-samples-unshared", 40, 0),
        ("four-samples-parent-kept", 23, 4),
        ("four-samples-aligned", 22, 0),
    ],
)
def test_four_samples_need_so_many_blocks_and_copies(name: str, blocks: int, copies: int) -> None:
    trace = trace_of(name)
    (recorded,) = json.loads(recorded_at(SCENARIOS[name]).read_text()).values()
    assert blocks_in_use(trace, trace.num_steps - 1) == blocks
    assert recorded["copies"] == copies


def test_a_sequence_of_1000_tokens_leaves_8_or_1048_or_24_slots() -> None:
    wasted = {}
    for each in SCENARIOS["last-block"].runs:
        frame = trace_of("last-block", each.name).cut(step=20, at="scheduled")
        if each.name == "paged":
            wasted[each.name] = 16 * len(frame.table(0)) - int(frame.tracks["blocks"]["fill"].sum())
        else:
            wasted[each.name] = int(frame.tracks["strips"]["size"][0] - frame.tracks["strips"]["used"][0])
    assert wasted == {"paged": 8, "max": 1_048, "pow2": 24}


def test_an_h100_runs_80_or_312_requests_at_once() -> None:
    running = {each.name: trace_of("h100-capacity", each.name).steps for each in SCENARIOS["h100-capacity"].runs}
    assert running["contiguous"]["num_running"].max() == 80
    assert running["paged"]["num_running"].tolist() == [312] * 300
    assert running["paged"]["num_used"].max() == 312 * 82


def test_a_reserves_2048_slots_and_uses_512() -> None:
    strips = trace_of("reserve-2048", "max").cut(step=509, at="scheduled").tracks["strips"]
    assert (strips["size"][0], strips["used"][0]) == (2_048, 512)
    assert (strips["size"][1], strips["size"][2]) == (2_048, 0)


def test_d_fits_into_the_free_slots_of_oracle_but_into_no_hole() -> None:
    strips = trace_of("three-wastes", "oracle").cut(step=6, at="scheduled").tracks["strips"]
    assert (strips["start"][1], strips["size"][1]) == (9, 13)
    assert strips["size"].sum() == 13  # of 32 slots: holes of 9 and 10, D needs 11
    assert strips["size"][3] == 0


def test_a_small_memory_in_the_right_order_finds_all_that_is_shared() -> None:
    """30 x 10 prompts of 470 tokens, of which 30 + 30 x 400 + 300 x 40 are different."""
    computed = {
        each.name: int(trace_of("thirty-tasks", each.name).steps["num_scheduled_tokens"].sum())
        for each in SCENARIOS["thirty-tasks"].runs
    }
    assert computed["longest-prefix-first"] == computed["depth-first"] == 24_030
    assert computed["fcfs"] > 0.89 * 141_000
    assert 24_030 < computed["fcfs-4000"] < computed["fcfs"]


def admitted(name: str, run_name: str) -> list[str]:
    trace = trace_of(name, run_name)
    rows = trace.happenings["kind"] == HAPPENINGS.index("admitted")
    return [trace.requests[number]["id"] for number in trace.happenings["request"][rows]]


def test_cold_runs_second_or_sixth_or_last() -> None:
    places = {
        each.name: admitted("starved-request", each.name).index("cold") for each in SCENARIOS["starved-request"].runs
    }
    assert places == {"fcfs": 1, "longest-prefix-first": 60, "with-aging": 5}


def test_without_its_first_block_a_chain_of_known_blocks_is_lost() -> None:
    """Three blocks have gone: the ends of both questions, or the beginning that they share and one end."""
    cached = {}
    for name in ("tail-first", "head-first"):
        trace = trace_of("leaves-first", name)
        states = trace.cut(step=5).tracks["blocks"]["state"]
        questions = {*trace.cut(step=1, at="scheduled").table(0), *trace.cut(step=3, at="scheduled").table(1)}
        taken = set(trace.cut(step=5, at="scheduled").table(2))
        cached[name] = sorted(b for b in questions - taken if states[b] == BLOCK_STATES.index("cached"))
    assert cached == {"tail-first": [0, 1, 4], "head-first": [1, 4, 5]}
    tokens = [int(trace_of("leaves-first", name).steps["num_scheduled_tokens"][6]) for name in cached]
    assert tokens == [4, 12]


def test_nineteen_of_24_wait_for_the_tree_or_nobody_for_the_blocks() -> None:
    running = [trace_of("larger-batch", name).steps["num_running"] for name in ("without", "blocks", "radix")]
    assert [steps[:2].tolist() for steps in running] == [[5, 5], [24, 24], [5, 24]]
