"""A: the cost model, the roofline and memory sizes."""

from math import ceil

from engine.executor.cost_model import HARDWARE, MODELS, CostModel, attention_pairs, kv_capacity_tokens
from engine.executor.one_layer import work_ratio
from engine.settings import Settings
from scenarios.acceptance.lab import Lab
from scenarios.acceptance.row import Outcome, Row

A100, H100 = HARDWARE["A100-40GB"], HARDWARE["H100-80GB"]
OPT, GPT3, LLAMA3 = MODELS["OPT-13B"], MODELS["GPT-3-175B"], MODELS["Llama-3-8B"]
COST = CostModel.of(Settings(hardware=A100.name, model=OPT.name))
CONTEXT = 512


def decode_time(batch: int, context: int = CONTEXT) -> float:
    """Seconds of a step in which `batch` sequences decode at the same context."""
    return COST.step_time(batch, batch * context, batch * context)


def prefill_time(num_tokens: int) -> float:
    return COST.step_time(num_tokens, num_tokens, attention_pairs(0, num_tokens))


def kv_cache_off(lab: Lab) -> Outcome:
    same, ratio = work_ratio(32)
    return Outcome(
        f"{'same' if same else 'other'} tokens; {ratio:.2f} x the multiplications", same and 17.05 < ratio < 17.15
    )


def kv_of_opt(lab: Lab) -> Outcome:
    size = OPT.kv_bytes_per_token
    return Outcome(f"{size:,} B = {size / 1e6:.2f} MB", size == 819_200)


def kv_of_gpt_3(lab: Lab) -> Outcome:
    size = GPT3.kv_bytes_per_token
    return Outcome(f"{size:,} B = {size / 1e6:.2f} MB", size == 4_718_592)


def kv_capacity(lab: Lab) -> Outcome:
    tokens = kv_capacity_tokens(A100.name, OPT.name, workspace=0.10)
    return Outcome(f"{tokens:,} tokens", tokens == 12_207)


def iteration_time(lab: Lab) -> Outcome:
    time = decode_time(1, context=1)
    return Outcome(f"{1e3 * time:.2f} ms", round(1e3 * time, 1) == 18.2)


def ridge_point(lab: Lab) -> Outcome:
    at_peak = A100.peak_flops / A100.bandwidth
    passed = round(A100.ridge_point, 1) == 120.4 and round(at_peak, 1) == 200.6
    return Outcome(f"{A100.ridge_point:.1f}; {at_peak:.1f} against the full peak", passed)


def prefill_against_decodes(lab: Lab) -> Outcome:
    decodes, prefill = 512 * decode_time(1), prefill_time(512)
    ratio = decodes / prefill
    return Outcome(
        f"{decodes:.3f} s; prefill {1e3 * prefill:.2f} ms; {ratio:.1f} x",
        (round(decodes, 2), round(ratio, 1)) == (9.47, 129.4),
    )


def compute_use(lab: Lab) -> Outcome:
    flops_per_second = 2 * OPT.num_params / decode_time(1)
    shares = (flops_per_second / A100.achievable_flops, flops_per_second / A100.peak_flops)
    return Outcome(
        f"{shares[0]:.2%} of achievable, {shares[1]:.2%} of peak",
        (round(100 * shares[0], 2), round(100 * shares[1], 2)) == (0.75, 0.45),
    )


def arithmetic_intensity(lab: Lab) -> Outcome:
    per_token = 2 * OPT.num_params / OPT.weights_bytes
    batch = ceil(COST.weights_read / COST.compute_per_token)
    fitting = kv_capacity_tokens(A100.name, OPT.name) // CONTEXT
    passed = per_token == 1.0 and round(COST.weights_read / COST.compute_per_token) == 120 and fitting < batch
    return Outcome(
        f"b x {per_token:.1f} FLOPs/B; compute bound from b = {batch} on; memory holds {fitting} of {CONTEXT} tokens",
        passed,
    )


BATCHING_TABLE = (
    (1, 54.1, 18.49),
    (2, 106.6, 18.76),
    (4, 207.3, 19.30),
    (8, 392.6, 20.38),
    (16, 710.0, 22.54),
    (23, 941.7, 24.42),
)


