"""Curves over the clock of a run: exact for few steps, averages for many, holes where nothing runs."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.charts.over_time import over_time


def _run(*times: tuple[float, float]) -> Any:
    return SimpleNamespace(times=np.array(times, float).reshape(-1, 2))


def test_few_steps_are_drawn_one_by_one() -> None:
    curves = over_time(_run((0, 1), (1, 3)), np.array([[5.0], [7.0]]), idle=0.0, max_points=10)
    assert curves.time.tolist() == [0, 1, 3]
    assert curves.mean.ravel().tolist() == [5, 7]
    assert curves.width is None


def test_between_two_steps_the_curve_is_idle() -> None:
    curves = over_time(_run((0, 1), (4, 5)), np.array([[5.0], [7.0]]), idle=np.nan, max_points=10)
    assert curves.time.tolist() == [0, 1, 4, 5]
    assert np.isnan(curves.mean[1, 0]) and curves.mean[[0, 2], 0].tolist() == [5, 7]


def test_many_steps_become_averages_that_keep_the_least_and_the_greatest() -> None:
    # four steps of one second in two stretches: 1, 3 and 5, 9
    run = _run((0, 1), (1, 2), (2, 3), (3, 4))
    curves = over_time(run, np.array([[1.0], [3.0], [5.0], [9.0]]), idle=0.0, max_points=2)
    assert curves.width == 2 and curves.time.tolist() == [0, 2, 4]
    assert curves.mean.ravel().tolist() == [2, 7]
    assert curves.low.ravel().tolist() == [1, 5] and curves.high.ravel().tolist() == [3, 9]


def test_a_stretch_without_a_step_is_a_hole_and_not_a_zero() -> None:
    run = _run((0, 1), (1, 2), (9, 10))
    curves = over_time(run, np.array([[4.0], [4.0], [6.0]]), idle=np.nan, max_points=3)
    assert np.isnan(curves.mean[1, 0]) and np.isnan(curves.high[1, 0])
    assert curves.mean[[0, 2], 0].tolist() == [4, 6]


def test_a_step_that_begins_before_the_end_of_the_last_cuts_it_short() -> None:
    curves = over_time(_run((0, 2), (1, 3)), np.array([[5.0], [7.0]]), idle=0.0, max_points=10)
    assert curves.time.tolist() == [0, 1, 3]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5), st.integers(0, 100)), min_size=1, max_size=60),
    st.integers(1, 20),
)
def test_averaging_keeps_the_sum_over_time(steps: list[tuple[int, int, int]], max_points: int) -> None:
    times, at = [], 0
    for gap, length, _ in steps:
        times.append((at + gap, at + gap + length))
        at += gap + length
    values = np.array([[float(value)] for _, _, value in steps])
    curves = over_time(_run(*times), values, idle=0.0, max_points=max_points)
    assert len(curves.mean) <= max(max_points, 1)
    drawn = float((np.diff(curves.time) * curves.mean[:, 0]).sum())
    assert drawn == pytest.approx(sum(length * value for _, length, value in steps))
    assert (curves.low <= curves.mean + 1e-9).all() and (curves.mean <= curves.high + 1e-9).all()
