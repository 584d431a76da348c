"""Sizes that no prefix cache can have, in the address of a page: one sentence, and the player shows what it can."""

import pytest

from tests.viz.app_pages import STAGE, open_page, runs_of, texts

SCENARIO = "two-chats-two-shots"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"block_size": "0"}, "block_size is 0; it has to be between 1 and 65536"),
        ({"block_size": "2.5"}, "block_size is '2.5'; give a whole number"),
        ({"num_blocks": "none", "kv_capacity_tokens": "3", "block_size": "4"}, "that is no whole block of 4"),
    ],
)
def test_a_page_that_no_pool_can_have_is_named_and_the_run_of_the_scenario_is_shown(
    changes: dict[str, str], words: str
) -> None:
    app = open_page(STAGE, {"scenario": SCENARIO, **{f"p.{name}": value for name, value in changes.items()}})
    assert not app.exception
    assert words in texts(app)


def test_a_cache_smaller_than_every_request_refuses_them_all() -> None:
    app = open_page(STAGE, {"scenario": SCENARIO, "p.num_blocks": "3"})
    assert not app.exception
    (trace,) = runs_of(app)
    status = trace.cut(event=trace.num_events).tracks["requests"]["status"]
    assert set(status.tolist()) == {7}, "every request is rejected"
