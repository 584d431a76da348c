"""Sorts the waiting queue before admission by what of each request is cached, in a radix tree or as known blocks.

The orders are `order.py`'s, pure functions; this module tells them what they may know of a request. First come, first
served and priority need no sorting, the queue keeps them itself; without a prefix cache an order that looks into one is
first come, first served.
"""

from engine.kv.hashed import HashedKV
from engine.kv.manager import KVManager
from engine.kv.prefix_cache import Prefix
from engine.kv.radix import RadixKV
from engine.kv.radix_node import Match, RadixNode
from engine.kv.token_ids import TokenIds
from engine.scheduler.order import ORDERS, QueueOrder, Waiting
from engine.scheduler.waiting_queue import WaitingQueue
from engine.sequence import SequenceGroup
from engine.settings import Settings


class QueueSorter:
    """`is_needed` says whether there is anything to sort by; `has_touched` whether the last sorting changed the tree."""

    def __init__(self, settings: Settings, kv: KVManager) -> None:
        name = settings.queue_order
        self.is_needed = name not in ("fcfs", "priority") and (
            settings.keeps_prefixes or not ORDERS[name].is_cache_aware
        )
        self.has_touched = False
        self._kv = kv
        self._touches = settings.order_touches
        self._order = QueueOrder(
            name,
            fall_back_above=settings.queue_fall_back_above,
            in_batch_check=settings.in_batch_check,
            in_batch_share=settings.in_batch_share,
            aging=settings.queue_aging,
            seed=settings.seed,
        )
        self._token_ids = kv.token_ids if isinstance(kv, RadixKV) else TokenIds()
        self._num_passes = 0
        self._since: dict[int, int] = {}
        self._nodes: dict[Prefix, RadixNode] = {}
        self._root = RadixNode(0, 0, 0, (), ())

    def sort(self, queue: WaitingQueue) -> list[SequenceGroup]:
        """One pass: the queue is in its new order. Returns the requests whose rank has changed."""
        self._since = {group.index: self._since.get(group.index, self._num_passes) for group in queue}
        self._nodes = {}
        self.has_touched = False
        groups = list(queue)
        places = self._order.sort([self._known(group) for group in groups], self._match, self._num_passes).places
        self._num_passes += 1
        return queue.reorder([groups[place] for place in places])

    def _known(self, group: SequenceGroup) -> Waiting:
        num_tokens, request = group.num_known_at_admission, group.request
        return Waiting(
            request=group,
            num_tokens=num_tokens,
            tokens=self._token_ids.of(group.lead, num_tokens) if self._order.in_batch_check is not None else (),
            max_tokens=group.max_tokens,
            arrival=request.arrival_time,
            priority=request.priority,
            num_passes=self._num_passes - self._since[group.index],
        )

    def _match(self, entry: Waiting) -> Match:
        lead = entry.request.lead
        if isinstance(self._kv, RadixKV):
            self.has_touched = self._touches
            return self._kv.look_up(lead, self._touches)
        assert isinstance(self._kv, HashedKV), "who looks for prefixes has a prefix cache"
        num_tokens = self._kv.match(lead)
        if not num_tokens:
            return Match(self._root, 0)
        return Match(self._node(lead.chain.prefixes[num_tokens // self._kv.block_size - 1]), num_tokens)

    def _node(self, prefix: Prefix) -> RadixNode:
        """The known prefixes as nodes of a tree, one a block, siblings in the order in which this pass meets them."""
        path: list[Prefix] = []
        above: Prefix | None = prefix
        while above is not None and above not in self._nodes:
            path.append(above)
            above = above.parent
        node = self._root if above is None else self._nodes[above]
        for below in reversed(path):
            number = len(self._nodes) + 1
            child = self._nodes[below] = RadixNode(number, number, 0, (), ())
            child.parent, node = node, child
        return node
