"""The radix tree in small numbers: sharing, splitting, locking, evicting, ages and mistakes."""

import random
from math import log2

import pytest

from engine.kv.eviction import POLICIES, fifo
from engine.kv.radix_node import RadixError, RadixNode
from engine.kv.radix_tree import RadixTree


def edges(node: RadixNode) -> list:
    """[key, lock, edges below] of every child."""
    return [[list(child.key), child.lock_ref, edges(child)] for child in node.children.values()]


def test_two_sequences_that_share_four_tokens_are_six_tokens_in_three_nodes():
    tree = RadixTree()
    assert tree.insert([1, 2, 3, 4, 5])[1:] == (0, 5)
    assert tree.insert([1, 2, 3, 4, 6])[1:] == (4, 1)
    assert edges(tree.root) == [[[1, 2, 3, 4], 0, [[[5], 0, []], [[6], 0, []]]]]
    assert (tree.num_tokens, tree.num_nodes) == (6, 3)
    tree.check()


def test_a_match_that_ends_inside_a_node_splits_it_and_a_probe_does_not():
    tree = RadixTree()
    tree.insert([1, 2, 3, 4], slots=[7, 8, 9, 10])
    probe = tree.probe([1, 2, 5])
    assert (probe.num_tokens, list(probe.node.key)) == (2, [1, 2, 3, 4])
    assert tree.num_nodes == 1
    match = tree.match_prefix([1, 2, 5])
    assert (match.num_tokens, match.node.path_slots()) == (2, [7, 8])
    assert edges(tree.root) == [[[1, 2], 0, [[[3, 4], 0, []]]]]
    assert tree.match_prefix([1, 2, 3, 4, 5]).node.path_slots() == [7, 8, 9, 10]
    assert tree.match_prefix([9]).node is tree.root


def test_only_whole_pages_are_stored_and_matched():
    """Ten tokens are two pages of four; three equal tokens are none, six are one."""
    tree = RadixTree(page_size=4)
    assert tree.insert(range(10)).num_new == 8
    assert tree.match_prefix([0, 1, 2, 9]).num_tokens == 0
    assert tree.match_prefix([0, 1, 2, 3, 4, 5]).num_tokens == 4
    assert tree.insert([0, 1, 2, 3, 4, 5, 99, 98, 97])[1:] == (4, 4)
    assert edges(tree.root) == [[[0, 1, 2, 3], 0, [[[4, 5, 6, 7], 0, []], [[4, 5, 99, 98], 0, []]]]]
    tree.check()


def test_a_node_is_never_split_inside_a_page():
    """Three of four tokens are equal, which is one page of two."""
    tree = RadixTree(page_size=2)
    tree.insert([0, 0, 0, 0])
    assert tree.match_prefix([0, 0, 0, 1]).num_tokens == 2
    assert edges(tree.root) == [[[0, 0], 0, [[[0, 0], 0, []]]]]


def test_a_lock_protects_the_way_to_the_root_and_a_split_keeps_it():
    tree = RadixTree()
    tree.insert([1, 2, 3, 4, 5])
    held = tree.insert([1, 2, 3, 9]).node
    tree.lock(held)
    assert (tree.num_protected, tree.num_evictable) == (4, 2)
    tree.match_prefix([1, 2])
    assert edges(tree.root) == [[[1, 2], 1, [[[3], 1, [[[4, 5], 0, []], [[9], 1, []]]]]]]
    assert [list(node.key) for node in tree.evict(100)] == [[4, 5]]
    tree.unlock(held)
    assert (tree.num_protected, tree.num_evictable) == (0, 4)
    tree.check()


def test_a_locked_leaf_that_is_split_is_held_in_both_halves():
    tree = RadixTree()
    held = tree.insert([1, 2, 3, 4]).node
    tree.lock(held)
    tree.match_prefix([1, 2])
    assert edges(tree.root) == [[[1, 2], 1, [[[3, 4], 1, []]]]]
    tree.unlock(held)
    assert tree.num_evictable == 4
    tree.check()


