"""Eviction policies on nodes with ages and counts that one can read off, and the heap that keeps leaves in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.kv.eviction import POLICIES, policy_of, slru
from engine.kv.leaf_heap import LeafHeap
from engine.kv.radix_node import RadixNode
from engine.kv.radix_tree import RadixTree


def node(number: int, last_access: int = 0, hit_count: int = 1, priority: int = 0) -> RadixNode:
    made = RadixNode(number, number, last_access, (number,), ())
    made.hit_count, made.priority = hit_count, priority
    return made


@pytest.mark.parametrize(
    ("policy", "order"),
    [
        ("lru", [2, 1, 3]),
        ("mru", [3, 1, 2]),
        ("lfu", [2, 3, 1]),
        ("fifo", [1, 2, 3]),
        ("filo", [3, 2, 1]),
        ("slru", [2, 3, 1]),
        ("priority", [2, 3, 1]),
    ],
)
def test_the_order_of_three_leaves(policy, order):
    """Leaf 1 was stored twice, with priority 2, used at 8; leaf 2 once, 0, at 7; leaf 3 once, 1, at 9."""
    leaves = [node(1, 8, 2, 2), node(2, 7, 1, 0), node(3, 9, 1, 1)]
    assert [leaf.number for leaf in sorted(leaves, key=POLICIES[policy])] == order


def test_a_segment_is_protected_from_so_many_insertions_on():
    assert slru(node(1, 5, hit_count=2)) > slru(node(2, 9, hit_count=1))
    three = policy_of("slru", {"protected_threshold": 3})
    assert three(node(1, 5, hit_count=2)) < three(node(2, 9, hit_count=1)) < three(node(3, 1, hit_count=3))


def test_policies_are_named_and_other_names_and_numbers_are_refused_in_a_sentence():
    assert policy_of("lru") is POLICIES["lru"]
    assert policy_of("slru", {}) is slru
    with pytest.raises(ValueError, match="'oldest' is unknown; choose one of lru"):
        policy_of("oldest")
    with pytest.raises(ValueError, match="'lru' has no setting 'protected_threshold'"):
        policy_of("lru", {"protected_threshold": 2})
    with pytest.raises(ValueError, match="whole number from 1 on"):
        policy_of("slru", {"protected_threshold": 0})


@pytest.mark.parametrize(("policy", "last"), [("lru", [1, 1]), ("lfu", [3, 3]), ("fifo", [3, 3]), ("filo", [1, 1])])
def test_the_last_of_three_sequences_to_go(policy, last):
    """[1 1] is stored first and used last; [3 3] is stored last and stored again."""
    tree = RadixTree(policy=POLICIES[policy])
    for tokens in ([1, 1], [2, 2], [3, 3], [3, 3]):
        tree.insert(tokens)
    tree.match_prefix([1, 1])
    assert [list(leaf.key) for leaf in tree.evict(6)][-1] == last


def test_leaves_with_equal_keys_go_by_last_use():
    heap = LeafHeap(lambda leaf: 0)
    for leaf in (node(1, 9), node(2, 3), node(3, 5)):
        heap.add(leaf)
    assert [heap.pop().number for _ in range(3)] == [2, 3, 1]


def test_a_leaf_that_leaves_from_the_middle_is_replaced_by_one_that_may_have_to_rise():
    """11 stands below 10; the last one, 3, takes its place and belongs above 10."""
    heap = LeafHeap(POLICIES["lru"])
    leaves = {age: node(age, last_access=age) for age in (1, 10, 2, 11, 12, 3)}
    for leaf in leaves.values():
        heap.add(leaf)
    heap.discard(leaves[11])
    heap.check()
    assert [heap.pop().number for _ in range(5)] == [1, 2, 3, 10, 12]


@given(
    st.sampled_from([*POLICIES]),
    st.lists(
        st.tuples(st.sampled_from(["add", "use", "discard", "pop"]), st.integers(0, 9), st.integers(0, 3)), max_size=60
    ),
)
def test_the_heap_is_always_the_sorted_list_of_its_leaves(policy, steps):
    key = POLICIES[policy]
    heap, inside = LeafHeap(key), []
    leaves = [node(number) for number in range(10)]
    for now, (step, which, number) in enumerate(steps, 1):
        leaf = leaves[which]
        if step == "add" and leaf not in inside:
            heap.add(leaf)
            inside.append(leaf)
        elif step == "use":
            leaf.last_access, leaf.hit_count, leaf.priority = now, leaf.hit_count + number % 2, number
            heap.used(leaf)
        elif step == "discard":
            heap.discard(leaf)
            inside = [other for other in inside if other is not leaf]
        elif step == "pop" and inside:
            inside.remove(heap.pop())
        heap.check()
        assert heap.in_order() == sorted(inside, key=lambda n: (key(n), n.last_access, n.number))
        assert len(heap) == len(inside)
