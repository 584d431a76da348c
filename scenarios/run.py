"""Running a scenario, and the scenario that stands for a trace file.

A trace file is run on Llama-3-8B, an H100-80GB and 25,600 blocks of 16: with static batches of 8, with continuous
batching, and with chunked prefill. Every run is checked against the memory of this machine before it starts.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.loop import Engine, simulate
from engine.request import Request, SequenceStatus
from engine.settings import Settings, SettingsError
from engine.trace.metrics import measure
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, HAPPENINGS, REASONS, RESOURCES
from scenarios.fields import ScenarioError
from scenarios.memory import FEWER_REQUESTS, estimate, refuse_if_too_large
from scenarios.operations import OPERANDS, RADIX_OPERANDS, need_of_ops, read_ops
from scenarios.ops import run_ops
from scenarios.ops_run import OpsRun
from scenarios.radix_ops import run_radix_ops
from scenarios.scenario import Run, Scenario

Progress = Callable[[Engine | OpsRun], None]
"""Called with what runs: `num_done` (requests or operations) and `num_steps` say how far it is."""

TRACE_FILE_SETTINGS = Settings(
    hardware="H100-80GB", model="Llama-3-8B", block_size=16, num_blocks=25_600, max_num_seqs=256
)
TRACE_FILE_RUNS = (
    Run("static", {"policy": "static", "static_start": "now", "max_num_seqs": 8}),
    Run("continuous", {"policy": "continuous"}),
    Run("chunked", {"policy": "chunked", "max_num_batched_tokens": 2_048}),
)
MAX_LISTED_REFUSALS = 1_000
FEWER_OPS = "fewer or smaller operations"


def run(
    scenario: Scenario,
    run_name: str | None = None,
    progress: Progress | None = None,
    fewer_requests: str = FEWER_REQUESTS,
) -> Trace:
    """The trace of one run (the first without a name). `progress` is called now and then and may raise to stop.

    Raises ScenarioError for settings that cannot be used and for a run that would not fit into memory; what the user
    can do about it is `fewer_requests`.
    """
    settings = scenario.settings_of(run_name)
    name = f"{scenario.name}/{scenario.run_of(run_name).name}"
    try:
        if scenario.ops is not None:
            has_tree = settings.kv_manager == "radix"
            ops = read_ops(scenario.ops, RADIX_OPERANDS if has_tree else OPERANDS)
            refuse_if_too_large(need_of_ops(settings, ops), FEWER_OPS)
            if has_tree:
                return run_radix_ops(settings, ops, name, progress)
            return run_ops(settings, scenario.ops, name, progress)
        refuse_if_too_large(estimate(settings, scenario.all_requests(run_name)), fewer_requests)
        return simulate(settings, scenario.workload_for(run_name), name, progress, scenario.vocabulary)
    except SettingsError as error:
        raise ScenarioError(str(error)) from None


def run_all(scenario: Scenario, progress: Progress | None = None) -> dict[str, Trace]:
    """The traces of all runs by name."""
    return {each.name: run(scenario, each.name, progress) for each in scenario.runs}


def of_requests(name: str, requests: tuple[Request, ...], title: str = "") -> Scenario:
    """The scenario that stands for a trace file: its requests, three runs."""
    return Scenario(
        name=name,
        title={"en": title or name},
        story={"en": "Static batches of 8, continuous batching and chunked prefill on the requests of one file."},
        settings=TRACE_FILE_SETTINGS,
        runs=TRACE_FILE_RUNS,
        requests=requests,
    )


def result(name: str, trace: Trace, num_expected: int = 0) -> dict[str, Any]:
    """The figures of one run as `scenarios run --json` prints them, refused requests with their reasons.

    `num_expected` requests were to run; those of them that the run did not even come to are unfinished as well.
    """
    figures = measure(trace).as_dict()
    stopped = bool((trace.decisions["action"] == ACTIONS.index("stop")).any())
    refusals = refused(trace)
    by_reason: dict[str, int] = {}
    for refusal in refusals:
        by_reason[refusal["reason"]] = by_reason.get(refusal["reason"], 0) + 1
    aborted = _num_aborted(trace)
    unfinished = max(num_expected, figures["requests"]) - figures["finished"] - figures["rejected"] - aborted
    if unfinished and not stopped:
        unfinished -= _num_running_at_end(trace)
    return {
        "name": name,
        "settings": trace.header["settings"],
        **figures,
        "aborted": aborted,
        "stopped": stopped,
        "unfinished": unfinished,
        "unfinished_reason": blocked(trace) if unfinished and not stopped else None,
        "rejected_reasons": by_reason,
        "rejected_requests": refusals[:MAX_LISTED_REFUSALS],
    }


def refused(trace: Trace) -> list[dict[str, Any]]:
    """Every refused request: id, reason code, and what it needed of which resource against what there is."""
    rejected = trace.decisions["action"] == ACTIONS.index("reject")
    return [_told(trace, number) for number in np.flatnonzero(rejected).tolist()]


def blocked(trace: Trace) -> dict[str, Any] | None:
    """Why the head of the queue was not let in when this was last decided, told like a refusal; None if it never was."""
    action, reason = trace.decisions["action"], trace.decisions["reason"]
    skipped = np.flatnonzero((action == ACTIONS.index("skip")) & (reason != REASONS.index("behind_head")))
    return _told(trace, int(skipped[-1])) if len(skipped) else None


def _num_running_at_end(trace: Trace) -> int:
    """Sequences of a story told by operations that are never freed; no engine stops while a request can decode."""
    if "requests" not in trace.tracks:
        return 0
    status = trace.cut(event=trace.num_events).tracks["requests"]["status"]
    return int((status == SequenceStatus.DECODE).sum())


def _num_aborted(trace: Trace) -> int:
    """Requests that were taken back."""
    aborted = trace.happenings["kind"] == HAPPENINGS.index("aborted")
    return len(np.unique(trace.happenings["request"][aborted]))


def _told(trace: Trace, number: int) -> dict[str, Any]:
    decision = {key: int(column[number]) for key, column in trace.decisions.items()}
    return {
        "id": trace.requests[decision["request"]]["id"],
        "reason": REASONS[decision["reason"]],
        "resource": RESOURCES[decision["resource"]],
        "needed": decision["needed"],
        "available": decision["available"],
    }
