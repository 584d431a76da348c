"""A machine whose prices are known, measured with noise and interruptions, is found again."""

import numpy as np
import pytest

from engine.executor.calibration import THIS_MACHINE, Calibration, CalibrationError, MeasuredStep
from engine.executor.cost_model import MODELS, CostModel
from engine.executor.non_negative import non_negative_least_squares, robust_fit

MACHINE = CostModel(
    weights_read=40e-3, kv_read_per_token=2e-6, compute_per_token=2e-3, compute_per_pair=0.0, overhead=3e-3
)


def sums(rng: np.random.Generator) -> tuple[int, int, int]:
    """A step of decodes and sometimes a prompt: tokens, KV read, pairs."""
    contexts = rng.integers(1, 400, rng.integers(1, 33))
    prompt = int(rng.integers(2, 120)) if rng.random() < 0.3 else 0
    reads, pairs = int(contexts.sum()) + prompt, int(contexts.sum()) + prompt * (prompt + 1) // 2
    return len(contexts) + prompt, reads, pairs


def measured(machine: CostModel, num_steps: int, seed: int, noise: float = 0.02, held_up: float = 0.0):
    rng = np.random.default_rng(seed)
    steps = []
    for _ in range(num_steps):
        counts = sums(rng)
        duration = machine.step_time(*counts) * float(rng.normal(1.0, noise))
        steps.append(MeasuredStep(*counts, duration * (10.0 if rng.random() < held_up else 1.0)))
    return steps


def test_no_coefficient_is_negative() -> None:
    """y = 2 a - b: without b the best is a = (1*2 + 2*3) / (1 + 4) = 1.6."""
    matrix = np.array([[1.0, 0.0], [2.0, 1.0]])
    assert non_negative_least_squares(matrix, np.array([2.0, 3.0])).tolist() == pytest.approx([1.6, 0.0])


@pytest.mark.parametrize("seed", range(20))
def test_the_conditions_of_the_best_fit_hold(seed: int) -> None:
    """At the best fit a used column is at right angles to what is left, and no other one would help."""
    rng = np.random.default_rng(seed)
    matrix, target = rng.normal(size=(30, 8)), rng.normal(size=30)
    x = non_negative_least_squares(matrix, target)
    gradient = matrix.T @ (target - matrix @ x)
    assert np.all(x >= 0)
    assert np.all(np.abs(gradient[x > 0]) < 1e-9)
    assert np.all(gradient[x == 0] < 1e-9)


def test_a_fit_is_not_moved_by_a_quarter_of_wild_rows() -> None:
    x = np.arange(1.0, 41.0)
    times = 2.0 + 3.0 * x
    times[::4] *= 20.0
    fixed, price = robust_fit(np.column_stack((np.ones(40), x)), times)
    assert (fixed, price) == (pytest.approx(2.0, rel=0.05), pytest.approx(3.0, rel=0.05))


def test_steps_that_were_not_seen_are_predicted() -> None:
    calibration = Calibration.of(measured(MACHINE, 200, seed=1))
    rng = np.random.default_rng(2)
    errors = [
        calibration.step_time(*counts) / MACHINE.step_time(*counts) - 1 for counts in (sums(rng) for _ in range(200))
    ]
    assert np.median(np.abs(errors)) < 0.03
    assert np.quantile(np.abs(errors), 0.95) < 0.10


def test_a_tenth_of_the_steps_held_up_tenfold_does_not_matter() -> None:
    calibration = Calibration.of(measured(MACHINE, 300, seed=3, held_up=0.1))
    rng = np.random.default_rng(4)
    errors = [
        calibration.step_time(*counts) / MACHINE.step_time(*counts) - 1 for counts in (sums(rng) for _ in range(200))
    ]
    assert np.median(np.abs(errors)) < 0.05
    assert calibration.median_error < 0.05
    assert max(np.abs(calibration.errors)) > 0.8


def test_the_curve_never_goes_down_and_no_price_is_negative() -> None:
    rng = np.random.default_rng(5)
    steps = [MeasuredStep(*sums(rng), float(rng.uniform(0.01, 0.1))) for _ in range(50)]
    calibration = Calibration.of(steps)
    assert all(low <= high for low, high in zip(calibration.products, calibration.products[1:], strict=False))
    assert calibration.products[0] >= 0
    assert calibration.kv_read_per_token >= 0
    assert calibration.compute_per_pair >= 0


def test_one_kind_of_step_is_enough_for_itself() -> None:
    calibration = Calibration.of([MeasuredStep(1, 10, 10, 0.05)] * 8)
    assert calibration.step_time(1, 10, 10) == pytest.approx(0.05)
    assert calibration.median_error == pytest.approx(0.0, abs=1e-9)


def test_larger_steps_than_any_measured_cost_more() -> None:
    calibration = Calibration.of(measured(MACHINE, 100, seed=6))
    most = calibration.knots[-1]
    assert calibration.step_time(4 * most, 0, 0) > 2 * calibration.step_time(most, 0, 0)


def test_this_machine_is_a_card_of_the_cost_model() -> None:
    """269 MB of weights in 50 ms are 5.4 GB/s; 2 x 134.5 M FLOP in 2 ms are 134.5 GFLOP/s."""
    calibration = Calibration((1, 101), (0.05, 0.25), 0.0, 0.0, ())
    card = calibration.hardware(MODELS["SmolLM2-135M"], memory=8e9)
    assert (card.name, card.memory) == (THIS_MACHINE, 8e9)
    assert card.bandwidth == pytest.approx(5.38e9)
    assert card.achievable_flops == pytest.approx(134.5e9)


def test_no_card_computes_in_no_time() -> None:
    for products in ((0.0, 0.2), (0.0, 0.0)):
        with pytest.raises(CalibrationError, match="no card can do"):
            Calibration((1, 101), products, 0.0, 0.0, ()).hardware(MODELS["SmolLM2-135M"], memory=8e9)


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ([MeasuredStep(1, 1, 1, 0.1)] * 7, "There are 7 measured steps; a calibration needs 8."),
        ([MeasuredStep(1, 1, 1, 0.0)] * 8, "A measured step took no time"),
        ([MeasuredStep(1, 1, 1, float("nan"))] * 8, "A measured step took no time"),
    ],
)
def test_too_little_is_said_in_a_sentence(steps: list[MeasuredStep], sentence: str) -> None:
    with pytest.raises(CalibrationError, match=sentence):
        Calibration.of(steps)
