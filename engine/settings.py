"""One frozen object that says everything about a run: policy, memory, limits, hardware, model, seed.

`Settings()` is the default engine: paged KV, no prefix caching, no chunking, unlimited memory, the roofline clock.
Everything that real engines do differently is a named field here, never a subclass. `Settings.of(mapping)` reads
outside data and answers a bad value with one sentence that names the value, the limit and what to change.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from engine.setting_values import SettingsError, coerced, shown

POLICIES = ("static", "continuous", "chunked")
KV_MANAGERS = ("paged", "max", "pow2", "oracle", "radix")
CHOICES: dict[str, tuple[str, ...]] = {
    "policy": (*POLICIES, "prefill_first"),
    "kv_manager": KV_MANAGERS,
    "free_list": ("fifo", "stack", "left", "uncached_first", "all_at_tail"),
    "freed_first": ("tail", "head"),
    "register_at": ("schedule", "update"),
    "on_duplicate": ("one", "keep_first", "last_writer"),
    "queue_order": (
        "fcfs",
        "longest_prefix_first",
        "depth_first",
        "shortest_prefill_first",
        "lof",
        "random",
        "priority",
    ),
    "eviction": ("lru", "lfu", "fifo", "mru", "filo", "slru", "priority"),
    "split_age": ("upper", "both", "neither"),
    "running_order": ("admission", "decodes_first"),
    "victim": ("last_admitted", "fewest_outputs", "lowest_priority"),
    "static_start": ("now", "full"),
    "pow2_of": ("output", "total"),
    "over_budget": ("refuse", "wait"),
    "swap_sharing": ("kept", "lost"),
}
MAX_BLOCKS = 2_097_152
UNLIMITED_BLOCKS = 16_777_216
MAX_TOKENS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Settings:
    """The choice of one run. Sizes are tokens or blocks, times seconds, shares fractions of 1.

    None means no limit. `kv_capacity_tokens` gives the pool in tokens; `num_blocks` in blocks; at most one is set.
    `null_block` keeps block 0 out of the pool, so that ids begin at 1 (vLLM V1).
    `chunk_size` is the most prompt tokens of one request that a step computes with policy "chunked";
    `long_prefill_token_threshold` is the same unless the request is the only one (vLLM V1).
    `block_script` lists the first block ids to hand out, in order; later ones follow `free_list`. `freed_first` says with
    which end a sequence gives its blocks back: the tail, as all engines do, or the head, which a prefix cache regrets.
    `swap_sharing` says what a move between the pools makes of a shared block: one block still, or one for each reader.
    `step_time`, where set, replaces the cost model: every step takes that long.
    `prefix_caching` keeps full blocks known by their content: from the moment that their step is scheduled or from its
    end (`register_at`); of equal blocks one is known, or all and the first is found, or all and the last is found
    (`on_duplicate`). `keep_unwritten` lets blocks stay known whose request was preempted in the very step that would
    have filled them, as vLLM V1 does; else they are forgotten.
    `kv_manager` "radix" keeps pages of `block_size` tokens in a radix tree; `eviction` says which leaf goes first,
    `split_age` which halves of a split node count as used. `queue_order` sorts the waiting requests before admission:
    with more than `queue_fall_back_above` of them an expensive order gives way to fcfs; with `in_batch_check` a request
    of which so few tokens are cached waits for one before it with which it shares `in_batch_share`; a pass counts
    `queue_aging` tokens. With `order_touches` what the order looks up in the tree counts as used (SGLang).
    """

    policy: str = "continuous"
    kv_manager: str = "paged"
    block_size: int = 16
    num_blocks: int | None = None
    kv_capacity_tokens: int | None = None
    num_host_blocks: int = 0
    swap_sharing: str = "kept"
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    chunk_size: int | None = None
    long_prefill_token_threshold: int | None = None
    max_model_len: int | None = None
    free_list: str = "fifo"
    freed_first: str = "tail"
    block_script: tuple[int, ...] = ()
    null_block: bool = False
    prefix_caching: bool = False
    register_at: str = "schedule"
    on_duplicate: str = "one"
    keep_unwritten: bool = False
    admit_full_prompt: bool = True
    admit_lookahead: int = 0
    watermark: float = 0.0
    over_budget: str = "refuse"
    queue_order: str = "fcfs"
    queue_fall_back_above: int | None = None
    queue_aging: int = 0
    in_batch_check: int | None = None
    in_batch_share: int = 32
    order_touches: bool = False
    eviction: str = "lru"
    split_age: str = "upper"
    running_order: str = "admission"
    victim: str = "last_admitted"
    static_start: str = "now"
    pow2_of: str = "output"
    hardware: str = "A100-40GB"
    num_devices: int = 1
    model: str = "OPT-13B"
    workspace: float = 0.10
    step_time: float | None = None
    max_steps: int = 1_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise SettingsError(f"{name} is {shown(getattr(self, name))}; choose one of {', '.join(choices)}.")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise SettingsError(f"{name} is {shown(value)}; it has to be between {low} and {high}.")
        if self.num_blocks is not None and self.kv_capacity_tokens is not None:
            raise SettingsError("num_blocks and kv_capacity_tokens are both set; give only one of them.")
        if self.kv_manager == "max" and self.max_model_len is None:
            raise SettingsError("kv_manager 'max' reserves max_model_len slots for each request; set max_model_len.")
        if self.chunk_size is not None and not self.chunked:
            raise SettingsError(
                f"chunk_size is {self.chunk_size}, but policy {self.policy!r} does not cut prompts; "
                "choose policy 'chunked'."
            )
        if self.has_blocks and (self.pool_blocks or 0) > MAX_BLOCKS:
            raise SettingsError(
                f"kv_capacity_tokens is {self.kv_capacity_tokens}; in blocks of {self.block_size} that is more than "
                f"{MAX_BLOCKS} blocks, so choose a larger block_size."
            )
        if self.has_blocks and self.pool_blocks == 0:
            raise SettingsError(
                f"kv_capacity_tokens is {self.kv_capacity_tokens}; that is no whole block of {self.block_size}, "
                f"so set at least {self.block_size} or a smaller block_size."
            )
        if self.num_host_blocks and self.pool_blocks is None:
            raise SettingsError("num_host_blocks needs a pool of known size; set num_blocks as well.")
        if self.free_list == "stack" and self.has_blocks and self.pool_blocks is None:
            raise SettingsError("free_list 'stack' begins with the highest block; set num_blocks as well.")
        if self.prefix_caching and not self.has_blocks:
            raise SettingsError(
                f"prefix_caching is true, but kv_manager {self.kv_manager!r} has no blocks that could be known again; "
                "choose kv_manager 'paged'."
            )
        if self.kv_manager == "radix" and self.num_host_blocks:
            raise SettingsError(
                f"num_host_blocks is {self.num_host_blocks}; kv_manager 'radix' has no host, set it to 0."
            )
        if self.kv_manager == "radix" and self.block_range[1] * self.block_size > MAX_TOKENS + 1:
            raise SettingsError(f"block_size is {self.block_size}; set a smaller num_blocks, {MAX_TOKENS} slots fit.")
        first, end = self.block_range
        for block in self.block_script:
            if not first <= block < end:
                raise SettingsError(f"block_script names block {block}; the pool has blocks {first} to {end - 1}.")
        if len(set(self.block_script)) != len(self.block_script):
            raise SettingsError("block_script names a block twice; each block can be handed out first only once.")

    @property
    def manager(self) -> str:
        """The KV manager that these settings choose: `kv_manager`, or "hashed" for a paged one that caches prefixes."""
        return "hashed" if self.prefix_caching and self.kv_manager == "paged" else self.kv_manager

    @property
    def has_blocks(self) -> bool:
        """Whether memory is blocks and tables, not contiguous slots."""
        return self.kv_manager in ("paged", "radix")

    @property
    def keeps_prefixes(self) -> bool:
        """Whether there is a prefix cache: known blocks or a radix tree."""
        return self.manager in ("hashed", "radix")

    @property
    def pool_blocks(self) -> int | None:
        """Blocks of the paged pool; None when memory is unlimited."""
        if self.kv_capacity_tokens is not None:
            return self.kv_capacity_tokens // self.block_size
        return self.num_blocks

    @property
    def block_range(self) -> tuple[int, int]:
        """First id of the paged pool and the id after its last one."""
        first = int(self.null_block)
        return first, first + (UNLIMITED_BLOCKS if self.pool_blocks is None else self.pool_blocks)

    @property
    def pool_tokens(self) -> int | None:
        """Token slots of a contiguous pool; None when memory is unlimited."""
        if self.kv_capacity_tokens is not None:
            return self.kv_capacity_tokens
        return None if self.num_blocks is None else self.num_blocks * self.block_size

    @property
    def max_chunk(self) -> int:
        """Most prompt tokens of one request in one step: the smaller of chunk size and budget."""
        return min(self.chunk_size or MAX_TOKENS, self.max_num_batched_tokens or MAX_TOKENS)

    @property
    def chunked(self) -> bool:
        """Whether a prompt may be computed in parts."""
        return self.policy in ("chunked", "prefill_first")

    def with_(self, **changes: Any) -> "Settings":
        return Settings.of({**self.as_dict(), **changes})

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; tuples become lists."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @classmethod
    def of(cls, values: Mapping[str, Any], base: "Settings | None" = None) -> "Settings":
        """Settings from outside data. Raises SettingsError for an unknown name, a wrong type or a value out of range."""
        unknown = sorted(set(values) - _TYPES.keys())
        if unknown:
            raise SettingsError(f"unknown setting {shown(unknown[0])}; known are {', '.join(sorted(_TYPES))}.")
        return replace(
            base or cls(),
            **{name: coerced(name, value, _TYPES[name], name in _OPTIONAL) for name, value in values.items()},
        )


_TYPES: dict[str, str] = {f.name: str(getattr(f.type, "__name__", f.type)).split(" ")[0] for f in fields(Settings)}
_OPTIONAL = {f.name for f in fields(Settings) if "None" in str(f.type)}
_RANGES: dict[str, tuple[float, float]] = {
    "block_size": (1, 65_536),
    "num_blocks": (1, MAX_BLOCKS),
    "kv_capacity_tokens": (1, MAX_TOKENS),
    "num_host_blocks": (0, MAX_BLOCKS),
    "max_num_seqs": (1, 1_000_000),
    "max_num_batched_tokens": (1, MAX_TOKENS),
    "chunk_size": (1, MAX_TOKENS),
    "long_prefill_token_threshold": (1, MAX_TOKENS),
    "max_model_len": (2, MAX_TOKENS),
    "admit_lookahead": (0, 65_536),
    "queue_fall_back_above": (0, 1_000_000),
    "queue_aging": (0, MAX_TOKENS),
    "in_batch_check": (0, MAX_TOKENS),
    "in_batch_share": (1, MAX_TOKENS),
    "watermark": (0.0, 0.9),
    "num_devices": (1, 1_024),
    "workspace": (0.0, 0.9),
    "step_time": (1e-9, 1e6),
    "max_steps": (1, 100_000_000),
    "seed": (0, 2**63 - 1),
}
