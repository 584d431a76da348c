"""What the memory holds over time, on small traces written by hand: tokens, reserved, internal, external, free."""

import pytest

from engine.trace.metrics import measure
from engine.trace.trace import Trace
from engine.trace.track import ACTIONS, REASONS
from tests.engine.trace.sheet import LAST, PREFILL, START, WAITING, Sheet, blocks


def test_unwritten_slots_of_a_block_are_reserved_until_they_are_written_and_internal_if_they_never_are():
    sheet = blocks(pool=2, block_size=4)
    sheet.row("blocks", 0, START, 0, 1, 1, 0, 0, 0)
    sheet.row("blocks", 0, LAST, 0, 1, 1, 0, 1, 1)  # one token at step 0, then one more a step
    sheet.row("blocks", 2, 3, 0, 0, 0, -1, 0, 0)  # given back with 3 of 4 slots written
    metrics = measure(sheet.trace(4)).composition
    assert metrics.token.tolist() == [1, 2, 3, 0]
    assert metrics.reserved.tolist() == [2, 1, 0, 0]
    assert metrics.internal.tolist() == [1, 1, 1, 0]
    assert metrics.free.tolist() == [4, 4, 4, 8]
    assert metrics.shares() == {"token": 6 / 32, "reserved": 3 / 32, "internal": 3 / 32, "external": 0, "free": 20 / 32}
    assert metrics.shares_of_occupied() == {"token": 0.5, "reserved": 0.25, "internal": 0.25, "external": 0}


def test_a_block_given_to_somebody_else_starts_anew():
    sheet = blocks(pool=1, block_size=4)
    sheet.row("blocks", 0, LAST, 0, 1, 1, 0, 4, 0)
    sheet.row("blocks", 0, 3, 0, 0, 0, -1, 0, 0)
    sheet.row("blocks", 1, LAST, 0, 1, 1, 1, 1, 0)
    sheet.row("blocks", 1, 3, 0, 0, 0, -1, 0, 0)
    composition = measure(sheet.trace(2)).composition
    assert composition.token.tolist() == [4, 1]
    assert composition.internal.tolist() == [0, 3]
    assert composition.reserved.tolist() == [0, 0]


def strips(head_needs: int | None, refused: int | None = None) -> Trace:
    """20 slots: a strip of 8 (2 slots written, then one a step) at 2..9 and one of 4 at 14..17; holes 2, 4 and 2."""
    sheet = Sheet(pool=20)
    for prompt in (2, 4, 3):
        sheet.request(prompt, 3)
    sheet.row("strips", 0, START, 0, 2, 8, 0, 0)
    sheet.row("strips", 0, LAST, 0, 2, 8, 2, 1)
    sheet.row("strips", 2, 3, 0, -1, 0, 0, 0)
    sheet.row("strips", 0, LAST, 1, 14, 4, 4, 0)
    sheet.row("strips", 3, 3, 1, -1, 0, 0, 0)
    if head_needs is not None:
        sheet.row("requests", 0, START, 2, WAITING, 7, 0)
        sheet.row("requests", 3, START, 2, PREFILL, -1, 0)
        sheet.row("strips", 3, LAST, 2, 0, head_needs, 3, 0)
    if refused is not None:
        sheet.row("requests", 0, START, 2, WAITING, 7, 0)
        sheet.decisions.append((1, ACTIONS.index("skip"), REASONS.index("no_block"), 2, 2, refused, 4, -1))
    return sheet.trace(4)


def test_a_strip_is_reserved_up_to_its_last_token_and_internal_beyond():
    composition = measure(strips(None)).composition
    assert composition.token.tolist() == [6, 7, 8, 4]
    assert composition.reserved.tolist() == [2, 1, 0, 0]
    assert composition.internal.tolist() == [4, 4, 4, 0]
    assert composition.free.tolist() == [8, 8, 8, 16]


@pytest.mark.parametrize(("needs", "external"), [(4, 0), (5, 8), (8, 8), (9, 0)])
def test_free_slots_are_external_while_the_head_fits_into_all_of_them_but_into_no_hole(needs, external):
    composition = measure(strips(needs)).composition
    assert composition.external.tolist() == [external] * 3 + [0]
    assert composition.free.tolist()[:3] == [8 - external] * 3


def test_a_head_that_never_got_in_is_known_by_what_it_asked_for():
    assert measure(strips(None, refused=6)).composition.external.tolist() == [8, 8, 8, 0]


def test_idle_time_between_steps_counts_as_free_memory():
    sheet = blocks(pool=1, block_size=1)
    sheet.row("blocks", 0, LAST, 0, 1, 1, 0, 1, 0)
    sheet.row("blocks", 0, 3, 0, 0, 0, -1, 0, 0)
    sheet.row("blocks", 1, LAST, 0, 1, 1, 0, 1, 0)
    trace = sheet.trace(2)
    trace.times[1] += 6.0  # step 0 is [0, 1), step 1 is [7, 8)
    assert measure(trace).composition.shares()["token"] == 2 / 8
