"""Running a scenario, and the scenario that stands for a trace file.

A trace file is run on Llama-3-8B, an H100-80GB and 25,600 blocks of 16: with static batches of 8, with continuous
batching, and with chunked prefill. Every run is checked against the memory of this machine before it starts.
"""

from collections.abc import Callable, Mapping
from typing import Any

from engine.loop import Engine, simulate
from engine.request import Request
from engine.settings import Settings, SettingsError
from engine.trace.metrics import measure
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, REASONS, RESOURCES
from scenarios.fields import ScenarioError
from scenarios.memory import refuse_if_too_large
from scenarios.ops import run_ops
from scenarios.scenario import Run, Scenario

Progress = Callable[[Engine], None]

TRACE_FILE_SETTINGS = Settings(
    hardware="H100-80GB", model="Llama-3-8B", block_size=16, num_blocks=25_600, max_num_seqs=256
)
TRACE_FILE_RUNS = (
    Run("static", {"policy": "static", "static_start": "now", "max_num_seqs": 8}),
    Run("continuous", {"policy": "continuous"}),
    Run("chunked", {"policy": "chunked", "max_num_batched_tokens": 2_048}),
)
MAX_LISTED_REFUSALS = 1_000


def run(scenario: Scenario, run_name: str | None = None, progress: Progress | None = None) -> Trace:
    """The trace of one run (the first without a name). `progress(engine)` is called now and then and may raise to stop.

    Raises ScenarioError for settings that cannot be used and for a run that would not fit into memory.
    """
    settings = scenario.settings_of(run_name)
    name = f"{scenario.name}/{scenario.run_of(run_name).name}"
    try:
        if scenario.ops is not None:
            return run_ops(settings, scenario.ops, name)
        refuse_if_too_large(settings, scenario.all_requests(run_name))
        return simulate(settings, scenario.workload_for(run_name), name, progress)
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


def result(name: str, trace: Trace) -> dict[str, Any]:
    """The figures of one run as `scenarios run --json` prints them, refused requests with their reasons."""
    figures = measure(trace).as_dict()
    refusals = refused(trace)
    by_reason: dict[str, int] = {}
    for refusal in refusals:
        by_reason[refusal["reason"]] = by_reason.get(refusal["reason"], 0) + 1
    return {
        "name": name,
        "settings": trace.header["settings"],
        **figures,
        "stopped": bool((trace.decisions["action"] == ACTIONS.index("stop")).any()),
        "rejected_reasons": by_reason,
        "rejected_requests": refusals[:MAX_LISTED_REFUSALS],
    }


def refused(trace: Trace) -> list[dict[str, Any]]:
    """Every refused request: id, reason code, and what it needed of which resource against what there is."""
    columns: Mapping[str, Any] = trace.decisions
    return [
        {
            "id": trace.requests[request]["id"],
            "reason": REASONS[reason],
            "resource": RESOURCES[resource],
            "needed": int(needed),
            "available": int(available),
        }
        for action, reason, request, resource, needed, available in zip(
            *(columns[key] for key in ("action", "reason", "request", "resource", "needed", "available")), strict=True
        )
        if ACTIONS[action] == "reject"
    ]
