"""H: prefix caching, the radix tree and cache-aware order."""

from engine.trace.track import HAPPENINGS
from engine.trace.tree import text_of, tree_at
from scenarios.acceptance import cache_order, hits
from scenarios.acceptance.lab import Lab
from scenarios.acceptance.row import Outcome, Row


def prompt_tokens(lab: Lab, scenario: str, run: str) -> list[int]:
    """Prompt tokens that each request computes where they run one after the other: those of its first step."""
    trace = lab.trace(scenario, run)
    computed = trace.steps["num_scheduled_tokens"].tolist()
    first, tokens = 0, []
    for request in trace.requests:
        tokens.append(computed[first])
        first += request["output_len"]
    assert first == trace.num_steps, "two requests share a step"
    return tokens


def last_tree(lab: Lab, scenario: str, run: str) -> list[str]:
    """Every node at the end of a run as its path of lengths, such as "1000/2"."""
    trace = lab.trace(scenario, run)
    nodes = tree_at(trace, trace.num_events)
    paths: dict[int, str] = {}

    def path_of(number: int) -> str:
        if number not in paths:
            node = nodes[number]
            above = f"{path_of(node.parent)}/" if node.parent else ""
            paths[number] = f"{above}{len(node.tokens)}"
        return paths[number]

    return sorted(map(path_of, nodes))


def hash_blocks(lab: Lab) -> Outcome:
    full = int(hits.hits_of(lab.trace("thousand-shared", "blocks-of-16"))[1])
    behind_others = int(hits.hits_of(lab.trace("timestamp-first", "timestamp-first")).sum())
    trace = lab.trace("leaves-first", "tail-first")
    happened = trace.happenings
    evicted = happened["block"][happened["kind"] == HAPPENINGS.index("evicted")].tolist()
    tables = [trace.cut(step=step, at="scheduled").table(number) for number, step in ((0, 1), (1, 3))]
    return Outcome(
        f"of 1,000 equal tokens {full} are found, 62 full blocks; of 480 behind other tokens {behind_others}; "
        f"evicted of {tables[0]} and {tables[1]}: {evicted}, the ones unused longest, tails first",
        (full, behind_others) == (992, 0) and evicted == [3, 2, 5, 4],
    )


def radix_tree(lab: Lab) -> Outcome:
    trace = lab.trace("two-chats-two-shots", "radix")
    happened = trace.happenings

    def events(kind: str) -> list[tuple[int, int, int]]:
        rows = happened["kind"] == HAPPENINGS.index(kind)
        columns = (happened[column][rows].tolist() for column in ("event", "block", "target"))
        return list(zip(*columns, strict=True))

    leaves_only = all(
        not before[node].lock_ref and all(other.parent != node for other in before.values())
        for event, _, node in events("evicted")
        for before in (tree_at(trace, event - 1),)
    )
    same_locks = all(
        after[lower].lock_ref == after[upper].lock_ref == tree_at(trace, event - 1)[lower].lock_ref
        for event, lower, upper in events("split")
        for after in (tree_at(trace, event),)
    )
    batches = [lab.trace("larger-batch", run).steps["num_running"].max() for run in ("without", "radix")]
    return Outcome(
        f"{len(events('split'))} splits with the locks of the whole node on both halves; {len(events('evicted'))} nodes "
        f"evicted, each an unlocked leaf; one pool lets {batches[1]} run at once where {batches[0]} fit without a tree",
        leaves_only and same_locks and len(events("split")) == len(events("evicted")) == 2 and batches == [5, 24],
    )


def thousand_tokens(lab: Lab) -> Outcome:
    name, run = "thousand-shared-tree", "radix"
    computed = prompt_tokens(lab, name, run)
    answer = 3  # of four tokens the last has no KV
    expected = ["1000", "1000/2", "1000/2/2", "1000/2/2", "1000/200", f"1000/200/{answer}"]
    expected += [f"1000/2/2/{answer}"] * 2
    tree = last_tree(lab, name, run)
    return Outcome(
        f"computes {computed} prompt tokens; nodes at the end by their path of lengths: {', '.join(tree)}",
        computed == [1_004, 2, 200] and tree == sorted(expected),
    )


def two_chats_two_shots(lab: Lab) -> Outcome:
    trace = lab.trace("two-chats-two-shots", "radix")
    happened = trace.happenings
    gone, kinds = [], {name: happened["kind"] == HAPPENINGS.index(name) for name in ("evicted", "split", "locked")}
    for event, number in zip(
        *(happened[column][kinds["evicted"]].tolist() for column in ("event", "target")), strict=True
    ):
        before = tree_at(trace, event - 1)
        leaves = set(before) - {node.parent for node in before.values()}
        free = [leaf for leaf in leaves if not before[leaf].lock_ref]
        gone.append(
            (text_of(trace.header, before[number].tokens), number == min(free, key=lambda n: before[n].last_access))
        )
    splits = [
        text_of(trace.header, tree_at(trace, event)[number].tokens)
        for event, number in zip(
            *(happened[column][kinds["split"]].tolist() for column in ("event", "target")), strict=True
        )
    ]
    locks = max(
        node.lock_ref for event in happened["event"][kinds["locked"]] for node in tree_at(trace, int(event)).values()
    )
    last = [text_of(trace.header, node.tokens) for node in tree_at(trace, trace.num_events).values()]
    shared = ["You are a kind tutor", "sea = mer ; sky = ciel ;"]
    return Outcome(
        f"splits at {' and '.join(map(repr, splits))}, up to {locks} locks; gone, oldest leaf first: "
        f"{', then '.join(repr(words) for words, _ in gone)}",
        splits == shared
        and locks == 2
        and set(shared) <= set(last)
        and gone == [("the rule least recently", True), ("store and who clears it", True)],
    )


