"""A live run given back to the simulator: the same trace, and what a cost model fitted to this machine says of its steps."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from engine.executor.calibration import THIS_MACHINE, Calibration, CalibrationError, MeasuredStep
from engine.executor.cost_model import HARDWARE, MODELS
from engine.script import replay
from engine.trace.trace import Trace
from viz.charts import step_times
from viz.charts.theme import BOTH
from viz.pages.parts import charts
from viz.pages.parts.live_runs import LiveRun, LiveRuns
from viz.pages.parts.live_serving import Record

SHAPE = "SmolLM2-135M"
MEMORY = 8e9
"""Bytes that the card of this name has for weights and KV."""


@st.dialog("The same run in the simulator", width="large")
def window(runs: LiveRuns, run: LiveRun) -> None:
    """Everything about the comparison, over the page."""
    kept = runs.kept(run)
    if kept is None:
        st.text("The run goes on; look again when all is answered.")
        return
    trace, record = kept
    with st.container(key="replay-same"):
        st.text(sameness(trace, record))
    measured = [step.duration for step in record.measured]
    try:
        calibration, fitted = fit(runs.measured_elsewhere(run), record.measured)
    except CalibrationError as error:
        st.text(str(error))
        return
    predicted = [calibration.step_time(*step[:3]) for step in record.measured]
    off = np.median(np.abs(np.divide(predicted, measured) - 1))
    st.text(
        f"A cost model {fitted} is off by {off:.1%} in the median one of these {len(measured):,} steps, "
        f"and by {abs(sum(predicted) / sum(measured) - 1):.1%} in the sum of all."
    )
    for drawing in (step_times.draw(measured, predicted, BOTH), step_times.errors(measured, predicted, BOTH)):
        charts.show(drawing)
    if st.button(f"Use as the card “{THIS_MACHINE}” in the settings of all pages", key="live-calibrate"):
        HARDWARE[THIS_MACHINE] = calibration.hardware(MODELS[SHAPE], MEMORY)
    if card := HARDWARE.get(THIS_MACHINE):
        st.text(
            f"{THIS_MACHINE}: reads {card.bandwidth / 1e9:,.1f} GB/s and computes {card.achievable_flops / 1e9:,.1f} GFLOP/s; "
            f"choose it as hardware, with {SHAPE} as model."
        )


def fit(others: Sequence[MeasuredStep], own: Sequence[MeasuredStep]) -> tuple[Calibration, str]:
    """A cost model and what it was fitted on: another run where that has enough steps, else the one that it will be held
    against. Raises CalibrationError when neither will do."""
    try:
        return Calibration.of(others), f"fitted on the {len(others):,} steps of another run"
    except CalibrationError:
        return Calibration.of(own), "fitted on this run itself"


def sameness(trace: Trace, record: Record) -> str:
    """Whether the simulator, told which tokens came out and how long steps took, comes to the same trace."""
    other = replay(record.script)
    differing = differences(trace, other)
    if not differing:
        return f"Replayed by the simulator: the same trace, column by column ({trace.num_events:,} events)."
    return f"Replayed by the simulator, these tables differ: {', '.join(differing)}."


def differences(trace: Trace, other: Trace) -> list[str]:
    """Names of the tables in which two traces differ."""
    if trace.run_id == other.run_id:
        return []
    ours, theirs = (next(iter(one.chunks([one.num_events]))).tables() for one in (trace, other))
    names = [name for name in sorted(ours.keys() | theirs.keys()) if not _is_same(ours.get(name), theirs.get(name))]
    return names or ["header"]


def _is_same(ours: np.ndarray | None, theirs: np.ndarray | None) -> bool:
    return ours is not None and theirs is not None and np.array_equal(ours, theirs)
