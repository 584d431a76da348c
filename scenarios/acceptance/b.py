"""B: static and continuous batching."""

import random

from engine.trace.metrics import measure
from engine.trace.trace import Trace
from scenarios.acceptance.lab import Lab, StepView, batch_of, lanes_of, steps_of
from scenarios.acceptance.row import Outcome, Row, within

CONTINUOUS_DEMO = (
    (0.018, {"R1": 1, "R2": 1}),
    (0.036, {"R1": 2, "R2": 2, "R3": 1}),
    (0.055, {"R1": 3, "R3": 2, "R4": 1}),
)
STATIC_DEMO = (
    (0.028, {"R1": 1, "R2": 1, "R3": 1}),
    (0.046, {"R1": 2, "R2": 2, "R3": 2}),
    (0.065, {"R1": 3, "R3": 3}),
    (0.119, {"R4": 1, "R5": 1}),
)
TEN_ITERATIONS = {0: "AAADDDDEEE", 1: "BBBBBBBBFF", 2: "CCCCCGGGGG"}
FIRST_STATIC_BATCH = {0: "AAA.....", 1: "BBBBBBBB", 2: "CCCCC..."}


def static_use(outputs: list[int]) -> tuple[int, int]:
    """Seat-steps that worked and that were offered when these outputs run as one static batch."""
    seats = measure(batch_of(outputs, policy="static", max_num_seqs=len(outputs))).seats
    return seats.working, seats.offered


def static_formula(lab: Lab) -> Outcome:
    working, offered = static_use([20, 50, 100, 500])
    return Outcome(f"{working}/{offered} = {working / offered:.1%}", (working, offered) == (670, 2_000))


def self_test(lab: Lab) -> Outcome:
    outputs = [100, 100, 100, 1_000]
    working, offered = static_use(outputs)
    steps = batch_of(outputs * 8, policy="continuous", max_num_seqs=4).steps
    with_queue = steps["num_scheduled_sequences"][steps["num_waiting"] > 0]
    full = with_queue.sum() / (4 * len(with_queue))
    return Outcome(
        f"{working}/{offered} = {working / offered:.1%}; continuous with a queue {full:.0%}",
        (working, offered) == (1_300, 4_000) and full == 1.0,
    )


def exercise_3(lab: Lab) -> Outcome:
    working, offered = static_use([10] * 7 + [200])
    empty = 1 - working / offered
    return Outcome(f"{offered:,} slots, {working} used, {empty:.1%} empty", (working, offered) == (270, 1_600))


def step_by_step(lab: Lab) -> Outcome:
    continuous, static = (steps_of(lab.trace("step-by-step", run)) for run in ("continuous", "static"))
    shown = continuous[:3], [static[step] for step in (0, 1, 2, 5)]
    place_of_r2 = next(seat for seat, request in continuous[1].seats.items() if request == "R2")
    passed = (
        tuple(map(_shown, shown[0])) == CONTINUOUS_DEMO
        and tuple(map(_shown, shown[1])) == STATIC_DEMO
        and continuous[2].seats[place_of_r2] == "R4"
        and "R2" in static[2].seats.values()
    )
    times = [", ".join(f"{view.end:.3f}" for view in views) for views in shown]
    return Outcome(f"continuous {times[0]} s; static {times[1]} s", passed)


def _shown(view: StepView) -> tuple[float, dict[str, int]]:
    return round(view.end, 3), view.emitted


def ten_iterations(lab: Lab) -> Outcome:
    static, continuous = (lanes_of(lab.trace("ten-iterations", run)) for run in ("static", "continuous"))
    first_batch = {seat: lane[:8] for seat, lane in static.items()}
    ninth = {lane[8] for lane in static.values()}
    used = [sum(len(lane.replace(".", "")) for lane in lanes.values()) for lanes in (first_batch, continuous)]
    passed = (
        continuous == TEN_ITERATIONS and first_batch == FIRST_STATIC_BATCH and {"D", "E"} <= ninth and used == [16, 30]
    )
    return Outcome(
        f"{used[0]}/24 = {used[0] / 24:.1%} static, {used[1]}/30 continuous: {' '.join(continuous.values())}", passed
    )


