"""E: sharing and copy-on-write."""

from scenarios.acceptance.d import free_blocks, last_frame
from scenarios.acceptance.lab import Lab
from scenarios.acceptance.row import Outcome, Row


def fork_and_copy(lab: Lab) -> Outcome:
    before, after = (last_frame(lab, "fork-and-copy", step) for step in (4, 5))
    tables = [before.table(sequence) for sequence in range(3)]
    counts = after.tracks["blocks"]["ref_count"].tolist()
    free = len(free_blocks(before)), len(free_blocks(after))
    return Outcome(
        f"p {tables[0]}, s1 {tables[1]}, s2 {tables[2]}, {free[0]} free; then counts {counts}, {free[1]} free",
        (tables, counts, free) == ([[7, 6], [7, 5], [7, 4]], [0, 0, 0, 0, 1, 1, 0, 2], (4, 5)),
    )


def blocks_and_copies(lab: Lab, scenario: str, run: str) -> tuple[int, int]:
    """The most blocks that a run held, and its copies."""
    return int(lab.trace(scenario, run).steps["num_used"].max()), lab.metrics(scenario, run).num_cow_copies


def four_samples(lab: Lab) -> Outcome:
    (unshared, _), (shared, copies) = (
        blocks_and_copies(lab, *run) for run in (("four-samples-unshared", "unshared"), ("four-samples", "shared"))
    )
    return Outcome(
        f"unshared {unshared}, shared {shared} blocks, {copies} copies; saves {1 - shared / unshared:.0%}",
        (unshared, shared, copies) == (40, 22, 3),
    )


def variants(lab: Lab) -> Outcome:
    kept = blocks_and_copies(lab, "four-samples-parent-kept", "parent-kept")
    aligned = blocks_and_copies(lab, "four-samples-aligned", "aligned")
    return Outcome(
        f"parent kept: {kept[0]} blocks, {kept[1]} copies; prompt 96: {aligned[0]} blocks, {aligned[1]} copies",
        (kept, aligned) == ((23, 4), (22, 0)),
    )


def system_prompt(lab: Lab) -> Outcome:
    trace, num_blocks, size = lab.trace("shared-system-prompt", "cached"), 25_600, 16
    num_requests, shared = len(trace.requests), 800 // size
    first_step = int(trace.steps["num_scheduled_tokens"][0])
    own_prompt = (first_step - 1_000) // (num_requests - 1)
    together, used = (int(trace.steps[name].max()) for name in ("num_running", "num_used"))
    own = (used - shared) // together
    most = (num_blocks - shared) // own
    alone = lab.trace("h100-capacity", "paged")
    return Outcome(
        f"{shared} blocks stored once; {own_prompt} instead of 1,000 prompt tokens; {together} requests together in "
        f"{used:,} blocks without a preemption (at most {most}), {int(alone.steps['num_running'].max())} without sharing",
        (shared, own_prompt, together, used, most) == (50, 200, 798, shared + 798 * own, 798)
        and not lab.metrics("shared-system-prompt", "cached").num_preemptions,
    )


ROWS = (
    Row("E01", "Reference count and copy-on-write", "B", "a write to a shared block copies, repoints, decrements"),
    Row(
        "E02",
        "Two forks of a prompt of six, blocks of 4",
        "D",
        "p [7, 6], s1 [7, 5], s2 [7, 4], 4 free; after p: counts [0, 0, 0, 0, 1, 1, 0, 2], 5 free",
        fork_and_copy,
    ).on("Stage: fork-and-copy"),
    Row(
        "E03",
        "Four samples, prompt 100, 50 tokens each",
        "D",
        "unshared 40, shared 22 blocks, 3 copies, saves 45 %",
        four_samples,
    ).on("Stage: four-samples, four-samples-unshared"),
    Row(
        "E04",
        "Variants of four samples",
        "D",
        "parent kept: 23 blocks, 4 copies; prompt 96: 22 blocks, 0 copies",
        variants,
    ).on("Stage: four-samples-parent-kept, four-samples-aligned"),
    Row("E05", "What can be copied", "B", "only the last, partial block of a prompt"),
    Row("E06", "Beam search", "S", "beams share ancestors; a dropped beam frees its blocks at once"),
    Row("E07", "vLLM paper, savings by sharing", "P", "parallel 6.1-9.8 / 16.2-30.5 %; beam 37.6-55.2 / 44.3-66.3 %"),
    Row("E08", "Longer prompt, shorter output", "S", "saves more"),
    Row(
        "E09",
        "System prompt of 800 tokens",
        "D",
        "50 blocks stored once; 200 instead of 1,000 tokens; 798 requests",
        system_prompt,
    ).on("Stage: shared-system-prompt"),
    Row("E10", "vLLM paper, shared prefix", "P", "1.67 x (1-shot), 3.58 x (5-shot) over Oracle"),
    Row("E11", "Mixed decoding in one pool", "B", "parallel, beam and shared prefix together"),
)
