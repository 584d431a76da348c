"""The figures of a finished run: latencies, throughput, preemptions, hits, use of seats and of KV memory.

They are read from the trace alone. A sequence emits a token in the step at whose `scheduled` cut its `num_tokens` grows,
and the token becomes visible when that step ends; a row with rate 1 says this for many steps at once and is never
expanded. What the KV memory holds is `composition.py`'s. Terms as in the vLLM paper, section 6.1: normalized latency is
end-to-end latency divided by output length. The hit rate counts first admissions only: who resumes finds its own blocks.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.trace.composition import Composition, compose
from engine.trace.owners import owners
from engine.trace.ratio import ratio
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS


@dataclass(frozen=True, slots=True)
class RequestFigures:
    """One entry a request, in the order of the trace; times in seconds of the run's clock, NaN where it never happened.

    `queue_time` ends at the first admission, `ttft` and `latency` count from the arrival. `output_len` are the tokens of
    the longest sample, `num_output_tokens` those of all samples.
    """

    arrival: np.ndarray
    admitted: np.ndarray
    first_token: np.ndarray
    finish: np.ndarray
    output_len: np.ndarray
    num_output_tokens: np.ndarray
    num_preemptions: np.ndarray
    rejected: np.ndarray

    @property
    def queue_time(self) -> np.ndarray:
        return self.admitted - self.arrival

    @property
    def ttft(self) -> np.ndarray:
        return self.first_token - self.arrival

    @property
    def latency(self) -> np.ndarray:
        return self.finish - self.arrival

    @property
    def normalized_latency(self) -> np.ndarray:
        return self.latency / np.maximum(self.output_len, 1)


@dataclass(frozen=True, slots=True)
class Seats:
    """Seat-steps of a run. `working` seats compute something in a step, `held` ones are taken at its `scheduled` cut;
    `offered` are all seats of all steps where their number is limited, else the held ones."""

    working: int
    held: int
    offered: int

    @property
    def utilization(self) -> float | None:
        return ratio(self.working, self.offered)

    @property
    def idle_share(self) -> float | None:
        """Share of the held seats whose sequence computes nothing: with static batching it has ended before others."""
        return ratio(self.held - self.working, self.held)


@dataclass(frozen=True, slots=True)
class Metrics:
    """All figures of one run. `itl` are inter-token gaps in seconds, `itl_weights` how often each one occurred."""

    requests: RequestFigures
    itl: np.ndarray
    itl_weights: np.ndarray
    composition: Composition
    seats: Seats
    num_steps: int
    duration: float
    throughput: float | None
    num_preemptions: int
    num_cow_copies: int
    hit_rate: float | None

    @property
    def num_finished(self) -> int:
        return int(np.isfinite(self.requests.finish).sum())

    @property
    def num_rejected(self) -> int:
        return int(self.requests.rejected.sum())

    @property
    def normalized_latency(self) -> float | None:
        """Mean over the finished requests, in seconds a token."""
        values = self.requests.normalized_latency
        values = values[np.isfinite(values)]
        return float(values.mean()) if len(values) else None

    def ttft(self, percent: float) -> float | None:
        values = self.requests.ttft
        values = values[np.isfinite(values)]
        return float(np.percentile(values, percent)) if len(values) else None

    def itl_percentile(self, percent: float) -> float | None:
        return weighted_percentile(self.itl, self.itl_weights, percent)

    def as_dict(self) -> dict[str, Any]:
        """The figures as `scenarios run --json` prints them; null where there is nothing to measure."""
        return {
            "requests": len(self.requests.arrival),
            "finished": self.num_finished,
            "rejected": self.num_rejected,
            "steps": self.num_steps,
            "duration_s": self.duration,
            "throughput_tok_s": self.throughput,
            "ttft_s": {"p50": self.ttft(50), "p99": self.ttft(99)},
            "itl_s": {"p50": self.itl_percentile(50), "p99": self.itl_percentile(99)},
            "normalized_latency_s": self.normalized_latency,
            "preemptions": self.num_preemptions,
            "cow_copies": self.num_cow_copies,
            "hit_rate": self.hit_rate,
            "kv": self.composition.shares(),
            "kv_of_occupied": self.composition.shares_of_occupied(),
            "seat_utilization": self.seats.utilization,
            "idle_seats": self.seats.idle_share,
        }


def measure(trace: Trace) -> Metrics:
    """All figures of a finished trace; about a second for two million rows."""
    emissions = _Emissions.of(trace)
    requests = _requests(trace, emissions)
    gaps, weights = emissions.gaps(trace.times[:, 1])
    first_arrival = requests.arrival[np.isfinite(requests.arrival)].min(initial=np.inf)
    duration = float(trace.times[-1, 1] - min(first_arrival, trace.times[0, 0])) if trace.num_steps else 0.0
    kinds = np.bincount(trace.happenings["kind"], minlength=len(HAPPENINGS))
    return Metrics(
        requests=requests,
        itl=gaps,
        itl_weights=weights,
        composition=compose(trace),
        seats=_seats(trace),
        num_steps=trace.num_steps,
        duration=duration,
        throughput=ratio(float(requests.num_output_tokens.sum()), duration),
        num_preemptions=int(kinds[HAPPENINGS.index("preempted")]),
        num_cow_copies=int(kinds[HAPPENINGS.index("copied")]),
        hit_rate=hit_rate(trace),
    )


def hit_rate(trace: Trace) -> float | None:
    """Tokens found in the prefix cache / prompt tokens, at first admissions; None without a cache or without admission."""
    settings = trace.header["settings"]
    if not settings.get("prefix_caching") and settings.get("kv_manager") != "radix":
        return None
    happened = trace.happenings
    admitted = happened["kind"] == HAPPENINGS.index("admitted")
    hit = happened["kind"] == HAPPENINGS.index("hit")
    first = hit & np.isin(happened["event"], happened["event"][admitted])
    hits, tokens = (int(happened["amount"][rows].sum(dtype=np.int64)) for rows in (first, admitted))
    return ratio(hits, tokens)


def weighted_percentile(values: np.ndarray, weights: np.ndarray, percent: float) -> float | None:
    """numpy's linear percentile of `values`, each repeated `weights` times, without repeating them; None when empty."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    if not len(upto) or upto[-1] == 0:
        return None
    position = percent / 100 * float(upto[-1] - 1)
    low, high = values[order][np.searchsorted(upto, [np.floor(position), np.ceil(position)], side="right")]
    share = position - np.floor(position)
    # the two forms round as numpy's own interpolation does
    return float(low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share))


