"""The order of the waiting requests, and their ranks, which say it without renumbering anybody."""

from hypothesis import given
from hypothesis import strategies as st

from engine.request import Prompt, Request, SamplingParams
from engine.scheduler.waiting_queue import WaitingQueue
from engine.sequence import SequenceGroup, Ticks


def group(name: str, priority: int = 0, arrival: float = 0.0) -> SequenceGroup:
    request = Request(name, arrival, Prompt.of_length(4), SamplingParams(1, 1), priority=priority)
    return SequenceGroup(request, 0, 0, 1, Ticks())


def names(queue: WaitingQueue) -> list[str]:
    return [waiting.request.request_id for waiting in queue]


def test_newcomers_join_the_end_and_preempted_ones_the_head() -> None:
    queue = WaitingQueue()
    for name in "ab":
        queue.join(group(name))
    queue.return_preempted(group("c"))
    assert names(queue) == ["c", "a", "b"]


def test_with_priorities_the_smaller_number_goes_first_then_the_arrival_then_the_id() -> None:
    queue = WaitingQueue("priority")
    for name, priority, arrival in (("d", 1, 2.0), ("b", 1, 1.0), ("c", 1, 1.0), ("a", 0, 9.0)):
        queue.join(group(name, priority, arrival))
    assert names(queue) == ["a", "b", "c", "d"]
    queue.return_preempted(group("bb", 1, 1.0))
    assert names(queue) == ["a", "b", "bb", "c", "d"]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=60))
def test_ranks_always_ascend_and_only_those_that_are_told_have_changed(entries: list[tuple[int, int, bool]]) -> None:
    queue = WaitingQueue("priority")
    for number, (priority, arrival, leaves) in enumerate(entries):
        before = {waiting: waiting.rank for waiting in queue}
        moved = queue.join(group(f"{number:03}", priority, float(arrival)))
        ranks = [waiting.rank for waiting in queue]
        assert ranks == sorted(set(ranks))
        assert all(waiting.rank == rank for waiting, rank in before.items() if waiting not in moved)
        if leaves:
            queue.leave(queue[len(queue) // 2])


def test_neighbours_without_a_number_between_them_get_new_ones() -> None:
    queue = WaitingQueue("priority")
    moved = [queue.join(group(f"{number:03}", priority=-number)) for number in range(3)]
    for number in range(20):
        moved.append(queue.join(group("b", priority=0, arrival=-1 - number)))
    assert any(moved)
    assert [waiting.rank for waiting in queue] == sorted(waiting.rank for waiting in queue)