def batching_table(lab: Lab) -> Outcome:
    times = {batch: decode_time(batch) for batch, _, _ in BATCHING_TABLE}
    table = tuple((b, round(b / time, 1), round(1e3 * time, 2)) for b, time in times.items())
    return Outcome("; ".join(f"b={b} {rate} tok/s {ms:.2f} ms" for b, rate, ms in table), table == BATCHING_TABLE)


def fitting_requests(lab: Lab) -> Outcome:
    fitting = kv_capacity_tokens(A100.name, OPT.name) // CONTEXT
    return Outcome(f"{fitting} requests", fitting == 23)


def gpt_3_cards(lab: Lab) -> Outcome:
    for_weights = ceil(GPT3.weights_bytes / A100.memory)
    with_kv = next(n for n in range(1, 100) if n * A100.memory * 0.9 > GPT3.weights_bytes)
    tokens = kv_capacity_tokens(A100.name, GPT3.name, num_devices=with_kv)
    return Outcome(
        f"{GPT3.weights_bytes / A100.memory:.2f} -> {for_weights} cards for weights; {with_kv} with room for {tokens:,} "
        "tokens of KV",
        (for_weights, with_kv) == (9, 10),
    )


def three_gb_of_kv(lab: Lab) -> Outcome:
    tokens, full = 3e9 / GPT3.kv_bytes_per_token, 2_048 * GPT3.kv_bytes_per_token / 1e9
    return Outcome(
        f"{tokens:.1f} -> {round(tokens)} tokens; 2,048 tokens = {full:.2f} GB",
        (round(tokens), round(full, 1)) == (636, 9.7),
    )


def ten_cards(lab: Lab) -> Outcome:
    ten = CostModel.of(Settings(hardware=A100.name, model=GPT3.name, num_devices=10))
    token = ten.step_time(1, 0, 0)
    return Outcome(
        f"{1e3 * ten.weights_read:.1f} + {1e3 * ten.overhead:.1f} = {1e3 * token:.1f} ms a token; 256 tokens "
        f"{256 * token:.2f} s (the slide cites about 20 s: real systems add communication and kernel overheads)",
        (round(1e3 * token, 1), round(256 * token, 2)) == (24.0, 6.15),
    )


def loaded_iteration(lab: Lab) -> Outcome:
    time = decode_time(16)
    return Outcome(f"{1e3 * time:.2f} ms for 16 sequences of {CONTEXT} tokens", round(1e3 * time, 2) == 22.54)


def exercise_1(lab: Lab) -> Outcome:
    shape = MODELS["LLaMA-2-7B"]
    request = 4_096 * shape.kv_bytes_per_token
    usable = 0.9 * H100.memory - shape.weights_bytes
    consistent = kv_capacity_tokens(H100.name, shape.name) // 4_096
    mixed = int(usable / 1e9 / (request / 2**30))
    return Outcome(
        f"{shape.kv_bytes_per_token:,} B a token; {request / 2**30:g} GiB a request; {usable / 1e9:.1f} GB hold "
        f"{consistent} requests ({usable / request:.1f}); {mixed} only where GB is taken for GiB",
        (shape.kv_bytes_per_token, request, consistent, mixed) == (524_288, 2 * 2**30, 27, 29),
    )


def grouped_queries(lab: Lab) -> Outcome:
    shape = MODELS["LLaMA-2-70B"]
    factor = shape.hidden_size // shape.head_dim / shape.num_kv_heads
    return Outcome(
        f"{shape.num_kv_heads} KV heads of {shape.hidden_size // shape.head_dim}: {factor:g} x smaller", factor == 8
    )


def kv_of_llama_3(lab: Lab) -> Outcome:
    size = LLAMA3.kv_bytes_per_token
    return Outcome(f"{size:,} B = {size / 1024:g} KiB", size == 131_072)


def memory_pie(lab: Lab) -> Outcome:
    weights = OPT.weights_bytes / A100.memory
    tokens = kv_capacity_tokens(A100.name, OPT.name, workspace=0.05)
    return Outcome(
        f"weights {weights:.0%}; {tokens:,} tokens of KV with a workspace of 5 % (12,207 with 10 %)",
        (round(weights, 2), tokens) == (0.65, 14_648),
    )


