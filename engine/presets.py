"""Presets: settings under the names of the engines that behave so. Data, never subclasses.

A preset says in one paragraph what of the engine it covers, exactly, and what it leaves out. Versions and rules are
those of the engines' own source (vLLM `v1/core`, vLLM V0 `core/block_manager_v1.py` and `_v2.py`, SGLang `mem_cache`
and `managers/schedule_policy.py`, nano-vllm `engine`, mini-sglang `kvcache`). Sizes of a pool are nobody's preset.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.settings import Settings, SettingsError


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings by name and what they stand for.

    version   the engine that was read and run
    covers    what is exact, of "manager" (memory, ids included), "queue" (order of waiting) and "step" (whole steps)
    settings  for `Settings.of`; what is not named here is the default
    tree      where the engine has a radix tree, its page_size, its split_age and the name of its eviction policy
    queue     numbers of `QueueOrder` that go with its tree
    """

    name: str
    version: str
    covers: tuple[str, ...]
    description: str
    settings: Mapping[str, Any]
    tree: Mapping[str, Any] = field(default_factory=dict)
    queue: Mapping[str, Any] = field(default_factory=dict)


VLLM_V1 = Preset(
    name="vllm-v1",
    version="vLLM 0.33.0",
    covers=("manager", "queue", "step"),
    description=(
        "vLLM V1 with its synchronous scheduler, exact in block ids, queues and steps: block 0 is the null block; full "
        "blocks are known by their content as soon as their step is scheduled, equal blocks are all kept and the first "
        "is found; a returned block goes to the tail of the free list when its content is known and to the head when "
        "it is not; running requests come first in order of admission, then waiting ones strictly in order; a prompt "
        "is admitted only if all of it fits; the last of the running is preempted, recomputed and heads the queue. The "
        "long-prefill threshold, the watermark and the priority policy (queue_order and victim) are settings. Tokens "
        "are compared on a hit where vLLM trusts the hash. Not covered: asynchronous scheduling, speculative tokens, "
        "hybrid models, LoRA and salts in a hash."
    ),
    settings={
        "policy": "chunked",
        "prefix_caching": True,
        "free_list": "uncached_first",
        "null_block": True,
        "register_at": "schedule",
        "on_duplicate": "keep_first",
        "keep_unwritten": True,
        "running_order": "admission",
        "queue_order": "fcfs",
        "victim": "last_admitted",
        "admit_full_prompt": True,
        "watermark": 0.0,
        "over_budget": "wait",
        "max_num_batched_tokens": 2_048,
        "max_num_seqs": 256,
    },
)

VLLM_V1_OLD_FREE_LIST = Preset(
    name="vllm-v1-before-0.23",
    version="vLLM 0.11.0 to 0.22.1",
    covers=("manager",),
    description=(
        "The free list that vLLM V1 had before 0.23.0: every returned block goes to the tail, whether its content is "
        "known or not, so a block that was never full is not used again at once. The manager is exact by reading the "
        "source of these versions, which were not run. Everything else is that of vllm-v1 and so a mixture: the "
        "whole-prompt gate came with 0.19.1, the watermark with 0.24.0, and the long-prefill threshold of 0.11.0 had "
        "no exception for a request that runs alone."
    ),
    settings={**VLLM_V1.settings, "free_list": "all_at_tail"},
)

VLLM_V0_V1 = Preset(
    name="vllm-v0-v1",
    version="vLLM 0.6.2, block manager v1",
    covers=("manager",),
    description=(
        "The first block manager of vLLM V0 without prefix caching, exact in block ids: free blocks are a stack, the "
        "highest id on top; forks share all blocks, and whoever writes into a block that others read gets a copy; a "
        "request moves to host memory and back as a whole, shared blocks once. Moving in wants a block more for each "
        "of its sequences. Left out as odd: a table is freed in the order of a set of objects, which nobody can "
        "foretell; here it returns from its last block on. Not covered: the queue and the step (prefills first and "
        "alone, swapping as a way to preempt), and the caching of V0, which replaces a full block by an equal one."
    ),
    settings={
        "kv_manager": "paged",
        "free_list": "stack",
        "swap_sharing": "kept",
        "watermark": 0.01,
        "max_num_batched_tokens": 2_048,
        "max_num_seqs": 256,
    },
)

