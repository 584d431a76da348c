"""H: prefix caching, the radix tree and cache-aware order."""

from scenarios.acceptance.row import Row

ROWS = (
    Row("H01", "Hash blocks", "B", "a full block is known by its tokens and all before; LRU"),
    Row("H02", "Radix tree", "B", "edges split, only leaves are evicted, nodes in use are locked"),
    Row("H03", "1,000 shared tokens, three requests", "D", "miss 1,000 + 4; hit, prefill 1-2; hit, prefill about 200"),
    Row("H04", "The same with blocks of 16", "D", "each hit is 62 blocks = 992 tokens"),
    Row("H05", "SGLang paper, figure 3", "B", "the oldest branch goes first, shared prefixes stay"),
    Row("H06", "Hit rates of four loads", "S", "0 % to 90 %"),
    Row("H07", "SGLang paper, hit rates", "P", "50-99 %; 96 % of the optimum on line"),
    Row("H08", "Chat without a cache", "D", "8 turns, 50 in + 150 out: 6,000 against 400 prefill tokens"),
    Row("H09", "Overhead of the tree", "S", "tens of microseconds against an iteration of 22 ms"),
    Row(
        "H10",
        "30 tasks x 10 few-shot requests, shuffled",
        "D* (FCFS: S)",
        "optimum 83.0 %, reached by longest prefix first; FCFS 8 %",
    ),
    Row("H11", "Depth-first order is optimal", "D", "for a cache of at least the longest request"),
    Row("H12", "Starvation by longest prefix first", "B", "a request without a shared prefix waits without bound"),
    Row("H13", "Why leaves go first", "B", "an inner node takes its cached descendants with it"),
    Row("H14", "Timestamp in front", "D", "hit rate 0; at the end, hits return"),
    Row("H15", "Decode is not faster", "S", "TTFT falls, TPOT does not change"),
    Row("H16", "Agent loop", "S", "hit share tends to 100 %"),
    Row("H17", "Who benefits", "S", "shared prefixes only; nothing for unrelated prompts"),
    Row("H18", "Hits save memory", "S", "shared KV is stored once: larger batch"),
    Row("H19", "Benchmark traps", "S", "random prompts show no gain, equal ones 10 x"),
)
