"""H: prefix caching, the radix tree and cache-aware order."""

from engine.trace.track import HAPPENINGS
from engine.trace.tree import text_of, tree_at
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
    Row("H01", "Hash blocks", "B", "a full block is known by its tokens and all before; LRU"),
    Row("H02", "Radix tree", "B", "edges split, only leaves are evicted, nodes in use are locked"),
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
    Row("H06", "Hit rates of four loads", "S", "0 % to 90 %"),
    Row("H07", "SGLang paper, hit rates", "P", "50-99 %; 96 % of the optimum on line"),
    Row(
        "H08",
        "Chat without a cache",
        "D",
        "8 turns, 50 in + 150 out: 6,000 against 400 prefill tokens",
        chat_rounds,
    ).on("Stage: chat-rounds"),
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
    Row("H14", "Timestamp in front", "D", "hit rate 0; at the end, hits return", timestamp).on(
        "Stage: timestamp-first, timestamp-last"
    ),
    Row("H15", "Decode is not faster", "S", "TTFT falls, TPOT does not change"),
    Row("H16", "Agent loop", "S", "hit share tends to 100 %"),
    Row("H17", "Who benefits", "S", "shared prefixes only; nothing for unrelated prompts"),
    Row("H18", "Hits save memory", "S", "shared KV is stored once: larger batch"),
    Row("H19", "Benchmark traps", "S", "random prompts show no gain, equal ones 10 x"),
)
