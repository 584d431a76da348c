"""The settings of a run as a form: every field of `Settings`, in groups, with what it means beside it.

The form knows names and texts; what a value may be is decided by `Settings.of`, and its sentence is what the user reads.
An empty field means "no limit".
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.executor.cost_model import HARDWARE, MODELS
from engine.settings import CHOICES, Settings

GROUPS: dict[str, dict[str, str]] = {
    "Batching": {
        "policy": "static fills a batch and waits for its end; continuous admits in every step; chunked splits prompts",
        "max_num_seqs": "sequences that run at a time",
        "max_num_batched_tokens": "tokens that one step computes",
        "chunk_size": "tokens of a prompt that one step computes at most",
        "max_model_len": "tokens of a sequence, prompt and output",
        "static_start": "start a static batch now, or when it is full",
        "running_order": "who is scheduled first among the running",
        "over_budget": "a new prompt longer than the token budget",
        "victim": "who is preempted when memory runs out",
    },
    "Memory": {
        "kv_manager": "paged, or one strip a request: max, pow2, oracle",
        "block_size": "tokens of a block",
        "num_blocks": "blocks of the pool; leave empty when the capacity is given in tokens",
        "kv_capacity_tokens": "capacity in tokens, instead of blocks",
        "num_host_blocks": "blocks in host memory",
        "watermark": "share of the pool that admission leaves free",
        "admit_full_prompt": "admit a chunked prompt only when all of it fits",
        "admit_lookahead": "tokens that have to fit beyond the prompt",
        "pow2_of": "what pow2 rounds up",
        "free_list": "which free block is handed out next",
        "null_block": "block 0 stays out of the pool, so that ids begin at 1",
        "block_script": "first blocks to hand out, as 7, 2, 5",
    },
    "Clock": {
        "hardware": "card of the cost model",
        "num_devices": "cards that share the model",
        "model": "shape of the model",
        "workspace": "share of the memory kept for activations",
        "step_time": "seconds of every step, instead of the cost model",
        "max_steps": "the run is ended after so many steps",
        "seed": "of the request generator",
    },
}
COLUMNS = 3
_OPTIONS: Mapping[str, tuple[str, ...]] = {**CHOICES, "hardware": tuple(HARDWARE), "model": tuple(MODELS)}


def settings_form(settings: Settings, key: str) -> dict[str, Any] | None:
    """Draw the form with `settings` filled in; the entered values when it was sent, else None.

    Values come back as the user wrote them, an empty one as None, for `Settings.of` to judge.
    """
    entered: dict[str, Any] = {}
    with st.form(f"settings-{key}", border=False):
        for tab, (_, names) in zip(st.tabs(list(GROUPS)), GROUPS.items(), strict=True):
            with tab:
                columns = st.columns(COLUMNS)
                for index, (name, meaning) in enumerate(names.items()):
                    with columns[index % COLUMNS]:
                        entered[name] = _field(name, meaning, getattr(settings, name), f"{key}-{name}")
        sent = st.form_submit_button("Run with these settings", type="primary")
    return entered if sent else None


def changed(entered: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The entered values that differ from `settings`. Raises SettingsError with one sentence for a value it refuses."""
    wanted, present = Settings.of(entered).as_dict(), settings.as_dict()
    return {name: value for name, value in wanted.items() if value != present[name]}


def _field(name: str, meaning: str, value: Any, key: str) -> Any:
    if isinstance(value, bool):
        return st.checkbox(name, value, key=key, help=meaning)
    if name in _OPTIONS:
        options = _OPTIONS[name] if value in _OPTIONS[name] else (*_OPTIONS[name], value)
        return st.selectbox(name, options, index=options.index(value), key=key, help=meaning)
    shown = ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
    optional = isinstance(value, tuple) or value is None or name in _UNLIMITED
    placeholder = "none" if isinstance(value, tuple) else "no limit" if optional else None
    text = st.text_input(name, shown, key=key, help=meaning, placeholder=placeholder, max_chars=2_000).strip()
    if isinstance(value, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text or (None if optional else "")


_UNLIMITED = (
    "num_blocks",
    "kv_capacity_tokens",
    "max_num_seqs",
    "max_num_batched_tokens",
    "max_model_len",
    "step_time",
)
