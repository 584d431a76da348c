"""The radix manager by hand: hits, locks, duplicates, forks, eviction, and what a preempted sequence leaves behind."""

import pytest

from engine.kv.manager import KVError
from engine.kv.radix import RadixKV
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.sequence import Sequence, SequenceGroup, Ticks
from engine.settings import Settings, SettingsError


class Bench:
    """A manager and the sequences that it has seen."""

    def __init__(self, **settings) -> None:
        self.kv = RadixKV(Settings(**{"kv_manager": "radix", "block_size": 2, "num_blocks": 10, **settings}))
        self.sequences: list[Sequence] = []

    def sequence(self, ids, n: int = 1, priority: int = 0) -> Sequence:
        index = len(self.sequences)
        request = Request(f"r{index}", 0.0, Prompt.of_ids(ids), SamplingParams(n, 8), priority=priority)
        group = SequenceGroup(request, index, index, 8, Ticks())
        self.sequences += group.sequences
        return group.lead

    def compute(self, seq: Sequence, insert: bool = True) -> int:
        """Admission and prompt; returns the tokens that were found."""
        num_tokens = seq.group.prompt_len - self.kv.match(seq)
        allocation = self.kv.allocate(seq, num_tokens)
        assert allocation is not None
        seq.advance(num_tokens)
        if insert:
            self.kv.register(seq, seq.num_computed_tokens)
        self.kv.check(self.sequences)
        return allocation.hit_tokens

    def finish(self, seq: Sequence, output=()) -> None:
        """The answer is computed, all but its last token, and the sequence ends."""
        if output:
            assert self.kv.allocate(seq, len(output) - 1) is not None
            seq.output_token_ids = list(output)
            seq.advance(len(output) - 1)
        seq.status = SequenceStatus.FINISHED
        self.kv.free(seq)
        self.kv.check(self.sequences)

    def edges(self) -> dict[tuple, int]:
        """Path of each node -> its locks."""
        return {node.path_tokens(): node.lock_ref for node in self.kv.tree.root.below()}


def test_prompt_and_answer_but_for_its_last_token_stay_in_the_tree_in_whole_pages():
    bench = Bench()
    seq = bench.sequence([1, 2, 3, 4, 5])
    assert bench.compute(seq) == 0
    assert bench.edges() == {(1, 2, 3, 4): 1}
    bench.finish(seq, [6, 7, 8])
    assert bench.edges() == {(1, 2, 3, 4): 0, (1, 2, 3, 4, 5, 6): 0}  # 8 was sampled, 7 fills no page
    assert (bench.kv.num_free, bench.kv.num_used, bench.kv.pool.num_empty) == (10, 0, 7)


def test_one_token_at_least_is_computed():
    bench = Bench()
    first = bench.sequence([1, 2, 3, 4])
    bench.compute(first)
    bench.finish(first)
    assert bench.compute(bench.sequence([1, 2, 3, 4])) == 2
    assert bench.compute(bench.sequence([1, 2, 3, 4, 5])) == 4


def test_a_hit_splits_the_node_and_locks_up_to_the_root():
    bench = Bench()
    first, second = bench.sequence([1, 2, 3, 4]), bench.sequence([1, 2, 9, 9])
    bench.compute(first)
    assert bench.compute(second) == 2
    assert bench.edges() == {(1, 2): 2, (1, 2, 3, 4): 1, (1, 2, 9, 9): 1}
    assert second.block_table[0] == first.block_table[0]
    bench.finish(first)
    assert bench.edges() == {(1, 2): 1, (1, 2, 3, 4): 0, (1, 2, 9, 9): 1}


def test_equal_prompts_of_one_step_end_up_in_the_same_blocks():
    bench = Bench()
    first, second = bench.sequence([1, 2, 3, 4, 5]), bench.sequence([1, 2, 3, 4, 6])
    bench.compute(first, insert=False)
    assert bench.compute(second, insert=False) == 0
    assert (first.block_table, second.block_table) == ([0, 1, 2], [3, 4, 5])
    bench.kv.register(first, 5)
    assert bench.kv.register(second, 5) == 2
    bench.kv.check(bench.sequences)
    assert second.block_table == [0, 1, 5]
    assert bench.kv.pool.num_empty == 6
    assert bench.edges() == {(1, 2, 3, 4): 2}


def test_who_is_preempted_inserts_nothing_and_lets_go():
    bench = Bench()
    seq = bench.sequence([1, 2, 3, 4])
    bench.compute(seq, insert=False)
    assert bench.kv.free(seq) == 2
    assert bench.edges() == {} and bench.kv.pool.num_empty == 10
    assert bench.kv.free(seq) == 0


