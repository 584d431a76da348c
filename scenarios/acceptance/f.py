"""F: scheduling, preemption and fairness."""

from scenarios.acceptance.lab import Lab
from scenarios.acceptance.row import Outcome, Row


def preemptions(lab: Lab) -> Outcome:
    count = lab.metrics("static-vs-continuous", "continuous").num_preemptions
    return Outcome(f"{count} preemptions of 400 requests at 8 a second", count > 100)


ROWS = (
    Row("F01", "The scheduler loop", "B", "running first, then first come first served, then preempt the latest"),
    Row("F02", "All or nothing", "B", "all blocks of a request leave together"),
    Row("F03", "Swap against recompute", "S", "small blocks favour recompute, large ones swap"),
    Row("F04", "Preemptions under load", "S", "several hundred (band: more than 100)", preemptions).on(
        "Stage: static-vs-continuous"
    ),
    Row("F05", "Paged admission", "B", "admits as soon as the prompt fits"),
    Row("F06", "Controls", "B", "priority, fairness by tenant, max_num_seqs, max_num_batched_tokens"),
    Row("F07", "Signature of over-admission", "S", "latency spikes and wasted compute"),
    Row("F08", "Keep or drop the KV of a chat", "S", "both curves under memory pressure"),
)
