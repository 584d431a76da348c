"""Workload generators: request streams made from a seed and a few numbers (S1 0.4; Kwon et al. 2023, section 6.1).

The random stream is drawn from Python's `random.Random(seed)` in a fixed order, so the same numbers give the same
requests anywhere: for each request the gap to the one before, the prompt length, the output length. Only the shape of
the lengths is that of ShareGPT or Alpaca (medians 170/220 and 20/50); nothing is taken from those data sets.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.request import Prompt, Request, SamplingParams
from scenarios.conversations import chat
from scenarios.few_shot import few_shot
from scenarios.fields import Fields, ScenarioError, shown
from scenarios.request_fields import MAX_REQUESTS, MAX_SECONDS, MAX_TOKENS, own_content


@dataclass(frozen=True, slots=True)
class LogNormalLengths:
    """Lengths whose logarithm is normal around a median, cut at both ends. All in tokens."""

    prompt_median: float
    output_median: float
    sigma: float = 1.2
    min_len: int = 4
    max_len: int = 1024
    max_total: int = 2048

    def draw(self, rng: random.Random) -> tuple[int, int]:
        """(prompt, output) of the next request, the prompt drawn first."""
        prompt = self._length(self.prompt_median, rng)
        return prompt, self._length(self.output_median, rng)

    def _length(self, median: float, rng: random.Random) -> int:
        exponent = min(rng.gauss(0, self.sigma), 50.0)
        return min(self.max_len, max(self.min_len, round(median * math.exp(exponent))))


SHAREGPT_LIKE = LogNormalLengths(prompt_median=170, output_median=220)
ALPACA_LIKE = LogNormalLengths(prompt_median=20, output_median=50)


def poisson(
    lengths: LogNormalLengths, *, num_requests: int, rate: float, seed: int, output_len: int | None = None
) -> list[Request]:
    """`num_requests` requests that arrive at random, `rate` a second on average.

    A prompt is cut where prompt and output exceed `max_total`. With `output_len` every output has that length ("equal
    lengths"); gaps and prompts stay those of the mixed stream.
    """
    rng = random.Random(seed)
    clock = 0.0
    requests = []
    for index in range(num_requests):
        clock += rng.expovariate(rate)
        prompt, drawn = lengths.draw(rng)
        output = drawn if output_len is None else output_len
        requests.append(_request(index, clock, min(prompt, lengths.max_total - output), output))
    return requests


def fixed(prompt_lens: list[int], output_lens: list[int], interval: float = 0.0) -> list[Request]:
    """Requests of given lengths, one every `interval` seconds, the first at 0."""
    return [
        _request(index, index * interval, prompt, output)
        for index, (prompt, output) in enumerate(zip(prompt_lens, output_lens, strict=True))
    ]


def generate(workload: Mapping[str, Any], seed: int) -> list[Request]:
    """The requests of a `workload` object of a scenario file. Raises ScenarioError naming the key that is wrong."""
    name = workload.get("generator") if isinstance(workload, Mapping) else None
    if not isinstance(name, str) or name not in GENERATORS:
        raise ScenarioError(f"workload: generator is {shown(name)}; choose one of {', '.join(GENERATORS)}.")
    return GENERATORS[name](workload, seed)


_SIZES = ("prompt_median", "output_median", "min_len", "max_len", "max_total")


def _random(base: LogNormalLengths) -> Callable[[Mapping[str, Any], int], list[Request]]:
    """A generator of Poisson arrivals whose length distribution starts from `base`."""

    def build(workload: Mapping[str, Any], seed: int) -> list[Request]:
        allowed = ("generator", "num_requests", "rate", "output_len", "sigma", *_SIZES)
        fields = Fields(workload, "workload", allowed)
        whole = {name: fields.whole(name, 1, MAX_TOKENS, default=round(getattr(base, name))) for name in _SIZES}
        lengths = LogNormalLengths(sigma=fields.number("sigma", 0.0, 10.0, default=base.sigma), **whole)
        if not lengths.min_len <= lengths.max_len < lengths.max_total:
            raise ScenarioError("workload: the lengths need min_len <= max_len < max_total.")
        output_len = fields.whole("output_len", 1, lengths.max_total - 1) if "output_len" in fields else None
        return poisson(
            lengths,
            num_requests=fields.whole("num_requests", 1, MAX_REQUESTS),
            rate=fields.number("rate", 1e-6, 1e6),
            seed=seed,
            output_len=output_len,
        )

    return build


def _fixed(workload: Mapping[str, Any], seed: int) -> list[Request]:
    """Lists of lengths; a single number stands for every request."""
    fields = Fields(workload, "workload", ("generator", "num_requests", "prompt_len", "output_len", "interval_s"))
    lists = [len(workload[key]) for key in ("prompt_len", "output_len") if isinstance(workload.get(key), (list, tuple))]
    num_requests = fields.whole("num_requests", 1, MAX_REQUESTS, default=lists[0] if lists else 1)
    if any(length != num_requests for length in lists):
        raise ScenarioError(f"workload: {num_requests:,} requests need as many entries in prompt_len and output_len.")
    prompts, outputs = (_lens(fields, key, num_requests) for key in ("prompt_len", "output_len"))
    interval = fields.number("interval_s", 0.0, MAX_SECONDS, default=0.0)
    if interval * (num_requests - 1) > MAX_SECONDS:
        raise fields.problem(
            "interval_s", f"the last of {num_requests:,} requests would arrive after {MAX_SECONDS:g} s"
        )
    return fixed(prompts, outputs, interval)


def _lens(fields: Fields, key: str, num_requests: int) -> list[int]:
    if not isinstance(fields.data.get(key), (list, tuple)):
        return [fields.whole(key, 0, MAX_TOKENS)] * num_requests
    entries = fields.items(key, MAX_REQUESTS)
    return [Fields({key: entry}, "workload", (key,)).whole(key, 0, MAX_TOKENS) for entry in entries]


def _request(index: int, arrival_time: float, prompt: int, output: int) -> Request:
    return Request(
        request_id=f"R{index + 1}",
        arrival_time=arrival_time,
        prompt=Prompt.of_length(prompt, content=own_content(index)),
        sampling=SamplingParams(max_tokens=output),
    )


GENERATORS: dict[str, Callable[[Mapping[str, Any], int], list[Request]]] = {
    "sharegpt-like": _random(SHAREGPT_LIKE),
    "alpaca-like": _random(ALPACA_LIKE),
    "fixed": _fixed,
    "chat": chat,
    "few-shot": few_shot,
}