def listing(lab: Lab) -> Outcome:
    rng = random.Random(0)
    outputs = [min(int(rng.expovariate(1 / 200)) + 1, 2_000) for _ in range(256)]
    runs = [batch_of(outputs, policy=policy, max_num_seqs=16) for policy in ("static", "continuous")]
    steps = [run.num_steps for run in runs]
    use = [round(100 * sum(outputs) / (16 * num_steps)) for num_steps in steps]
    return Outcome(
        f"static {steps[0]:,} steps, {use[0]} %; continuous {steps[1]:,} steps, {use[1]} %",
        (steps, use) == ([11_226, 4_133], [30, 82]),
    )


def sharegpt_like(lab: Lab) -> Outcome:
    gains = {}
    for scenario in ("static-vs-continuous", "equal-lengths"):
        static, continuous = (lab.metrics(scenario, run).throughput or 0.0 for run in ("static", "continuous"))
        gains[scenario] = continuous / static
    mixed, equal = gains.values()
    idle = lab.metrics("static-vs-continuous", "static").seats.idle_share or 0.0
    passed = within(3.5, mixed, 5.5) and within(0.55, idle, 0.70) and within(1.7, equal, 2.8) and equal < mixed
    return Outcome(f"{mixed:.2f} x; {idle:.1%} of static places idle; equal lengths {equal:.2f} x", passed)


def normalized_latency(lab: Lab) -> Outcome:
    trace = lab.trace("step-by-step", "static")
    by_hand = _latency_per_token(trace)
    ours = lab.metrics("step-by-step", "static").normalized_latency or 0.0
    return Outcome(f"{ours:.4f} s a token in step-by-step/static", abs(ours - by_hand) < 1e-12)


def _latency_per_token(trace: Trace) -> float:
    """From the steps alone: the end of the last step that emits, minus the arrival, by output token; the mean."""
    ends = {request: view.end for view in steps_of(trace) for request in view.emitted}
    shares = [(ends[r["id"]] - r["arrival_s"]) / r["output_len"] for r in trace.requests]
    return sum(shares) / len(shares)


ROWS = (
    Row("B01", "Use of a static batch: sum N / (B max N)", "D", "20, 50, 100, 500: 670/2000 = 33.5 %", static_formula),
    Row("B02", "Static self-test", "D", "1300/4000 = 32.5 %; continuous with a queue tends to 100 %", self_test),
    Row("B03", "Seven outputs of 10, one of 200, batch 8", "D", "1,600 slots, 270 used, 83.1 % empty", exercise_3),
    Row(
        "B04",
        "Step by step, at most three",
        "D*",
        "continuous 0.018, 0.036, 0.055 s; static 0.028, 0.046, 0.065, 0.119 s, with the batches of the text",
        step_by_step,
    ).on("Stage: step-by-step"),
    Row(
        "B05",
        "Ten iterations, three places",
        "D",
        "16/24 = 66.7 % in the first static batch, 30/30 continuous: " + " ".join(TEN_ITERATIONS.values()),
        ten_iterations,
    ).on("Stage: ten-iterations"),
    Row(
        "B06",
        "256 exponential outputs, 16 places, seed 0",
        "D",
        "static 11,226 steps, 30 %; continuous 4,133 steps, 82 %",
        listing,
    ),
    Row(
        "B07",
        "400 ShareGPT-like requests, static 8 against continuous",
        "S",
        "4.5 x (band 3.5-5.5); 65 % idle (55-70); equal lengths 2.0 x (1.7-2.8, below the mixed case)",
        sharegpt_like,
    ).on("Stage: static-vs-continuous, equal-lengths"),
    Row("B08", "Request level against iteration level", "B", "A ends: A leaves and D enters; static: D waits"),
    Row("B09", "Three problems of static batching", "B", "different ends, idle places, waiting arrivals: each visible"),
    Row("B10", "Ragged batch", "B", "all tokens of a step without padding, attention per sequence"),
    Row(
        "B11", "Normalized latency", "D", "mean over requests of end-to-end latency / output length", normalized_latency
    ).on("scenarios run step-by-step"),
    Row("B12", "Metrics by name", "B", "TTFT, ITL, throughput, utilisation, hit rate, preemptions, normalized latency"),
    Row("B13", "max_num_seqs too large", "S", "preemption and recompute: throughput falls, tail latency explodes"),
    Row("B14", "A larger batch is not always better", "S", "latency per token rises with the KV read"),
)
