"""Scheduling policies by the name that a setting gives them."""

from engine.scheduler.chunked import Chunked
from engine.scheduler.continuous import Continuous
from engine.scheduler.policy import SchedulingPolicy
from engine.scheduler.prefill_first import PrefillFirst
from engine.scheduler.static import Static

POLICIES: dict[str, type[SchedulingPolicy]] = {
    "continuous": Continuous,
    "chunked": Chunked,
    "static": Static,
    "prefill_first": PrefillFirst,
}