def test_whole_leaves_go_when_a_block_is_missing_the_least_recently_used_first():
    bench = Bench(num_blocks=6)
    for ids in ([1, 1, 2, 2], [1, 1, 3, 3], [4, 4]):
        bench.compute(seq := bench.sequence(ids))
        bench.finish(seq)
    assert bench.kv.pool.num_empty == 2
    assert bench.compute(bench.sequence([5, 5, 6, 6, 7, 7])) == 0  # 3 blocks, 2 are empty
    assert bench.edges() == {(1, 1): 0, (1, 1, 3, 3): 0, (4, 4): 0, (5, 5, 6, 6, 7, 7): 1}


def test_the_own_hit_is_never_evicted_and_does_not_count_as_available():
    bench = Bench(num_blocks=4)
    bench.compute(seq := bench.sequence([1, 1, 2, 2, 3, 3, 4, 4]))
    bench.finish(seq)
    longer = bench.sequence([1, 1, 2, 2, 3, 3, 9])
    assert bench.kv.match(longer) == 6
    assert bench.kv.fits(longer, 1) is None
    need = bench.kv.fits(longer, 3)
    assert need is not None and (need.needed, need.available) == (2, 1)
    assert bench.kv.allocate(longer, 3) is None
    assert bench.edges() == {(1, 1, 2, 2, 3, 3, 4, 4): 0}
    assert bench.compute(longer) == 6
    assert bench.edges() == {(1, 1, 2, 2, 3, 3): 1}


def test_a_decoding_sequence_takes_the_blocks_of_the_tree():
    bench = Bench(num_blocks=3)
    bench.compute(gone := bench.sequence([1, 1]))
    bench.finish(gone)
    bench.compute(seq := bench.sequence([2, 2, 3, 3]))
    assert bench.kv.pool.num_empty == 0
    assert bench.kv.allocate(seq, 1) is not None
    assert bench.edges() == {(2, 2, 3, 3): 1}
    seq.advance(1)
    assert bench.kv.allocate(seq, 2) is None, "its own blocks are locked"


def test_forks_share_blocks_and_lock_and_each_leaves_its_own_answer():
    bench = Bench(block_size=1)
    lead = bench.sequence([1, 2, 3], n=2)
    bench.compute(lead)
    child = lead.group.sequences[1]
    bench.kv.fork(lead, child)
    bench.kv.check(bench.sequences)
    assert bench.edges() == {(1, 2, 3): 2}
    bench.finish(lead, [7, 8, 9])
    bench.finish(child, [7, 6, 9])
    assert bench.edges() == {(1, 2, 3): 0, (1, 2, 3, 7): 0, (1, 2, 3, 7, 8): 0, (1, 2, 3, 7, 6): 0}


def test_the_least_important_leaf_goes_first_by_priority():
    bench = Bench(num_blocks=2, eviction="priority")
    for token, priority in ((1, 0), (2, 5)):  # a smaller number is more important
        bench.compute(seq := bench.sequence([token, token], priority=priority))
        bench.finish(seq)
    bench.compute(bench.sequence([3, 3]))
    assert bench.edges() == {(1, 1): 0, (3, 3): 1}


def test_equal_contents_are_equal_tokens_and_unlike_any_id():
    bench = Bench(block_size=1, num_blocks=2_000)
    prompts = [
        Prompt(((7, 0, 300), (8, 0, 2))),
        Prompt(((7, 0, 200), (7, 200, 100), (9, 0, 2))),
        Prompt.of_ids(range(300)),
    ]
    hits = []
    for prompt in prompts:
        index = len(bench.sequences)
        seq = SequenceGroup(Request(f"r{index}", 0.0, prompt), index, index, 8, Ticks()).lead
        bench.sequences.append(seq)
        hits.append(bench.compute(seq))
    assert hits == [0, 300, 0]


def test_nothing_is_moved_to_a_host():
    bench = Bench()
    bench.compute(seq := bench.sequence([1, 2]))
    with pytest.raises(KVError, match="does not move"):
        bench.kv.move_out(seq.group)
    with pytest.raises(SettingsError, match="num_host_blocks is 4; kv_manager 'radix' has no host"):
        Settings(kv_manager="radix", num_blocks=4, num_host_blocks=4)
    with pytest.raises(SettingsError, match="set a smaller num_blocks"):
        Settings(kv_manager="radix", num_blocks=2_000_000, block_size=2_048)