def llama_3_on_h100(lab: Lab) -> Outcome:
    cost = CostModel.of(Settings(hardware=H100.name, model=LLAMA3.name))
    decode = cost.step_time(1, 1, 1)
    prefill = 2_048 / cost.step_time(2_048, 2_048, attention_pairs(0, 2_048))
    return Outcome(f"{1e3 * decode:.1f} ms; {prefill / 1e3:.1f}k tok/s", None)


ROWS = (
    Row("A01", "KV of a token, OPT-13B", "D", "2 x 40 x 5,120 x 2 = 819,200 B = 0.82 MB", kv_of_opt),
    Row("A02", "KV of a token, GPT-3 175B", "D", "2 x 96 x 12,288 x 2 = 4,718,592 B = 4.72 MB", kv_of_gpt_3),
    Row("A03", "KV capacity, OPT-13B on A100-40GB, 10 % workspace", "D", "12,207 tokens", kv_capacity),
    Row("A04", "Iteration time of batch 1 with little context", "D", "18.2 ms", iteration_time),
    Row("A05", "Ridge point of the A100", "D", "120.4; 200.6 against the full peak", ridge_point),
    Row(
        "A06", "512 single decodes against a prefill of 512", "D*", "9.47 s in total, 129.4 x", prefill_against_decodes
    ),
    Row("A07", "Compute used by a decode of batch 1", "D", "0.75 % of achievable, 0.45 % of peak", compute_use),
    Row(
        "A08",
        "Arithmetic intensity",
        "D",
        "decode about b; compute bound near b = 120, memory first",
        arithmetic_intensity,
    ),
    Row(
        "A09",
        "Batching at 512 tokens of context",
        "D*",
        "; ".join(f"b={b} {rate} tok/s {ms:.2f} ms" for b, rate, ms in BATCHING_TABLE),
        batching_table,
    ),
    Row("A10", "Requests of 512 tokens that fit", "D", "23", fitting_requests),
    Row("A11", "Cards for GPT-3", "D", "8.75 -> 9 for weights, at least 10 with KV", gpt_3_cards),
    Row("A12", "3 GB of KV of GPT-3", "D", "635.8 -> 636 tokens; 2,048 tokens = 9.7 GB", three_gb_of_kv),
    Row(
        "A13",
        "GPT-3 on ten cards, batch 1",
        "D (20 s: P)",
        "24.0 ms a token; 256 tokens 6.15 s; slide: about 20 s",
        ten_cards,
    ),
    Row(
        "A14",
        "KV cache on and off, 32 tokens, one attention layer",
        "D + S",
        "same tokens; 17.1 x the compute without",
        kv_cache_off,
    ),
    Row("A15", "Loaded decode iteration", "D*", "about 22 ms: 22.54 ms at 16 x 512 tokens", loaded_iteration),
    Row(
        "A16",
        "LLaMA-2-7B on 80 GB, requests of 4,096 tokens",
        "D (flag)",
        "524,288 B a token, 2 GiB a request; 27 requests, 29 with GB = GiB",
        exercise_1,
    ),
    Row("A17", "Grouped-query attention, LLaMA-2-70B", "D", "8 KV heads of 64: KV 8 x smaller", grouped_queries),
    Row("A18", "KV of a token, Llama-3-8B", "D", "131,072 B = 128 KiB", kv_of_llama_3),
    Row(
        "A19",
        "Memory of a 40 GB card with a 13B model",
        "D/P",
        "weights 65 %; KV about 30 % = 14,648 tokens",
        memory_pie,
    ),
    Row("A20", "Llama-3-8B on H100", "P", "decode 5-10 ms; prefill 25-35k tok/s (order of magnitude)", llama_3_on_h100),
    Row(
        "A21",
        "Prefill is compute bound, decode bandwidth bound",
        "B",
        "two points on a roofline that move with the batch",
    ),
    Row("A22", "Cost of an LLM request; CPU scheduling", "P", "10 x a keyword query; over 50 % lost without tuning"),
)
