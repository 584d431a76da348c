"""What makes two blocks equal: the tokens from the start to their end, however they are written down, never a hash."""

from engine.request import Prompt
from tests.engine.kv.caches import A, cache_of, run, sequence


def test_equal_tokens_after_different_beginnings_are_different() -> None:
    kv = cache_of()
    run(kv, sequence((*A[:4], *A[4:8])))
    assert kv.match(sequence((*A[4:8], 1), 1)) == 0
    assert kv.match(sequence((*A[4:8], *A[4:8], 1), 2)) == 0


class Colliding(int):
    """All tokens have the same hash."""

    def __hash__(self) -> int:
        return 7


def test_equal_hashes_are_no_hit() -> None:
    kv = cache_of()
    run(kv, sequence(tuple(map(Colliding, (1, 2, 3, 4, 9)))))
    queries = ((4, 3, 2, 1, 9), (1, 2, 3, 4, 8), (2, 2, 3, 3, 9))
    assert [kv.match(sequence(tuple(map(Colliding, query)), 1)) for query in queries] == [0, 4, 0]


def test_prompts_without_ids_are_equal_however_their_runs_are_cut() -> None:
    kv = cache_of()
    run(kv, sequence(Prompt(runs=((7, 0, 6), (9, 0, 6)))))
    again = Prompt(runs=((7, 0, 2), (7, 2, 4), (9, 0, 1), (9, 1, 7)))
    assert kv.match(sequence(again, 1)) == 12
    assert kv.match(sequence(Prompt(runs=((7, 1, 6), (9, 0, 6))), 2)) == 0


def test_a_run_is_never_taken_for_token_ids() -> None:
    kv = cache_of(block_size=3)
    run(kv, sequence((1, 0, 3, 5)))
    assert kv.match(sequence(Prompt(runs=((1, 0, 3), (2, 0, 1))), 1)) == 0


def test_what_a_sequence_produced_is_its_own_unless_a_script_gives_the_ids() -> None:
    kv = cache_of()
    run(kv, sequence(A[:4]), 4)
    assert kv.match(sequence(A, 1)) == 4
    run(kv, sequence(A[:6], 2, script=(A[6:],)), 6)
    assert kv.match(sequence(A, 3)) == 12
