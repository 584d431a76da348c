"""Who makes room when memory is short, and who goes on in that step."""

from typing import Any

import pytest

from engine.loop import Engine
from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings


class Served:
    """An engine whose steps are shown as tokens by request."""

    def __init__(self, **values: Any) -> None:
        self.engine = Engine(Settings.of({"over_budget": "wait", "step_time": 1.0, **values}))

    def submit(self, name: str, prompt_len: int, output_len: int, priority: int = 0, arrival: float = 0.0) -> None:
        number = len(self.engine.groups)
        prompt, sampling = Prompt.of_length(prompt_len, number), SamplingParams(1, output_len)
        self.engine.submit(Request(name, arrival, prompt, sampling, priority=priority))

    def step(self) -> dict[str, int] | None:
        batch = self.engine.schedule()
        if batch is None:
            return None
        taken = {row.sequence.group.request.request_id: row.num_tokens for row in batch.rows}
        self.engine.update(batch, self.engine.executor.execute(batch))
        return taken

    def rest(self, limit: int = 100) -> list[dict[str, int]]:
        """The steps to the end; a run that goes on for ever is cut off after `limit`."""
        steps = []
        while len(steps) < limit and (taken := self.step()) is not None:
            steps.append(taken)
        return steps


def test_behind_a_request_that_gives_up_its_own_memory_the_others_go_on() -> None:
    served = Served(policy="chunked", block_size=4, num_blocks=2, queue_order="priority", victim="lowest_priority")
    served.submit("minor", 3, 4, priority=1)
    assert served.step() == {"minor": 3}
    served.submit("major", 2, 4)
    assert served.step() == {"minor": 1, "major": 2}
    # Both blocks are taken: the minor one needs a second, is the least important, and waits until two are free.
    assert served.rest() == [{"major": 1}, {"major": 1}, {"major": 1}, {"minor": 5}, {"minor": 1}]


ONE_TOKEN_A_STEP = {"policy": "prefill_first", "max_num_batched_tokens": 1, "admit_full_prompt": False}


def test_a_prompt_takes_no_memory_from_those_before_it() -> None:
    served = Served(**ONE_TOKEN_A_STEP, block_size=1, num_blocks=3, victim="lowest_priority")
    served.submit("a", 1, 3)
    served.submit("b", 1, 3)
    # a needs a third block; of two that are equally important the first one makes room, so b goes on.
    assert [served.step() for _ in range(4)] == [{"a": 1}, {"b": 1}, {"a": 1}, {"b": 1}]
    # a comes back with one of its three tokens. The next one makes room itself: b has its last token and leaves.
    assert served.rest() == [{"a": 1}, {"b": 1}, {"a": 1}, {"a": 1}, {"a": 1}]


@pytest.mark.parametrize(
    ("limits", "shapes"),
    [
        ({"block_size": 1, "num_blocks": 11, "chunk_size": 2, "max_num_seqs": 2}, ((3, 7), (7, 5))),
        ({"block_size": 2, "num_blocks": 4, "chunk_size": 1, "max_num_batched_tokens": 3}, ((6, 3), (7, 2))),
    ],
)
def test_two_equal_prompts_that_enter_in_parts_do_not_take_turns_for_ever(
    limits: dict[str, int], shapes: tuple[tuple[int, int], ...]
) -> None:
    """Were the first admitted of equals the victim, it would come back behind the other and take the memory back."""
    served = Served(
        **limits, policy="chunked", admit_full_prompt=False, queue_order="priority", victim="lowest_priority"
    )
    for number, (prompt_len, output_len) in enumerate(shapes):
        served.submit(f"r{number}", prompt_len, output_len)
    assert len(served.rest(200)) < 40
    assert [group.is_finished for group in served.engine.groups] == [True, True]


def test_of_three_that_have_written_equally_little_none_waits_for_ever() -> None:
    served = Served(**ONE_TOKEN_A_STEP, block_size=2, num_blocks=6, victim="fewest_outputs")
    for name, output_len in (("a", 6), ("b", 2), ("c", 4)):
        served.submit(name, 3, output_len)
    served.rest()
    assert [group.is_finished for group in served.engine.groups] == [True, True, True]


@pytest.mark.parametrize(("prefix_caching", "figures"), [(True, (8, 2)), (False, (0, 0))])
def test_tokens_are_looked_up_only_where_there_is_a_prefix_cache(
    prefix_caching: bool, figures: tuple[int, int]
) -> None:
    served = Served(block_size=2, num_blocks=8, prefix_caching=prefix_caching)
    for number in range(2):
        request = Request(f"r{number}", 0.0, Prompt.of_ids([5, 6, 7, 8]), SamplingParams(1, 1))
        served.engine.submit(request)
        served.rest()
    stats = served.engine.scheduler.cache_stats
    assert (stats.queries, stats.hits) == figures
