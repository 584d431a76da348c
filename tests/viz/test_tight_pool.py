"""How many blocks make memory tight: worked by hand with a step of one second."""

from engine.request import Prompt, Request, SamplingParams
from engine.settings import Settings
from viz.pages.parts.tight_pool import tight_pool

SETTINGS = Settings(block_size=4, num_blocks=1_000, step_time=1.0)


def _request(name: str, arrival: float, num_prompt: int, num_output: int) -> Request:
    prompt, sampling = Prompt.of_length(num_prompt), SamplingParams(max_tokens=num_output)
    return Request(name, arrival, prompt, sampling)


def test_half_of_what_is_held_at_the_busiest_moment_is_tight() -> None:
    # 9 slots are 3 blocks each; all six are there together
    assert tight_pool([_request(str(i), 0.0, 8, 2) for i in range(6)], SETTINGS) == 9


def test_requests_that_never_meet_need_the_blocks_of_the_longest_one() -> None:
    # each takes 1 + 2 seconds
    assert tight_pool([_request(str(i), 10.0 * i, 8, 2) for i in range(6)], SETTINGS) == 3


def test_no_more_run_together_than_there_are_seats() -> None:
    requests = [_request(str(i), 0.0, 8, 2) for i in range(6)]
    assert tight_pool(requests, SETTINGS.with_(max_num_seqs=4)) == 6


def test_the_longest_request_still_fits() -> None:
    assert tight_pool([_request("long", 0.0, 400, 1), _request("short", 500.0, 4, 1)], SETTINGS) == 100


def test_nobody_needs_one_block() -> None:
    assert tight_pool([], SETTINGS) == 1
