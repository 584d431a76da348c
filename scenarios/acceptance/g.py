"""G: chunked prefill."""

from engine.executor.cost_model import CostModel, attention_pairs
from engine.settings import Settings
from scenarios.acceptance.lab import Lab, batch_of
from scenarios.acceptance.row import Outcome, Row

PREFILL_RATES = (35_000, 25_000)
"""Prefill tokens a second on an H100, as the text gives them: best and worst."""
ITL_LIMIT_MS = 50


def ten_thousand_tokens(lab: Lab) -> Outcome:
    steps = batch_of([1], prompt_len=10_000, policy="chunked", max_num_batched_tokens=1_500).steps
    chunks = steps["num_scheduled_tokens"].tolist()
    return Outcome(
        f"{len(chunks)} iterations: {', '.join(f'{chunk:,}' for chunk in chunks)}", chunks == [1_500] * 6 + [1_000]
    )


def budget_cost(lab: Lab) -> Outcome:
    costs = {budget: [round(1e3 * budget / rate, 1) for rate in PREFILL_RATES] for budget in (2_048, 512)}
    chosen = max(budget for budget, (_, worst) in costs.items() if worst <= ITL_LIMIT_MS)
    cost = CostModel.of(Settings(hardware="H100-80GB", model="Llama-3-8B"))
    modelled = {budget: 1e3 * cost.step_time(budget, budget, attention_pairs(0, budget)) for budget in costs}
    return Outcome(
        "; ".join(
            f"{budget:,}: {low}-{high} ms (cost model {modelled[budget]:.1f})" for budget, (low, high) in costs.items()
        )
        + f"; {ITL_LIMIT_MS} ms allow {chosen}",
        costs == {2_048: [58.5, 81.9], 512: [14.6, 20.5]} and chosen == 512,
    )


def chunks_and_logits(lab: Lab) -> Outcome:
    try:
        from engine.executor.chunk_check import largest_difference
    except ModuleNotFoundError as missing:
        return Outcome(f"needs the package {missing.name}", None)
    steps, far = largest_difference(50, (1, 7, 16))
    return Outcome(
        f"50 tokens cut by budgets of 1, 7, 16: {', '.join(map(str, steps))} steps, logits within {far:.1e} (float64)",
        steps == [53, 11, 7] and far < 1e-12,
    )


ROWS = (
    Row("G01", "A prompt of 10,000 tokens, 1,500 a step", "D", "7 iterations: 6 x 1,500 + 1,000", ten_thousand_tokens),
    Row(
        "G02",
        "Cost of a token budget at 25-35k tok/s",
        "D",
        "2,048: 58.5-81.9 ms; 512: 14.6-20.5 ms; 50 ms allow 512",
        budget_cost,
    ),
    Row("G03", "Direction of the trade-off", "S", "smaller budget: lower ITL, higher TTFT, slightly lower throughput"),
    Row("G04", "Stall without chunks", "S", "a long prefill delays all decodes; chunks bound the delay"),
    Row("G05", "Order of filling", "B", "one token for each decode, the rest for a chunk"),
    Row("G06", "Chunks are correct", "D", "same logits as unchunked", chunks_and_logits),
)
