"""D: how paging works."""

from engine.executor.blockwise import largest_difference
from engine.trace.frame import Frame
from scenarios.acceptance.lab import Lab
from scenarios.acceptance.row import Outcome, Row


def last_frame(lab: Lab, scenario: str, step: int = -1) -> Frame:
    """The frame after an operation of a scenario that is told by operations."""
    trace = lab.trace(scenario, "paged")
    return trace.cut(step=step % trace.num_steps)


def free_blocks(frame: Frame) -> list[int]:
    return [block for block, state in enumerate(frame.tracks["blocks"]["state"].tolist()) if state == 0]


def address_translation(lab: Lab) -> Outcome:
    frame = last_frame(lab, "address-translation")
    a, b = frame.table(0), frame.table(1)
    block, offset = a[9 // 4], 9 % 4
    fill = frame.tracks["blocks"]["fill"]
    waste = [4 - int(fill[table[-1]]) for table in (a, b)]
    free = free_blocks(frame)
    return Outcome(
        f"A {a}, B {b}; token 9 of A: block {block}, offset {offset}; waste {waste[0]} + {waste[1]}; free {free}",
        (a, b, block, offset, waste, free) == ([7, 2, 5], [3, 4], 5, 1, [2, 2], [0, 1, 6]),
    )


def alan_turing(lab: Lab) -> Outcome:
    frames = [last_frame(lab, "alan-turing", step) for step in range(4)]
    tables = [frame.table(0) for frame in frames]
    fills = [[int(frame.tracks["blocks"]["fill"][block]) for block in frame.table(0)] for frame in frames]
    return Outcome(
        "; ".join(f"{table} filled {fill}" for table, fill in zip(tables, fills, strict=True)),
        tables == [[3, 2], [3, 2], [3, 2], [3, 2, 0]] and fills == [[4, 2], [4, 3], [4, 4], [4, 4, 1]],
    )


def eight_blocks(lab: Lab) -> Outcome:
    frame = last_frame(lab, "eight-blocks")
    a, b, free = frame.table(0), frame.table(1), free_blocks(frame)
    return Outcome(f"A {a}, B {b}, free {free}", (a, b, free) == ([0, 2, 6], [1, 4, 7], [3, 5]))


def scattered_attention(lab: Lab) -> Outcome:
    worst = max(largest_difference(45, 16, 64, seed) for seed in range(200))
    return Outcome(f"worst of 200 random cases {worst:.1e} (float64)", worst < 1e-15)


ROWS = (
    Row(
        "D01",
        "Address translation, blocks of 4",
        "D",
        "A [7, 2, 5], B [3, 4]; token 9 of A: block 5, offset 1; waste 2 + 2; free 0, 1, 6",
        address_translation,
    ).on("Stage: address-translation"),
    Row(
        "D02",
        "Alan Turing is a computer scientist",
        "D",
        "block 3 (4 filled), block 2 (2 filled); two words fill block 2; the third takes block 0",
        alan_turing,
    ).on("Stage: alan-turing"),
    Row("D03", "Two sequences, eight blocks of 16", "D", "A [0, 2, 6], B [1, 4, 7], free 3 and 5", eight_blocks).on(
        "Stage: eight-blocks"
    ),
    Row("D04", "Allocation on demand", "B", "a block when the last is full; at most S - 1 slots lost; no compaction"),
    Row(
        "D05",
        "Block-wise attention, 45 tokens in 3 scattered blocks",
        "D",
        "equals contiguous attention within 1e-15",
        scattered_attention,
    ),
    Row("D06", "Price of the paged kernel", "P", "20-26 % slower, this operator only"),
    Row("D07", "Block-size sweep", "S (P)", "block 256: 82 % used, throughput -7 %; Alpaca-like 37 %, no loss"),
    Row("D08", "Smaller blocks are not always better", "B", "table size and access cost shown"),
    Row("D09", "The OS analogy", "B", "eight pairs, page and block to swap"),
    Row("D10", "The pool is allocated once", "B", "no device allocation while serving"),
    Row("D11", "Lookahead slots", "B", "slots reserved for draft tokens"),
    Row("D12", "Page size 1", "B", "SGLang's layout as the limit of paging"),
    Row("D13", "One block table for tensor parallelism", "B", "same map on all workers, KV split by heads"),
    Row("D14", "vAttention", "B", "contiguous virtual, scattered physical: a contrast view"),
)
