"""How many blocks make memory tight for given requests, so that they wait and are preempted.

An estimate from the requests alone, before anything is run: each one is taken to hold its blocks from its admission until
its last token, one decode after the other at the speed of the cost model. Half of what they hold at the busiest moment is
tight; the longest request still has to fit.
"""

from collections.abc import Iterable
from heapq import heappop, heappush, heapreplace
from math import ceil

from engine.executor.cost_model import CostModel, attention_pairs
from engine.request import Request
from engine.settings import Settings

SHARE = 0.5


def tight_pool(requests: Iterable[Request], settings: Settings) -> int:
    """Blocks of `settings.block_size`; at least one."""
    cost = CostModel.of(settings)
    decode_time = cost.step_time(1, 0, 0)
    ends: dict[str, float] = {}
    seats: list[float] = []
    held: list[tuple[float, int]] = []
    in_use = peak = longest = 0
    for request in sorted(requests, key=lambda request: request.arrival_time):
        num_prompt, num_output = request.prompt.num_tokens, request.sampling.max_tokens
        arrival = request.arrival_time
        if request.after is not None:
            arrival = ends.get(request.after, arrival) + request.delay
        is_full = settings.max_num_seqs is not None and len(seats) >= settings.max_num_seqs
        start = max(arrival, seats[0]) if is_full else arrival
        prefill_time = cost.step_time(num_prompt, 0, attention_pairs(0, num_prompt))
        end = ends[request.request_id] = start + prefill_time + num_output * decode_time
        (heapreplace if is_full else heappush)(seats, end)
        while held and held[0][0] <= start:
            in_use -= heappop(held)[1]
        blocks = request.sampling.n * ceil(max(num_prompt + num_output - 1, 1) / settings.block_size)
        heappush(held, (end, blocks))
        in_use += blocks
        peak, longest = max(peak, in_use), max(longest, blocks)
    return max(longest, ceil(SHARE * peak), 1)
