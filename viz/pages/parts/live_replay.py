"""A live run beside the simulator: the same requests on the same scheduler, once as measured and once by a cost model.

A replay of the run's script shows first that nothing but the times can differ. Then a cost model that was fitted to steps
of this machine gives the times, and both runs stand in one player. All of it is computed once, when somebody asks for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from engine.executor.calibration import THIS_MACHINE, Calibration, CalibrationError, MeasuredStep
from engine.executor.cost_model import HARDWARE, MODELS, Hardware
from engine.prediction import predict
from engine.script import Abort, Script, replay
from engine.trace.metrics import measure
from engine.trace.trace import Trace
from viz.charts import step_times
from viz.charts.theme import BOTH
from viz.pages.parts import charts, figures, page, side_by_side
from viz.pages.parts.jobs import Job, Report
from viz.pages.parts.live_runs import LiveRun, LiveRuns
from viz.pages.parts.live_serving import Record
from viz.pages.parts.runs import LANGUAGE, Finished
from viz.pages.parts.settings_form import GROUPS
from viz.pages.parts.words import named
from viz.player.wire import wire

MEASURED, SIMULATED = "measured", "simulated"
BACK = "Back to the run"
SHAPE = "SmolLM2-135M"
MEMORY = 8e9
"""Bytes that the card of this name has for weights and KV."""
PANES = "measured: what happened. simulated: the same requests, with step times from a cost model."
USELESS = 0.25
"""Error of the median step from which a cost model says nothing of a run."""


@dataclass(frozen=True)
class Replayed:
    """`sentences` are what is said of both runs; `problem` is why there is no simulated one. `predicted` and `card` come
    with a cost model, `no_card` says why there is a cost model and no card."""

    measured: Finished
    durations: Sequence[float]
    sentences: Sequence[str]
    simulated: Finished | None = None
    predicted: Sequence[float] = ()
    card: Hardware | None = None
    no_card: str = ""
    problem: str = ""


def begin(runs: LiveRuns, run: LiveRun) -> Job[Replayed] | None:
    """The work on a run as it stands; None while it goes on, and for one that has failed."""
    kept = runs.kept(run)
    if kept is None:
        return None
    others, title = runs.measured_elsewhere(run), run.arriving.header["title"]
    return Job(lambda report: replayed(*kept, others, title, report))


def view(job: Job[Replayed], leave: Callable[[], None]) -> None:
    """Both runs in one player, and below it what there is to say of them; `leave` leads back to the run."""
    result = page.result_of(
        job,
        "The simulator serves the same requests",
        again=leave,
        back=BACK,
        go_back=leave,
        stopped=("The replay was stopped.", BACK),
    )
    if result is None:
        return
    shown = [one for one in (result.measured, result.simulated) if one is not None]
    labels = [MEASURED, SIMULATED][: len(shown)]
    key = "-".join(("replay", *(one.trace.run_id for one in shown)))
    remark = PANES if result.simulated is not None else ""
    side_by_side.show(labels, shown, key=key, name="live", link=False, remark=remark)
    if result.problem:
        st.text(result.problem)
    page.heading("The same run in the simulator")
    with st.container(gap="xsmall"):
        for sentence in result.sentences:
            st.text(sentence)
    if result.simulated is not None:
        _this_machine(result.card, result.no_card)
        args = (result.durations, result.predicted, BOTH)
        charts.beside([step_times.draw(*args), step_times.errors(*args)])
    side_by_side.all_figures(labels, shown)


def _this_machine(card: Hardware | None, why_not: str) -> None:
    """The button that makes this machine a card, or why these steps make none. All sessions have the same one, and it is put
    there whole."""
    if card is None:
        st.text(f"These steps make no card “{THIS_MACHINE}”. {why_not}")
    elif st.button(f"Use as the card “{THIS_MACHINE}” in the settings of all pages", key="live-calibrate"):
        HARDWARE[THIS_MACHINE] = card
    if chosen := HARDWARE.get(THIS_MACHINE):
        clock = GROUPS["Clock"]
        st.text(
            f"The card “{THIS_MACHINE}” reads {chosen.bandwidth / 1e9:,.1f} GB/s and computes "
            f"{chosen.achievable_flops / 1e9:,.1f} GFLOP/s. The other pages have it under Settings, Clock: "
            f"{clock['hardware'].label} “{THIS_MACHINE}”, {clock['model'].label} {SHAPE}."
        )


def replayed(
    trace: Trace, record: Record, others: Sequence[MeasuredStep], title: str, report: Report = lambda done, note: None
) -> Replayed:
    """What `view` shows. `others` are measured steps of other runs, empty where there are none."""
    report(0.0, f"{trace.num_steps:,} iterations are compared")
    same, durations = sameness(trace, record), [step.duration for step in record.measured]
    measured = _finished(trace, title, MEASURED)
    try:
        if not durations:
            raise CalibrationError("Nothing was computed in this run.")
        calibration, fitted = fit(others, record.measured)
    except CalibrationError as error:
        return Replayed(measured, durations, [same], problem=f"There is no simulated run to set beside it. {error}")
    num_requests = max(1, len(trace.requests))
    other = predict(
        record.script,
        calibration,
        trace.words,
        lambda engine: report(0.9 * engine.num_done / num_requests, f"iteration {engine.num_steps:,}"),
    )
    simulated = _finished(other, title, SIMULATED)
    predicted = [calibration.step_time(*step[:3]) for step in record.measured]
    sentences = [same, exactness(durations, predicted, fitted), *_times(measured, simulated), *_stopped(record.script)]
    card, no_card = None, ""
    try:
        card = calibration.hardware(MODELS[SHAPE], MEMORY)
    except CalibrationError as error:
        no_card = str(error)
    return Replayed(measured, durations, sentences, simulated, predicted, card, no_card)


def _finished(trace: Trace, title: str, name: str) -> Finished:
    metrics = measure(trace)
    return Finished(trace, wire(trace, title=title, run_name=name, lang=LANGUAGE), metrics, metrics.as_dict())


def fit(others: Sequence[MeasuredStep], own: Sequence[MeasuredStep]) -> tuple[Calibration, str]:
    """A cost model and what it was fitted on: other runs where those have enough steps, else the one that it will be held
    against. Raises CalibrationError when neither will do."""
    try:
        return Calibration.of(others), f"fitted on {len(others):,} steps of other runs"
    except CalibrationError:
        return Calibration.of(own), "fitted on this run itself"


def exactness(measured: Sequence[float], predicted: Sequence[float], fitted: str) -> str:
    """How near a cost model is to the steps of the run, which it may never have seen."""
    timed = [(ours, theirs) for ours, theirs in zip(measured, predicted, strict=True) if ours > 0]
    if not timed:
        return f"The step times come from a cost model {fitted}; no step of this run took any time to hold against it."
    off = np.median([abs(theirs / ours - 1) for ours, theirs in timed])
    total = abs(sum(predicted) / sum(measured) - 1)
    steps = "the one step" if len(measured) == 1 else f"the median one of these {len(measured):,} steps"
    busy = " The machine was busy with something else meanwhile, and such steps tell little." if off > USELESS else ""
    return f"A cost model {fitted} is off by {off:.1%} in {steps}, and by {total:.1%} in the sum of all.{busy}"


def _times(measured: Finished, simulated: Finished) -> list[str]:
    """First token and end of both runs, and the time that passes in no step."""
    both, sentences = (measured, simulated), []
    firsts = [figures.seconds(first) for one in both if (first := one.figures["ttft_s"]["p50"]) is not None]
    if len(firsts) == 2:
        ours, theirs = firsts
        sentences.append(f"The first token comes after {ours} in the median, in the simulator after {theirs}.")
    if all(one.trace.num_steps for one in both):
        ours, theirs = (figures.seconds(float(one.trace.times[-1, 1])) for one in both)
        outside, waiting = (figures.seconds(_outside_of_steps(one.trace)) for one in both)
        sentences.append(
            f"The last step ends at {ours}, in the simulator at {theirs}. Outside of steps pass {outside} (planning, handing "
            f"on, waiting for requests), in the simulator {waiting} (waiting alone)."
        )
    return sentences


def _outside_of_steps(trace: Trace) -> float:
    return float(max(0.0, trace.times[-1, 1] - np.sum(trace.times[:, 1] - trace.times[:, 0])))


def _stopped(script: Script) -> list[str]:
    """Who was stopped while it ran, and what becomes of that here."""
    names = [call.request_id for call in script.calls if isinstance(call, Abort)]
    if not names:
        return []
    who = named(names, "was", "were")
    return [
        f"{who} stopped: the simulator stops at the same moment, or where the tokens end that had come out by then."
    ]


def sameness(trace: Trace, record: Record) -> str:
    """Whether the simulator, told which tokens came out and how long steps took, comes to the same trace."""
    other = replay(record.script)
    differing = differences(trace, other)
    if not differing:
        return (
            f"With the measured times the simulator comes to the same trace, column by column ({trace.num_events:,} events); "
            "only the times of a cost model can move anything."
        )
    return f"Even with the measured times the simulator comes to another trace; these tables differ: {', '.join(differing)}."


def differences(trace: Trace, other: Trace) -> list[str]:
    """Names of the tables in which two traces differ."""
    if trace.run_id == other.run_id:
        return []
    ours, theirs = (next(iter(one.chunks([one.num_events]))).tables() for one in (trace, other))
    names = [name for name in sorted(ours.keys() | theirs.keys()) if not _is_same(ours.get(name), theirs.get(name))]
    return names or ["header"]


def _is_same(ours: np.ndarray | None, theirs: np.ndarray | None) -> bool:
    return ours is not None and theirs is not None and np.array_equal(ours, theirs)