def thousand_shared(lab: Lab) -> Outcome:
    lengths = [request["prompt_len"] for request in lab.trace("thousand-shared", "blocks-of-16").requests]
    computed = prompt_tokens(lab, "thousand-shared", "blocks-of-16")
    hits = [length - tokens for length, tokens in zip(lengths, computed, strict=True)]
    return Outcome(
        f"prompts of {lengths} tokens hit {hits}, {hits[1] // 16} blocks of 16 each, and compute {computed}",
        (hits, computed) == ([0, 992, 992], [1_004, 12, 208]),
    )


def chat_rounds(lab: Lab) -> Outcome:
    without, blocks, single = (
        sum(prompt_tokens(lab, "chat-rounds", run)) for run in ("without", "blocks-of-16", "blocks-of-1")
    )
    num_answers = len(lab.trace("chat-rounds", "without").requests) - 1
    questions = single - num_answers
    return Outcome(
        f"without {without:,}; with a cache {questions} of the questions and the last token of {num_answers} answers "
        f"= {single}; {blocks} with blocks of 16",
        (without, questions, single, blocks) == (6_000, 400, 407, 480),
    )


def timestamp(lab: Lab) -> Outcome:
    shares = []
    for name in ("timestamp-first", "timestamp-last"):
        total = sum(request["prompt_len"] for request in lab.trace(name, name).requests)
        shares.append(1 - sum(prompt_tokens(lab, name, name)) / total)
    return Outcome(
        f"hit rate {shares[0]:.0%} with the timestamp in front, {shares[1]:.1%} with it at the end",
        shares[0] == 0 and round(shares[1], 4) == round(9 * 480 / 5_200, 4),
    )


ROWS = (
    Row("H01", "Hash blocks", "B", "a full block is known by its tokens and all before; LRU", hash_blocks).on(
        "Stage: thousand-shared, timestamp-first, leaves-first"
    ),
    Row("H02", "Radix tree", "B", "edges split, only leaves are evicted, nodes in use are locked", radix_tree).on(
        "Stage: two-chats-two-shots, larger-batch"
    ),
    Row(
        "H03",
        "1,000 shared tokens, three requests",
        "D",
        "miss 1,000 + 4; hit, prefill 1-2; hit, prefill about 200",
        thousand_tokens,
    ).on("Stage: thousand-shared-tree"),
    Row("H04", "The same with blocks of 16", "D", "each hit is 62 blocks = 992 tokens", thousand_shared).on(
        "Stage: thousand-shared"
    ),
    Row(
        "H05",
        "SGLang paper, figure 3",
        "B",
        "the oldest branch goes first, shared prefixes stay",
        two_chats_two_shots,
    ).on("Stage: two-chats-two-shots"),
    Row("H06", "Hit rates of four loads", "S", "0 % to 90 %", hits.four_loads).on("Stage: four-loads"),
    Row("H07", "SGLang paper, hit rates", "P", "50-99 %; 96 % of the optimum on line"),
    Row(
        "H08",
        "Chat without a cache",
        "D",
        "8 turns, 50 in + 150 out: 6,000 against 400 prefill tokens",
        chat_rounds,
    ).on("Stage: chat-rounds"),
    Row("H09", "Overhead of the tree", "S", "tens of microseconds against an iteration of 22 ms", hits.overhead),
    Row(
        "H10",
        "30 tasks x 10 few-shot requests, shuffled",
        "D* (FCFS: S)",
        "optimum 83.0 %, reached by longest prefix first; FCFS 8 %",
        cache_order.thirty_tasks,
    ).on("Stage: thirty-tasks"),
    Row(
        "H11",
        "Depth-first order is optimal",
        "D",
        "for a cache of at least the longest request",
        cache_order.theorem,
    ),
    Row(
        "H12",
        "Starvation by longest prefix first",
        "B",
        "a request without a shared prefix waits without bound",
        cache_order.starved,
    ).on("Stage: starved-request"),
    Row(
        "H13",
        "Why leaves go first",
        "B",
        "an inner node takes its cached descendants with it",
        cache_order.leaves_first,
    ).on("Stage: leaves-first"),
    Row("H14", "Timestamp in front", "D", "hit rate 0; at the end, hits return", timestamp).on(
        "Stage: timestamp-first, timestamp-last"
    ),
    Row("H15", "Decode is not faster", "S", "TTFT falls, TPOT does not change", hits.decode_not_faster).on(
        "Stage: decode-not-faster"
    ),
    Row("H16", "Agent loop", "S", "hit share tends to 100 %", hits.agent_loop).on("Stage: agent-loop"),
    Row("H17", "Who benefits", "S", "shared prefixes only; nothing for unrelated prompts", hits.who_benefits).on(
        "Stage: who-benefits"
    ),
    Row("H18", "Hits save memory", "S", "shared KV is stored once: larger batch", hits.larger_batch).on(
        "Stage: larger-batch"
    ),
    Row("H19", "Benchmark traps", "S", "random prompts show no gain, equal ones 10 x", hits.benchmark_traps).on(
        "Stage: benchmark-traps"
    ),
)