def test_leaves_go_whole_and_oldest_first_and_a_parent_follows_in_the_same_call():
    """Asked for 4 tokens: [4 5 6] is oldest, 3 tokens; [7] next; the shared [1 2 3] would come after both."""
    tree = RadixTree()
    tree.insert([1, 2, 3, 4, 5, 6])
    tree.insert([1, 2, 3, 7])
    tree.insert([20, 21])
    assert [list(node.key) for node in tree.leaves_to_evict()] == [[4, 5, 6], [7], [20, 21]]
    assert [list(node.key) for node in tree.evict(4)] == [[4, 5, 6], [7]]
    assert [list(node.key) for node in tree.evict(1)] == [[1, 2, 3]]
    assert [list(node.key) for node in tree.evict(100)] == [[20, 21]]
    assert (tree.evict(1), tree.num_tokens, tree.num_nodes) == ([], 0, 0)
    tree.check()


def test_nothing_goes_when_nothing_is_asked_for():
    tree = RadixTree()
    tree.insert([1])
    assert tree.evict(0) == tree.evict(-3) == []


@pytest.mark.parametrize(("split_age", "first"), [("upper", [3, 4]), ("both", [9]), ("neither", [3, 4])])
def test_which_half_of_a_split_counts_as_used(split_age, first):
    """[1 2 3 4] is older than [9]; matching [1 2] refreshes [3 4] only under "both"."""
    tree = RadixTree(split_age=split_age)
    tree.insert([1, 2, 3, 4])
    tree.insert([9])
    tree.match_prefix([1, 2])
    assert list(tree.evict(1)[0].key) == first


@pytest.mark.parametrize(("split_age", "is_newer"), [("upper", True), ("both", True), ("neither", False)])
def test_the_upper_half_is_newest_unless_neither_half_counts_as_used(split_age, is_newer):
    tree = RadixTree(split_age=split_age)
    tree.insert([1, 2, 3, 4])
    tree.insert([9])
    upper = tree.match_prefix([1, 2]).node
    (lower,) = upper.children.values()
    assert (upper.last_access > lower.last_access) == is_newer
    assert (upper.last_access > tree.probe([9]).node.last_access) == is_newer


def test_the_upper_half_is_a_new_node_but_keeps_counts_and_place():
    """Under fifo the upper half is younger than its child; its place among the siblings is the old one."""
    tree = RadixTree(policy=fifo)
    tree.insert([1, 2, 3], priority=4)
    tree.insert([9])
    upper = tree.match_prefix([1, 2]).node
    (lower,) = upper.children.values()
    assert upper.number > lower.number
    assert (upper.hit_count, upper.priority, upper.place) == (1, 4, lower.place)
    assert list(tree.root.children) == [1, 9]


def test_hits_count_once_for_the_chunks_of_one_request():
    """A request stores 2, then 4, then 6 tokens: its own first chunks are no hits, another request's are."""
    tree = RadixTree()
    first = tree.insert([1, 2]).node
    second = tree.insert([1, 2, 3, 4], inserted_len=2).node
    third = tree.insert([1, 2, 3, 4, 5, 6], inserted_len=4).node
    assert (first.hit_count, second.hit_count, third.hit_count) == (1, 1, 1)
    tree.insert([1, 2, 3, 4])
    assert (first.hit_count, second.hit_count, third.hit_count) == (2, 2, 1)


def test_priority_is_the_maximum_of_what_was_stored_through_a_node():
    tree = RadixTree()
    node = tree.insert([1, 2], priority=3).node
    leaf = tree.insert([1, 2, 3], priority=1).node
    assert (node.priority, leaf.priority) == (3, 1)
    tree.insert([1, 2, 3], priority=5)
    assert (node.priority, leaf.priority) == (5, 5)


