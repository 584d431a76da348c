"""C: reservation, fragmentation and capacity."""

from engine.executor.cost_model import MODELS, kv_capacity_tokens
from engine.trace.trace import Trace
from scenarios.acceptance.lab import Lab, batch_of
from scenarios.acceptance.row import Outcome, Row, within
from scenarios.workloads import ALPACA_LIKE, poisson

MANAGERS = ("max", "pow2", "oracle", "paged")


def strip_at_its_end(trace: Trace, sequence: int) -> tuple[int, int]:
    """Slots reserved and slots written when a sequence gives its strip back."""
    track = trace.tracks["strips"]
    released = int(track.columns["event"][(track.columns["key"] == sequence) & (track.columns["size"] == 0)].min())
    strips = trace.cut(event=released - 1).tracks["strips"]
    return int(strips["size"][sequence]), int(strips["used"][sequence])


def three_wastes(lab: Lab) -> Outcome:
    reserved, used = strip_at_its_end(lab.trace("reserve-2048", "max"), 0)
    lost = reserved - used
    wastes = [lab.metrics("three-wastes", run).composition.shares() for run in ("max", "pow2", "oracle")]
    largest = {kind: max(shares[kind] or 0.0 for shares in wastes) for kind in ("reserved", "internal", "external")}
    return Outcome(
        f"A reserves {reserved:,}, uses {used}: {lost:,} lost ({lost / reserved:.0%}); three-wastes shows "
        + ", ".join(f"{kind} {share:.0%}" for kind, share in largest.items()),
        (reserved, used, lost) == (2_048, 512, 1_536) and all(share > 0 for share in largest.values()),
    )


def reserve_4096(lab: Lab) -> Outcome:
    trace = batch_of([201], prompt_len=100, kv_manager="max", max_model_len=4_096, kv_capacity_tokens=8_192)
    reserved, used = strip_at_its_end(trace, 0)
    return Outcome(f"{reserved:,} - {used} = {reserved - used:,} slots", (used, reserved - used) == (300, 3_796))


def shares_of_tokens(lab: Lab) -> Outcome:
    shares = {run: lab.metrics("four-managers", run).composition.shares_of_occupied() for run in MANAGERS}
    token = {run: shares[run]["token"] or 0.0 for run in MANAGERS}
    reserved, external = (shares["oracle"][kind] or 0.0 for kind in ("reserved", "external"))
    bands = {"max": (0.18, 0.30), "pow2": (0.40, 0.52), "oracle": (0.50, 0.68), "paged": (0.98, 1.0)}
    passed = (
        token["max"] < token["pow2"] < token["oracle"] < token["paged"]
        and all(within(low, token[run], high) for run, (low, high) in bands.items())
        and within(0.20, reserved, 0.32)
    )
    text = " / ".join(f"{100 * token[run]:.1f}" for run in MANAGERS)
    return Outcome(f"{text} %; Oracle {reserved:.1%} reserved, {external:.1%} external", passed)


def exercise_4(lab: Lab) -> Outcome:
    paged = lab.trace("last-block", "paged")
    fill = paged.cut(step=paged.num_steps - 1, at="scheduled").tracks["blocks"]["fill"]
    full, rest = int((fill == 16).sum()), int(fill[(fill > 0) & (fill < 16)].sum())
    wasted = {
        run: size - used
        for run in ("max", "pow2")
        for size, used in [strip_at_its_end(lab.trace("last-block", run), 0)]
    }
    held = int(lab.trace("last-block", "pow2").steps["num_used"][0])
    return Outcome(
        f"paged {full} full + {rest}, {16 - rest} wasted; max {wasted['max']:,}; pow2 {wasted['pow2']}, {held:,} slots held "
        "from the first step",
        (full, rest, wasted, held) == (62, 8, {"max": 1_048, "pow2": 24}, 1_024),
    )


def last_block_self_test(lab: Lab) -> Outcome:
    composition = lab.metrics("last-block", "paged").composition
    blocks = int(lab.trace("last-block", "paged").steps["num_used"].max())
    wasted = int(composition.internal[-1])
    return Outcome(f"{blocks} blocks = {16 * blocks:,} slots, {wasted} wasted", (blocks, wasted) == (63, 8))


def oracle_still_wastes(lab: Lab) -> Outcome:
    reserved = lab.metrics("four-managers", "oracle").composition.shares_of_occupied()["reserved"] or 0.0
    return Outcome(f"{reserved:.1%} of the occupied slots are reserved", within(0.20, reserved, 0.32))