VLLM_V0_V2 = Preset(
    name="vllm-v0-v2",
    version="vLLM 0.6.2, block manager v2",
    covers=("manager",),
    description=(
        "The second block manager of vLLM V0 without prefix caching, exact in block ids: ids are handed out from the "
        "left and a returned one goes back to the left; forks and copies are those of v1; a move to host memory loses "
        "sharing, because a shared block is copied once for each of its readers. Left out as odd: the engine's check "
        "before a move counts shared blocks once although the move takes one for each reader, so it can say yes and "
        "then run out; here such a move is refused and changes nothing. Not covered: the queue and the step, lookahead "
        "slots and the caching of V0."
    ),
    settings={**VLLM_V0_V1.settings, "free_list": "left", "swap_sharing": "lost"},
)

SGLANG = Preset(
    name="sglang",
    version="SGLang 0.5.23",
    covers=("manager", "queue"),
    description=(
        "SGLang's radix tree and its eviction policies, exact in nodes, order and slots, and the orders of its waiting "
        "queue: longest prefix first with its check for requests that share a prefix among themselves and its fall-back "
        "to first come, first served beyond 128 requests, depth first by weight, and the others. A split makes both "
        "halves count as just used. The step loop is by description only: a prefill batch comes first and runs alone, "
        "decoding reserves room for new tokens by a ratio that falls with every step without a retraction, and who "
        "has the fewest output tokens is retracted first. So the settings here follow SGLang where the engine has a "
        "setting, and its steps are not SGLang's. Not covered: that ratio, mixed chunks, overlap, priority preemption, "
        "the tree shared with host memory."
    ),
    settings={
        "policy": "prefill_first",
        "kv_manager": "radix",
        "free_list": "fifo",
        "null_block": True,
        "block_size": 1,
        "split_age": "both",
        "eviction": "lru",
        "queue_order": "fcfs",
        "queue_fall_back_above": 128,
        "in_batch_check": 32,
        "in_batch_share": 32,
        "order_touches": True,
        "victim": "fewest_outputs",
        "max_num_batched_tokens": 16_384,
    },
    tree={"page_size": 1, "split_age": "both", "evict": "lru"},
    queue={"fall_back_above": 128, "in_batch_check": 32, "in_batch_share": 32, "larger_first": True},
)

NANO_VLLM = Preset(
    name="nano-vllm",
    version="nano-vllm, commit bb823b3",
    covers=("manager", "queue", "step"),
    description=(
        "nano-vllm's block manager, exact in block ids, and its scheduler: blocks are known after their step, the last "
        "writer of an equal block is the one that is found, and when it is evicted older ones are out of reach; a hit "
        "compares tokens and leaves the last block to compute, whole or not; all returned blocks go to the tail, a "
        "table from its last block on. A step is either prefills, of which only the first may be cut, or decodes; the "
        "last of the running is preempted and heads the queue. Not covered: tensor parallelism and CUDA graphs."
    ),
    settings={
        "policy": "prefill_first",
        "prefix_caching": True,
        "block_size": 256,
        "free_list": "all_at_tail",
        "register_at": "update",
        "on_duplicate": "last_writer",
        "victim": "last_admitted",
        "over_budget": "wait",
        "max_num_batched_tokens": 16_384,
        "max_num_seqs": 512,
    },
)

MINI_SGLANG = Preset(
    name="mini-sglang",
    version="mini-sglang, commit 20fcd7f",
    covers=("manager",),
    description=(
        "mini-sglang's radix tree, exact in nodes and slots: like SGLang's, but a split makes neither half count as "
        "used (the new upper node keeps the time of the old one), and asking to evict more than can be evicted is an "
        "error. Nobody is ever preempted, because prompt and longest output are reserved at admission. Not covered: "
        "that reservation (the settings here preempt like SGLang's), the step (prefills first) and overlap."
    ),
    settings={
        "policy": "prefill_first",
        "kv_manager": "radix",
        "free_list": "fifo",
        "block_size": 1,
        "split_age": "neither",
        "eviction": "lru",
    },
    tree={"page_size": 1, "split_age": "neither", "evict": "lru"},
)

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (VLLM_V1, VLLM_V1_OLD_FREE_LIST, VLLM_V0_V1, VLLM_V0_V2, SGLANG, NANO_VLLM, MINI_SGLANG)
}


def with_preset(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with the settings of the preset that they name (key `preset`) put before them; their own win.

    Raises SettingsError for an unknown preset.
    """
    own = dict(values)
    if "preset" not in own:
        return own
    name = own.pop("preset")
    if not isinstance(name, str) or name not in PRESETS:
        raise SettingsError(f"there is no preset {repr(name)[:60]}; known are {', '.join(PRESETS)}.")
    return {**PRESETS[name].settings, **own}


def settings_of(name: str, **own: Any) -> Settings:
    """The settings of a preset, with own ones put over them. Raises SettingsError."""
    return Settings.of(with_preset({**own, "preset": name}))