@dataclass(frozen=True, slots=True)
class _Emissions:
    """Runs of steps in each of which a sequence emits, sorted by sequence and time: first..last, both included."""

    sequence: np.ndarray
    first: np.ndarray
    last: np.ndarray
    num_tokens: np.ndarray  # by sequence: output tokens

    @classmethod
    def of(cls, trace: Trace) -> "_Emissions":
        prompts = np.array([request["prompt_len"] for request in trace.requests], np.int64)
        prompt_len = prompts[owners(trace)]
        if "sequences" not in trace.tracks:
            nothing = np.zeros(0, np.int64)
            return cls(nothing, nothing, nothing, np.zeros(len(prompt_len), np.int64))
        track, scheduled = trace.tracks["sequences"], trace.steps["scheduled"]
        rows = np.flatnonzero(track.end > track.columns["event"])
        rows = rows[np.argsort(track.columns["key"][rows], kind="stable")]
        assert track.ticks is not None, "the sequences track has ramps"
        key, ticks = track.columns["key"][rows], track.ticks[rows].astype(np.int64)
        ticks_at_end = np.searchsorted(scheduled, track.end[rows], side="left")
        value, rate = track.columns["num_tokens"][rows].astype(np.int64), track.columns["rate"][rows]
        value_at_end = value + rate * (ticks_at_end - ticks)

        begins = np.diff(key, prepend=-1) != 0
        before = np.where(begins, prompt_len[key], np.roll(value_at_end, 1))
        ends = np.diff(key, append=-1) != 0
        num_tokens = np.zeros(len(prompt_len), np.int64)
        num_tokens[key[ends]] = np.maximum(value_at_end[ends] - prompt_len[key[ends]], 0)

        # each row may emit once where it takes over and then at every tick while it holds
        first = np.stack([ticks - 1, ticks], axis=1).ravel()
        last = np.stack([ticks - 1, ticks_at_end - 1], axis=1).ravel()
        emits = np.stack([value > before, (rate > 0) & (ticks_at_end > ticks)], axis=1).ravel()
        return cls(np.repeat(key, 2)[emits], first[emits], last[emits], num_tokens)

    def gaps(self, end_times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Seconds between consecutive tokens of a sequence and how often each gap occurs."""
        joined = np.flatnonzero(self.sequence[1:] == self.sequence[:-1])
        between = end_times[self.first[joined + 1]] - end_times[self.last[joined]]
        num_steps = len(end_times)
        inside = np.bincount(self.first + 1, minlength=num_steps + 1) - np.bincount(
            self.last + 1, minlength=num_steps + 1
        )
        weights = np.cumsum(inside)[1:num_steps]
        taken = weights > 0
        return (
            np.concatenate([between, np.diff(end_times)[taken]]),
            np.concatenate([np.ones(len(between), np.int64), weights[taken]]),
        )


def _requests(trace: Trace, emissions: _Emissions) -> RequestFigures:
    num_requests = len(trace.requests)
    owner = owners(trace)
    starts, ends = trace.times[:, 0], trace.times[:, 1]
    of_request = trace.happenings["request"]
    happened = {
        kind: (trace.happenings["kind"] == number) & (of_request >= 0) for number, kind in enumerate(HAPPENINGS)
    }

    def first_time(kind: str, clock: np.ndarray, cut: str) -> np.ndarray:
        """By request the time of its first happening of a kind: the clock of the step whose range holds the event."""
        chosen = np.flatnonzero(happened[kind])[::-1]
        step = np.searchsorted(trace.steps[cut], trace.happenings["event"][chosen], side="left")
        time = np.full(num_requests, np.nan)
        inside = step < len(clock)
        time[of_request[chosen[inside]]] = clock[step[inside]]
        return time

    arrival = np.array([np.nan if r["arrival_s"] is None else r["arrival_s"] for r in trace.requests], float)
    first_token = np.full(num_requests, np.inf)
    np.minimum.at(first_token, owner[emissions.sequence], ends[emissions.first])
    output_len = np.zeros(num_requests, np.int64)
    np.maximum.at(output_len, owner, emissions.num_tokens)
    return RequestFigures(
        arrival=np.where(np.isnan(arrival), first_time("arrived", starts, "scheduled"), arrival),
        admitted=first_time("admitted", starts, "scheduled"),
        first_token=np.where(np.isinf(first_token), np.nan, first_token),
        finish=_finish_times(trace),
        output_len=output_len,
        num_output_tokens=np.bincount(owner, emissions.num_tokens, minlength=num_requests).astype(np.int64),
        num_preemptions=np.bincount(of_request[happened["preempted"]], minlength=num_requests),
        rejected=np.bincount(of_request[happened["rejected"]], minlength=num_requests) > 0,
    )


def _finish_times(trace: Trace) -> np.ndarray:
    """By request the end of the step that finished it, or the time at which a step began that had no memory for it."""
    times, steps = trace.times, trace.steps
    finish = np.full(len(trace.requests), np.nan)
    rows = np.flatnonzero(trace.happenings["kind"] == HAPPENINGS.index("finished"))
    if not len(rows) or not len(times):
        return finish
    event, last = trace.happenings["event"][rows], len(times) - 1
    step = np.searchsorted(steps["updated"], event, side="left")
    is_update = (step <= last) & (event > steps["update_begin"][np.minimum(step, last)])
    planned = np.searchsorted(steps["scheduled"], event, side="left")
    begun = np.where(planned <= last, times[np.minimum(planned, last), 0], times[last, 1])
    finish[trace.happenings["request"][rows]] = np.where(is_update, times[np.minimum(step, last), 1], begun)
    return finish


def _seats(trace: Trace) -> Seats:
    working = held = int(trace.steps["num_scheduled_sequences"].sum())
    if "sequences" in trace.tracks:
        track, scheduled = trace.tracks["sequences"], trace.steps["scheduled"]
        seated = track.columns["seat"] >= 0
        first = np.searchsorted(scheduled, track.columns["event"][seated], side="left")
        past = np.searchsorted(scheduled, track.end[seated], side="left")
        held = int((past - first).sum())
    limit = trace.header["settings"].get("max_num_seqs")
    return Seats(working, held, offered=limit * trace.num_steps if limit else held)
