"""A KV cache changes the work, not the tokens."""

from engine.executor.one_layer import OneLayer, work_ratio


def test_32_tokens_are_the_same_and_cost_17_times_as_much_without_a_cache():
    same, ratio = work_ratio(32)
    assert same
    # sum over n = 1..32 of 4 x 64^2 n + 2 x 64 n^2 without, of 4 x 64^2 + 2 x 64 n with it
    assert ratio == (4 * 64**2 * 528 + 2 * 64 * 11_440) / (4 * 64**2 * 32 + 2 * 64 * 528)
    assert round(ratio, 1) == 17.1


def test_work_without_a_cache_grows_with_the_square_of_the_tokens():
    _, short = work_ratio(16)
    _, long = work_ratio(64)
    assert 3.5 < long / short < 4.5


def test_a_longer_prompt_gives_the_same_tokens_either_way():
    layer = OneLayer(seed=3)
    prompt = [5, 17, 99, 5, 0, 42]
    with_cache = layer.generate(prompt, 20, keeps_kv=True)
    assert with_cache == layer.generate(prompt, 20, keeps_kv=False)
    assert len(set(with_cache)) > 1
