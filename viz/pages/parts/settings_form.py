"""The settings of a run as a form: every field of `Settings` in words, in groups, the rare ones behind "More".

The form knows texts; what a value may be is decided by `Settings.of`, and its sentence is what the user reads. The name
that links and shells use stands below the words. An empty field means what its placeholder says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine.executor.cost_model import HARDWARE, MODELS
from engine.settings import CHOICES, Settings

COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Field:
    """What a setting is called, what it means, and what it means when it is empty."""

    label: str
    meaning: str
    empty: str = "no limit"
    is_rare: bool = False


GROUPS: dict[str, dict[str, Field]] = {
    "Batching": {
        "policy": Field(
            "Batching",
            "static fills a batch and waits for its end; continuous admits in every step; chunked cuts prompts; "
            "prefill first computes prompts in steps of their own",
        ),
        "max_num_seqs": Field("Sequences at a time", "sequences that run together at most"),
        "max_num_batched_tokens": Field("Tokens in a step", "tokens that one step computes at most, its budget"),
        "chunk_size": Field(
            "Prompt tokens in a step", "of one request at most; for chunked batching", "the whole budget"
        ),
        "static_start": Field("A static batch starts", "as soon as somebody waits, or when it is full"),
        "victim": Field("Who is preempted", "when memory runs out"),
        "max_model_len": Field("Longest sequence", "tokens of prompt and output together", is_rare=True),
        "running_order": Field("First in a step", "who is scheduled first among the running", is_rare=True),
        "over_budget": Field("Prompt above the budget", "a prompt longer than the tokens of a step", is_rare=True),
        "long_prefill_token_threshold": Field(
            "Prompt tokens among others", "of one request in a step, unless it is the only one", is_rare=True
        ),
    },
    "Memory": {
        "kv_manager": Field("KV memory", "blocks on demand, or one strip for each request"),
        "block_size": Field("Tokens in a block", "slots of a block"),
        "num_blocks": Field("Blocks in the pool", "fewer of them: requests wait, and some are preempted"),
        "kv_capacity_tokens": Field("Capacity in tokens", "instead of a number of blocks", "as the blocks say"),
        "free_list": Field("Next free block", "which of the free blocks is handed out", is_rare=True),
        "freed_first": Field("Given back first", "of the blocks of a sequence that ends", is_rare=True),
        "watermark": Field("Kept free", "share of the pool that admission leaves free", is_rare=True),
        "admit_full_prompt": Field(
            "Needs room for all", "admit a chunked prompt only when all of it fits", is_rare=True
        ),
        "admit_lookahead": Field("Room beyond the prompt", "tokens that have to fit on admission", is_rare=True),
        "num_host_blocks": Field("Blocks in host memory", "for what is swapped out", is_rare=True),
        "swap_sharing": Field(
            "A move makes of a shared block", "one block still, or one for each reader", is_rare=True
        ),
        "pow2_of": Field("Powers of two of", "what the manager pow2 rounds up", is_rare=True),
        "null_block": Field("Keep block 0 out", "ids begin at 1, as in vLLM", is_rare=True),
        "block_script": Field("First blocks", "ids to hand out first, as 7, 2, 5", "none", is_rare=True),
    },
    "Prefix cache": {
        "prefix_caching": Field("Keep full blocks known", "who begins with the same tokens reads them again"),
        "eviction": Field("Evicted first", "which leaf of the radix tree gives up its place"),
        "queue_order": Field("Order of the queue", "who is tried first; some orders look at what is cached"),
        "register_at": Field("Known from", "when a full block can be found by others", is_rare=True),
        "on_duplicate": Field("Of equal blocks", "which are known, and which of them is found", is_rare=True),
        "keep_unwritten": Field(
            "Keep what was not computed", "blocks of a request preempted in the step that fills them", is_rare=True
        ),
        "split_age": Field("A split counts as use", "of which halves of a node of the radix tree", is_rare=True),
        "order_touches": Field("A look counts as use", "of the nodes that the order of the queue finds", is_rare=True),
        "queue_fall_back_above": Field(
            "Longest queue to sort", "a longer one is first come, first served", "any length", is_rare=True
        ),
        "queue_aging": Field("Tokens for a pass", "that waiting counts in longest prefix first", is_rare=True),
        "in_batch_check": Field(
            "Few cached tokens", "with so few a request waits for one with the same beginning", "no check", is_rare=True
        ),
        "in_batch_share": Field("Same beginning", "tokens that both of them share at least", is_rare=True),
    },
    "Clock": {
        "hardware": Field("Card", "whose bandwidth and FLOP/s the cost model takes"),
        "model": Field("Model", "whose weights and KV the cost model moves"),
        "num_devices": Field("Number of cards", "they share the model"),
        "step_time": Field(
            "Seconds of a step", "the same for every step, instead of the cost model", "from the cost model"
        ),
        "workspace": Field("Kept for activations", "share of the memory of a card", is_rare=True),
        "max_steps": Field("Steps at most", "the run is ended after so many", is_rare=True),
        "seed": Field("Seed", "of a generated workload", is_rare=True),
    },
}
WORDS: Mapping[str, Mapping[str, str]] = {
    "kv_manager": {
        "paged": "paged: blocks on demand",
        "max": "max: a strip of the longest sequence",
        "pow2": "pow2: a strip of a power of two",
        "oracle": "oracle: a strip of the right length",
        "radix": "radix: pages in a tree of prefixes",
    },
    "pow2_of": {"output": "the output", "total": "prompt and output"},
    "static_start": {"now": "at once", "full": "when it is full"},
    "victim": {
        "last_admitted": "the last one admitted",
        "fewest_outputs": "the one with the fewest tokens",
        "lowest_priority": "the least important one",
    },
    "running_order": {"admission": "in order of admission", "decodes_first": "decodes"},
    "over_budget": {"refuse": "is refused", "wait": "waits"},
    "free_list": {
        "fifo": "freed longest ago (fifo)",
        "stack": "freed last (stack)",
        "left": "the first in memory (left)",
        "uncached_first": "one that is not known",
        "all_at_tail": "freed longest ago, known or not",
    },
    "freed_first": {"tail": "the last one", "head": "the first one"},
    "swap_sharing": {"kept": "one block", "lost": "one for each reader"},
    "register_at": {"schedule": "the start of its step", "update": "the end of its step"},
    "on_duplicate": {
        "one": "only the first is known",
        "keep_first": "all, the first is found",
        "last_writer": "all, the last is found",
    },
    "split_age": {"upper": "the upper one", "both": "both", "neither": "neither"},
    "queue_order": {
        "fcfs": "first come, first served",
        "longest_prefix_first": "most cached tokens first",
        "depth_first": "along the radix tree",
        "shortest_prefill_first": "fewest tokens to compute first",
        "lof": "longest answer first",
        "priority": "most important first",
    },
    "eviction": {
        "lru": "used longest ago (lru)",
        "lfu": "used least often (lfu)",
        "fifo": "made first (fifo)",
        "mru": "used last (mru)",
        "filo": "made last (filo)",
        "slru": "used once, then used longest ago (slru)",
        "priority": "least important",
    },
}
"""Name of a setting -> value -> how a list shows it; other values are shown as they are."""
_OPTIONS: Mapping[str, tuple[str, ...]] = {**CHOICES, "model": tuple(MODELS)}
_UNLIMITED = frozenset(
    (
        "num_blocks",
        "kv_capacity_tokens",
        "max_num_seqs",
        "max_num_batched_tokens",
        "chunk_size",
        "max_model_len",
        "long_prefill_token_threshold",
        "queue_fall_back_above",
        "in_batch_check",
        "step_time",
    )
)


def settings_form(
    settings: Settings,
    key: str,
    without: Sequence[str] = (),
    choices: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any] | None:
    """Draw the form with `settings` filled in; the entered values when it was sent, else None.

    Values come back as the user wrote them, an empty one as None, for `Settings.of` to judge. Settings named in
    `without` are left out of the form and come back as they are; `choices` are those of settings that have fewer here.
    """
    options = {**_OPTIONS, "hardware": tuple(HARDWARE), **(choices or {})}
    entered = settings.as_dict()
    with st.form(f"settings-{key}", border=False):
        groups = {
            title: {name: field for name, field in group.items() if name not in without}
            for title, group in GROUPS.items()
        }
        groups = {title: fields for title, fields in groups.items() if fields}
        for tab, (title, fields) in zip(st.tabs(list(groups)), groups.items(), strict=True):
            common = {name: field for name, field in fields.items() if not field.is_rare}
            rare = {name: field for name, field in fields.items() if field.is_rare}
            with tab:
                with st.container(key=f"fields-{title}"):
                    entered |= _rows(common, settings, key, options)
                if rare:
                    with st.expander("More"), st.container(key=f"fields-more-{title}"):
                        entered |= _rows(rare, settings, key, options)
        sent = st.form_submit_button("Run with these settings", type="primary")
    return entered if sent else None


def told(name: str, value: Any) -> str:
    """ "Tokens in a block: 8", "Sequences at a time: no limit": a setting and its value in the words of the form."""
    field = next(group[name] for group in GROUPS.values() if name in group)
    if isinstance(value, (list, tuple)):
        shown = ", ".join(map(str, value)) or field.empty
    elif isinstance(value, bool):
        shown = "yes" if value else "no"
    else:
        shown = field.empty if value is None else WORDS.get(name, {}).get(str(value), str(value).replace("_", " "))
    return f"{field.label}: {shown}"


def changed(entered: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The entered values that differ from `settings`. Raises SettingsError with one sentence for a value it refuses."""
    wanted, present = Settings.of(entered).as_dict(), settings.as_dict()
    return {name: value for name, value in wanted.items() if value != present[name]}


def _rows(
    fields: Mapping[str, Field], settings: Settings, key: str, options: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    entered: dict[str, Any] = {}
    names = list(fields)
    for first in range(0, len(names), COLUMNS):
        for column, name in zip(st.columns(COLUMNS), names[first : first + COLUMNS], strict=False):
            with column:
                entered[name] = _field(name, fields[name], getattr(settings, name), f"{key}-{name}", options.get(name))
    return entered


def _field(name: str, field: Field, value: Any, key: str, choices: Sequence[str] | None) -> Any:
    label = f"{field.label} `{name}`"
    if isinstance(value, bool):
        return st.checkbox(label, value, key=key, help=field.meaning)
    if choices is not None:
        options = choices if value in choices else (*choices, value)
        words = WORDS.get(name, {})
        return st.selectbox(
            label,
            options,
            index=options.index(value),
            format_func=lambda option: words.get(option, option.replace("_", " ")),
            key=key,
            help=field.meaning,
        )
    shown = ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
    optional = isinstance(value, tuple) or value is None or name in _UNLIMITED
    empty = field.empty if optional else None
    text = st.text_input(label, shown, key=key, help=field.meaning, placeholder=empty, max_chars=2_000).strip()
    if isinstance(value, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text or (None if optional else "")
