"""L: items of the whole lecture."""

from statistics import median

from scenarios.acceptance.lab import Lab
from scenarios.acceptance.row import Outcome, Row
from scenarios.workloads import ALPACA_LIKE, SHAREGPT_LIKE, poisson

NUM_REQUESTS = 20_000


def generator(lab: Lab) -> Outcome:
    texts, passed = [], True
    for lengths, prompt, output in ((SHAREGPT_LIKE, 170, 220), (ALPACA_LIKE, 20, 50)):
        requests = poisson(lengths, num_requests=NUM_REQUESTS, rate=4.0, seed=1)
        prompts = [request.prompt.num_tokens for request in requests]
        outputs = [request.sampling.max_tokens for request in requests]
        rate = NUM_REQUESTS / requests[-1].arrival_time
        medians = median(prompts), median(outputs)
        texts.append(f"medians {medians[0]:g}/{medians[1]:g}, {rate:.2f} req/s")
        passed &= (
            abs(medians[0] / prompt - 1) < 0.05 and abs(medians[1] / output - 1) < 0.05 and abs(rate / 4 - 1) < 0.05
        )
        passed &= max(prompts + outputs) <= 1_024 and max(map(sum, zip(prompts, outputs, strict=True))) <= 2_048
    return Outcome("; ".join(texts) + f" of 4 asked, {NUM_REQUESTS:,} requests each, spread 1.2", passed)


ROWS = (
    Row("L01", "Effort", "B", "the longest experiment takes about 30 s on a CPU"),
    Row("L02", "Workload generator", "D*", "Poisson; truncated log-normal, medians 170/220 and 20/50", generator),
    Row("L03", "Three techniques, three bottlenecks", "S", "on and off in all combinations"),
    Row(
        "L04",
        "From inside a request to between requests",
        "B",
        "KV lifetime: paging ends with the request, radix outlives it",
    ),
    Row("L05", "Memory and order influence each other", "S", "batch size follows the manager, hit rate the order"),
    Row("L06", "Append-only prompts", "B", "a counter for cached and new input tokens"),
    Row("L07", "Bus and train", "B", "metaphors for lectures"),
)
