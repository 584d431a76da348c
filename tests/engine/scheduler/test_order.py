"""Queue orders in small numbers: what is cached first, who waits for whom, and when a long queue is left alone."""

import pytest

from engine.kv.radix_node import Match
from engine.kv.radix_tree import RadixTree
from engine.scheduler.order import ORDERS, QueueOrder, Waiting

SGLANG = {"fall_back_above": 128, "in_batch_check": 32, "in_batch_share": 32}


def span(first: int, length: int) -> list[int]:
    return list(range(first, first + length))


def waiting(*prompts: list[int], **fields: list) -> list[Waiting]:
    """Requests 0, 1, ... with these prompts; `fields` give one value a request."""
    return [
        Waiting(number, len(prompt), prompt, **{name: values[number] for name, values in fields.items()})
        for number, prompt in enumerate(prompts)
    ]


def tree_of(*sequences: list[int]) -> RadixTree:
    tree = RadixTree(split_age="both")
    for sequence in sequences:
        tree.insert(sequence)
    return tree


def places(name: str, queue: list[Waiting], tree: RadixTree | None = None, **numbers) -> list[int]:
    tree = tree or RadixTree()
    return QueueOrder(name, **numbers).sort(queue, lambda entry: tree.match_prefix(entry.tokens)).places


def test_first_come_first_served_looks_nothing_up():
    def never(entry: Waiting) -> Match:
        raise AssertionError("fcfs has no use for a match")

    done = QueueOrder().sort(waiting([1], [2], [3]), never)
    assert (done.places, done.name, done.matches) == ([0, 1, 2], "fcfs", None)


def test_the_longest_cached_prefix_goes_first_and_equal_ones_keep_their_places():
    """2, 0, 4 and 2 tokens are cached."""
    tree = tree_of([1, 2, 3, 4])
    queue = waiting([1, 2, 9], [7, 7], [1, 2, 3, 4, 5], [1, 2, 8])
    assert places("longest_prefix_first", queue, tree) == [2, 0, 3, 1]


def test_a_prompt_that_is_cached_whole_has_one_token_to_compute():
    """Four of four tokens are cached and three of them count: a tie with the request before it, which goes first."""
    tree = tree_of([1, 2, 3, 4])
    assert places("longest_prefix_first", waiting([1, 2, 3, 9], [1, 2, 3, 4]), tree) == [0, 1]


@pytest.mark.parametrize(("shared", "expected"), [(31, [0, 1, 2]), (32, [0, 2, 1])])
def test_a_request_that_shares_32_tokens_with_one_before_it_waits_for_it(shared, expected):
    """The second begins like the first; the third like nobody. Nothing is cached."""
    queue = waiting(span(0, 60), [*span(0, shared), 900], span(500, 40))
    assert places("longest_prefix_first", queue, **SGLANG) == expected
    assert places("longest_prefix_first", queue) == [0, 1, 2]


@pytest.mark.parametrize(("cached", "expected"), [(32, [0, 2, 1]), (33, [0, 1, 2])])
def test_who_has_more_than_32_cached_tokens_waits_for_nobody(cached, expected):
    queue = waiting([*span(0, 70), 1], [*span(0, 70), 2], [900])
    tree = tree_of(span(0, cached))
    assert places("longest_prefix_first", queue, tree, **SGLANG) == expected


@pytest.mark.parametrize(("num_waiting", "name"), [(128, "longest_prefix_first"), (129, "fcfs")])
def test_a_queue_of_more_than_128_is_left_as_it_is(num_waiting, name):
    order = QueueOrder("longest_prefix_first", **SGLANG)
    tree = tree_of(span(0, 50))
    queue = waiting(*([10_000 + number] for number in range(num_waiting - 1)), span(0, 51))
    done = order.sort(queue, lambda entry: tree.match_prefix(entry.tokens))
    assert done.name == name
    assert done.places[0] == (0 if name == "fcfs" else num_waiting - 1)
    assert (done.matches is None) == (name == "fcfs")
    assert QueueOrder("depth_first", **SGLANG).active(1_000) == "depth_first"


def test_depth_first_goes_through_the_heaviest_branch_and_deepest_first():
    """[5 5] carries one request, [1 2] three: two at its end, one deeper at [1 2 3]; the root one that shares nothing."""
    tree = tree_of([5, 5], [1, 2, 3])
    queue = waiting([9, 9], [5, 5, 7], [1, 2, 8], [1, 2, 3, 4], [1, 2, 9])
    assert places("depth_first", queue, tree) == [3, 2, 4, 1, 0]


def test_branches_of_equal_weight_go_in_the_order_in_which_they_were_stored_also_after_a_split():
    tree = tree_of([1, 1, 1], [2, 2, 2])
    queue = waiting([2, 2, 2, 0], [1, 1, 0])
    assert places("depth_first", queue, tree) == [1, 0]
    assert places("depth_first", [], tree) == []


def test_the_shortest_prefill_counts_what_is_not_cached():
    """6 - 4 = 2, 3 and 1 tokens to compute; equal work by arrival."""
    tree = tree_of([1, 2, 3, 4])
    queue = waiting([1, 2, 3, 4, 8, 8], [7, 7, 7], [9], [6], arrival=[0.0, 1.0, 3.0, 2.0])
    assert places("shortest_prefill_first", queue, tree) == [3, 2, 0, 1]


def test_other_orders():
    queue = waiting([1], [2], [3], max_tokens=[5, 50, 5], priority=[1, 2, 1], arrival=[3.0, 1.0, 2.0])
    assert places("lof", queue) == [1, 0, 2]
    assert places("priority", queue) == [2, 0, 1]
    assert places("priority", queue, larger_first=True) == [1, 2, 0]


def test_a_random_order_is_the_same_for_the_same_seed_and_pass():
    queue = waiting(*([number] for number in range(20)))
    order = QueueOrder("random", seed=7)
    first, again, later = (order.sort(queue, RadixTree().probe, number).places for number in (1, 1, 2))
    assert first == again != later
    assert sorted(first) == sorted(later) == list(range(20))
    assert QueueOrder("random", seed=8).sort(queue, RadixTree().probe, 1).places != first


def test_a_request_that_shares_nothing_waits_until_its_waiting_outweighs_a_prefix():
    """100 cached tokens against 0 + 30 for each pass: 90 after three passes, 120 after four."""
    tree = tree_of(span(0, 100))
    for passes, expected in ((3, [1, 0]), (4, [0, 1])):
        queue = waiting([900, 901], span(0, 101), num_passes=[passes, 0])
        assert places("longest_prefix_first", queue, tree, aging=30) == expected
        assert places("longest_prefix_first", queue, tree) == [1, 0]


def test_an_unknown_order_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="'alphabetic' is unknown; choose one of fcfs"):
        QueueOrder("alphabetic")


@pytest.mark.parametrize("name", ORDERS)
def test_every_order_names_every_place_once(name):
    tree = tree_of(span(0, 40), span(100, 40))
    queue = waiting([0, 1, 7], span(100, 41), [5], span(0, 90), span(0, 91), [])
    assert sorted(places(name, queue, tree, **SGLANG)) == list(range(6))