def test_what_could_be_evicted_beside_a_prefix_that_is_kept():
    """Of 5 + 2 tokens, keeping [1 2 3] leaves 4; a lock on [9 9] leaves only the tail [4 5]."""
    tree = RadixTree()
    tree.insert([1, 2, 3, 4, 5])
    other = tree.insert([9, 9]).node
    assert tree.evictable_beside(tree.probe([1, 2, 3, 7])) == 4
    tree.lock(other)
    assert tree.evictable_beside(tree.probe([1, 2, 3, 7])) == 2
    assert tree.evictable_beside(tree.probe([9, 9])) == 5


def test_mistakes_are_refused_in_a_sentence_and_change_nothing():
    tree, other = RadixTree(), RadixTree()
    node = tree.insert([1, 2, 3]).node
    with pytest.raises(RadixError, match="3 tokens are unlocked that nobody has locked"):
        tree.unlock(node)
    with pytest.raises(RadixError, match="2 slots for 3 tokens"):
        tree.insert([4, 5, 6], slots=[1, 2])
    with pytest.raises(RadixError, match="not in the tree"):
        other.lock(node)
    with pytest.raises(TypeError):
        tree.insert([1, 2, [3]])
    with pytest.raises(RadixError, match="page_size is 0"):
        RadixTree(page_size=0)
    with pytest.raises(RadixError, match="split_age is 'middle'"):
        RadixTree(split_age="middle")
    assert edges(tree.root) == [[[1, 2, 3], 0, []]]
    tree.check()


def test_a_node_that_was_evicted_or_cleared_cannot_be_locked_or_unlocked():
    tree = RadixTree()
    gone = tree.insert([1, 2]).node
    tree.evict(2)
    held = tree.insert([3, 4]).node
    tree.lock(held)
    tree.clear()
    for node in (gone, held):
        with pytest.raises(RadixError, match="not in the tree"):
            tree.lock(node)
        with pytest.raises(RadixError, match="not in the tree"):
            tree.unlock(node)
    assert (tree.num_tokens, tree.num_nodes, tree.evict(1)) == (0, 0, [])
    tree.check()


def test_words_and_long_sequences_are_tokens_too():
    """A sequence of a million tokens is one node; a chain of 1,200 nodes is walked without recursion."""
    tree = RadixTree()
    tree.insert(["the", "cat", "sat"])
    assert tree.match_prefix(["the", "cat", "ran"]).num_tokens == 2
    long = tuple(range(1_000_000))
    tree.insert(long)
    assert tree.match_prefix(long[:777_777]).num_tokens == 777_777
    chain = RadixTree()
    for length in range(1, 1_201):
        chain.insert(range(length))
    assert chain.num_nodes == 1_200
    assert sum(len(node.key) for node in chain.evict(1_200)) == 1_200
    chain.check()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("num_leaves", [128, 1_024, 8_192])
def test_an_eviction_takes_steps_of_the_order_of_log_n_however_many_leaves_there_are(policy, num_leaves):
    """Every leaf was used since it was stored, in another order: an eager scan or stale entries would show here."""
    rng = random.Random(num_leaves)
    tree = RadixTree(policy=POLICIES[policy])
    names = list(range(num_leaves))
    for name in names:
        tree.insert([name, name])
    rng.shuffle(names)
    for name in names:
        tree.match_prefix([name, name])
    for _ in range(50):
        before = tree.num_steps
        assert len(tree.evict(1)) == 1
        assert tree.num_steps - before <= 2 * log2(num_leaves)


@pytest.mark.parametrize("num_leaves", [128, 8_192])
def test_matching_locking_and_storing_look_at_no_leaf_beside_the_path(num_leaves):
    tree = RadixTree()
    for name in range(num_leaves):
        tree.insert([0, name, name])
    before = tree.num_steps
    node = tree.match_prefix([0, 5, 5, 7]).node
    tree.lock(node)
    tree.insert([0, 5, 5, 8])
    tree.unlock(node)
    assert tree.num_steps - before <= 12 + 4 * log2(num_leaves)