def alpaca_with_max(lab: Lab) -> Outcome:
    capacity = kv_capacity_tokens("A100-40GB", "OPT-13B")
    outputs = [request.sampling.max_tokens for request in poisson(ALPACA_LIKE, num_requests=20, rate=1.0, seed=1)]
    trace = batch_of(outputs, prompt_len=20, kv_manager="max", max_model_len=2_048, kv_capacity_tokens=capacity)
    together = int(trace.steps["num_running"].max())
    return Outcome(
        f"floor({capacity:,} / 2,048) = {capacity // 2_048}; {together} run together",
        capacity // 2_048 == together == 5,
    )


def h100_capacity(lab: Lab) -> Outcome:
    block = 16 * MODELS["Llama-3-8B"].kv_bytes_per_token
    num_blocks = 50 * 2**30 // block
    together = {run: int(lab.trace("h100-capacity", run).steps["num_running"].max()) for run in ("contiguous", "paged")}
    ratio = together["paged"] / together["contiguous"]
    peak = int(lab.trace("h100-capacity", "paged").steps["num_used"].max()) / together["paged"]
    return Outcome(
        f"blocks of {block // 2**20} MiB, {num_blocks:,} of them = {16 * num_blocks:,} tokens; contiguous "
        f"{together['contiguous']}, paged {together['paged']} requests of {peak:g} blocks, {ratio:.1f} x",
        (block, num_blocks, together["contiguous"], together["paged"], peak) == (2**21, 25_600, 80, 312, 82),
    )


def kv_in_gib(lab: Lab) -> Outcome:
    shape = MODELS["Llama-3-8B"]
    size = kv_capacity_tokens("H100-80GB", "Llama-3-8B", workspace=0.125) * shape.kv_bytes_per_token
    return Outcome(
        f"72 GB - {shape.weights_bytes / 1e9:g} GB - 2 GB workspace = {size / 1e9:.1f} GB = {size / 2**30:.2f} GiB",
        (round(size / 1e9, 1), round(size / 2**30, 2)) == (54.0, 50.29),
    )


ROWS = (
    Row("C01", "Managers to choose from", "B", "FasterTransformer, Orca Max, Orca Pow2, Orca Oracle, vLLM paged"),
    Row(
        "C02",
        "Three kinds of waste",
        "B/D",
        "A reserves 2,048, uses 512: 1,536 lost (75 %); reserved, internal, external",
        three_wastes,
    ).on("Stage: three-wastes, reserve-2048"),
    Row("C03", "4,096 reserved, 300 used", "D", "3,796 slots lost", reserve_4096),
    Row(
        "C04",
        "Share of the occupied KV memory that holds tokens",
        "S",
        "27 / 46 / 65 / 98.5 % (bands 18-30 / 40-52 / 50-68 / > 98, strict order); Oracle 27 % reserved (20-32)",
        shares_of_tokens,
    ).on("Stage: four-managers"),
    Row("C05", "vLLM paper, figure 2", "P", "20.4 / 26.8 / 38.2 / 96.3 %"),
    Row(
        "C06",
        "A sequence of 1,000 tokens",
        "D",
        "paged 62 full + 8, 8 wasted; 2,048: 1,048; pow2 1,024: 24, held all along",
        exercise_4,
    ).on("Stage: last-block"),
    Row("C07", "1,000 tokens in blocks of 16", "D", "63 blocks = 1,008 slots, 8 wasted", last_block_self_test).on(
        "Stage: last-block"
    ),
    Row("C08", "Oracle still wastes", "S", "the reservation stays when the length is known", oracle_still_wastes).on(
        "Stage: four-managers"
    ),
    Row("C09", "Alpaca-like requests that reserve 2,048", "D", "floor(12,207 / 2,048) = 5", alpaca_with_max),
    Row("C10", "Highest rate at 0.1 s a token", "S", "paged 2.0 x Oracle, 4.0 x Max"),
    Row("C11", "vLLM paper, throughput", "P", "2-4 x; 1.7-2.7 x Oracle, 2.7-8 x Max, up to 22 x FasterTransformer"),
    Row(
        "C12",
        "Llama-3-8B on an H100",
        "D",
        "2 MiB blocks, 25,600 = 409,600 tokens; 80 contiguous, 312 paged, 3.9 x",
        h100_capacity,
    ).on("Stage: h100-capacity"),
    Row("C13", "54 GB are about 50 GiB", "D", "72 - 16 - workspace = 54 GB = 50.29 GiB", kv_in_gib),
    Row("C14", "Paged leaves room", "S", "same stream: idle memory with paged, none with contiguous"),
    Row("C15", "Short requests, ample memory", "S", "gain over Pow2 and Oracle shrinks, over Max grows"),
    Row("C16", "Where paging does not help", "B", "static shapes, compute-bound serving"),
    Row("C17", "Gain by length, model size, decoding", "S", "grows in three sweeps"),
)
