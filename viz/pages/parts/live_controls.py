"""What the engine of a live run is: its settings, the memory they make, and the requests that come later."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from engine.live import NOT_LIVE, check_settings
from engine.settings import Settings, SettingsError
from viz.pages.parts import page
from viz.pages.parts.live_prompts import MAX_PROMPT, PLACEHOLDER, draft
from viz.pages.parts.live_serving import EMPTY, Ask
from viz.pages.parts.settings_box import settings_box
from viz.pages.parts.words import counted

SETTINGS = Settings(
    policy="chunked",
    prefix_caching=True,
    block_size=8,
    num_blocks=20,
    max_num_batched_tokens=64,
    max_num_seqs=8,
)
"""A small pool, so that sharing, eviction and preemption happen."""
MAX_POOL = 65_536
"""Tokens that the memory of one run may hold; every session has its own."""
MAX_DRAWN = 100
"""Blocks of a pool that are drawn before a run."""
CHOICES = {"kv_manager": ("paged", "radix")}
"""Values of settings that have fewer here."""
WITHOUT = (*NOT_LIVE, "seed", "block_script")
"""Settings that mean nothing where a real model and a real clock run, or that it cannot have."""
_CHOSEN = "live settings"


def settings() -> Settings:
    """What this session has chosen."""
    chosen: Settings = st.session_state.get(_CHOSEN, SETTINGS)
    return chosen


def memory() -> str:
    """The engine that the requests will meet, in one line."""
    chosen = settings()
    shared = (
        "equal beginnings are shared" if chosen.prefix_caching or chosen.kv_manager == "radix" else "no prefix caching"
    )
    pool = f"{counted(chosen.pool_blocks or 0, 'block')} of {counted(chosen.block_size, 'token')}"
    return f"{chosen.policy.capitalize()} batching · {chosen.kv_manager} KV · {pool} · {shared}"


def memory_page() -> None:
    """The memory as it is before a run: in words, and a small one as its blocks, all of them free."""
    first, end = settings().block_range
    with st.container(key="live-memory", gap="small"):
        with st.container(key="live-engine", horizontal=True, vertical_alignment="center", gap="small"):
            st.text("KV blocks")
            st.text(memory())
        if end - first <= MAX_DRAWN:
            st.html(squares(first, end))


def squares(first: int, end: int) -> str:
    """Markup of nothing but the numbers of blocks."""
    numbers = "".join(f"<i>{block}</i>" for block in range(first, end))
    return f'<div class="free-blocks" role="img" aria-label="{end - first} free blocks">{numbers}</div>'


def more_box(add: Callable[[list[Ask]], Any]) -> None:
    """The popover for one more request, with the longest answer, temperature and seed of the others. An empty one is not
    asked, and gets no name."""
    with page.popover("Add a request", "more"), st.form("live-more", clear_on_submit=True, border=False):
        prompt = st.text_area("Prompt", key="live-more-prompt", max_chars=MAX_PROMPT, placeholder=PLACEHOLDER)
        is_sent = st.form_submit_button("Add", type="primary", on_click=_more, args=(add,))
        if is_sent and not prompt.strip():
            st.text(EMPTY)


def _more(add: Callable[[list[Ask]], Any]) -> None:
    prompt = st.session_state["live-more-prompt"].strip()
    if prompt:
        add([Ask(prompt, replace(draft().sampling, n=1))])


def live_settings_box(begin: Callable[[], Any]) -> None:
    """The Settings button; a run begins with what was sent, changed or not."""
    own, present = SETTINGS, settings()

    def write(changes: dict[str, Any]) -> None:
        chosen = own.with_(**changes)
        check(chosen)
        st.session_state[_CHOSEN] = chosen
        begin()

    key = f"live-{hash(present)}"
    settings_box(own, present, key, write, "Back to the usual settings", WITHOUT, choices=CHOICES, drop=_drop)


def _drop() -> None:
    """The usual settings are chosen; nobody has asked for a run."""
    st.session_state[_CHOSEN] = SETTINGS


def check(chosen: Settings) -> None:
    """Raises SettingsError for settings that a live run cannot have."""
    if chosen.kv_manager not in CHOICES["kv_manager"]:
        raise SettingsError(f"kv_manager is {chosen.kv_manager!r}; a live run has paged or radix, choose one of them.")
    check_settings(chosen)
    tokens = chosen.pool_tokens
    if tokens is None or tokens > MAX_POOL:
        has = "no limit" if tokens is None else f"{tokens:,} tokens"
        raise SettingsError(f"The pool has {has} and may have {MAX_POOL:,} tokens; lower num_blocks.")
