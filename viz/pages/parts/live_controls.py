"""What a live run is asked and how: prompts and presets, requests that come later, the settings of its engine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from engine.request import SamplingParams
from engine.settings import Settings, SettingsError
from viz.pages.parts import page
from viz.pages.parts.live_presets import PRESETS, Preset
from viz.pages.parts.live_serving import EMPTY, Ask
from viz.pages.parts.settings_box import settings_box
from viz.pages.parts.words import beginning

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
MAX_PROMPT = 20_000
MAX_PROMPTS = 8
ANSWER = 32
"""Tokens of an answer at most, unless somebody wants more."""
CHOICES = {"kv_manager": ("paged", "radix")}
"""Values of settings that have fewer here."""
WITHOUT = (
    "keep_unwritten",
    "hardware",
    "model",
    "num_devices",
    "workspace",
    "step_time",
    "seed",
    "max_steps",
    "pow2_of",
    "num_host_blocks",
    "swap_sharing",
    "block_script",
)
"""Settings that mean nothing where a real model and a real clock run, or that it cannot have."""
_CHOSEN, _DRAFT = "live settings", "live draft"


@dataclass(slots=True)
class Draft:
    """What is asked as it stands, and what its fields began with. A closed popover forgets what is set from outside, so
    other prompts are other fields: a new `version`."""

    preset: Preset
    prompts: list[str] = field(default_factory=list)
    sampling: SamplingParams = field(default_factory=SamplingParams)
    first: tuple[tuple[str, ...], SamplingParams] = ((), SamplingParams())
    version: int = -1
    is_drawn: bool = False

    def begin(self, prompts: Sequence[str], sampling: SamplingParams) -> None:
        self.prompts, self.sampling = list(prompts), sampling
        self.first, self.version, self.is_drawn = (tuple(prompts), sampling), self.version + 1, False


def settings() -> Settings:
    """What this session has chosen."""
    chosen: Settings = st.session_state.get(_CHOSEN, SETTINGS)
    return chosen


def draft() -> Draft:
    """What this session is about to ask."""
    if _DRAFT not in st.session_state:
        st.session_state[_DRAFT] = Draft(next(iter(PRESETS.values())))
        _take(st.session_state[_DRAFT].preset)
    now: Draft = st.session_state[_DRAFT]
    return now


def prompts_box() -> None:
    """The popover with what is asked; `asks` reads it."""
    now = draft()
    if now.is_drawn and _key(0) not in st.session_state:
        # it was not on the page for a while, and its fields are gone
        now.begin(now.prompts, now.sampling)
    prompts, sampling = now.first
    with page.popover("Prompts", "prompts"):
        chosen = list(PRESETS.values()).index(now.preset)
        st.selectbox("Begin with", list(PRESETS), chosen, key=_key("preset"), on_change=_take_preset)
        with st.container(key="live-prompts", height=300, border=False):
            for number, text in enumerate(prompts):
                with st.container(horizontal=True, vertical_alignment="center"):
                    label = f"Prompt {number + 1}"
                    now.prompts[number] = st.text_area(label, text, 68, MAX_PROMPT, key=_key(number))
                    if len(prompts) > 1:
                        st.button("Remove", key=_key(f"{number}-less"), on_click=_without, args=(number,))
        if len(prompts) < MAX_PROMPTS:
            st.button("One more prompt", key="live-more-prompts", on_click=_with_another)
        columns = st.columns(4)
        now.sampling = SamplingParams(
            max_tokens=int(
                columns[0].number_input("Longest answer, tokens", 1, 512, sampling.max_tokens, key=_key("max"))
            ),
            n=int(columns[1].number_input("Answers to each", 1, 8, sampling.n, key=_key("n"))),
            temperature=columns[2].number_input("Temperature", 0.0, 2.0, sampling.temperature, 0.1, key=_key("t")),
            seed=int(columns[3].number_input("Seed", 0, 2**31 - 1, sampling.seed, key=_key("seed"))),
        )
    now.is_drawn = True


def what_is_asked() -> None:
    """The prompts as they stand, for a page on which nothing runs yet."""
    now = draft()
    page.heading("These prompts are asked at the same moment")
    with st.container(key="live-asked", gap="small"):
        for number, text in enumerate(now.prompts):
            st.text(f"{chr(ord('A') + number)}   {beginning(text)}")
    chosen = settings()
    each = "one answer to each" if now.sampling.n == 1 else f"{now.sampling.n} answers to each"
    size = "1 token" if chosen.block_size == 1 else f"{chosen.block_size} tokens"
    st.text(
        f"{chosen.policy.capitalize()} batching, {chosen.pool_blocks:,} blocks of {size}; {each}, "
        f"{now.sampling.max_tokens} tokens long at most."
    )


def title() -> str:
    """What the run is called: by its preset as long as that is what is asked. It stays when more is asked later."""
    now = draft()
    return now.preset.title if now.prompts == list(now.preset.prompts) else "Own prompts on a real model"


def asks() -> list[Ask]:
    """The prompts of the popover, one request each."""
    now = draft()
    return [Ask(text, now.sampling) for text in now.prompts]


def more_box(add: Callable[[list[Ask]], Any]) -> None:
    """The popover for one more request, with the longest answer, temperature and seed of the others. An empty one is not
    asked, and gets no name."""
    with page.popover("Add a request", "more"), st.form("live-more", clear_on_submit=True, border=False):
        prompt = st.text_area(
            "Prompt", key="live-more-prompt", max_chars=MAX_PROMPT, placeholder="What shall it answer besides?"
        )
        is_sent = st.form_submit_button("Add", type="primary", on_click=_more, args=(add,))
        if is_sent and not prompt.strip():
            st.text(EMPTY)


def _more(add: Callable[[list[Ask]], Any]) -> None:
    prompt = st.session_state["live-more-prompt"]
    if prompt.strip():
        add([Ask(prompt, replace(draft().sampling, n=1))])


def live_settings_box(begin: Callable[[], Any]) -> None:
    """The Settings button; a run begins with what was sent."""
    own, present = SETTINGS, settings()

    def write(changes: dict[str, Any]) -> None:
        chosen = own.with_(**changes)
        check(chosen)
        st.session_state[_CHOSEN] = chosen
        if changes:
            begin()

    settings_box(own, present, f"live-{hash(present)}", write, "Back to the small pool", WITHOUT, choices=CHOICES)


def check(chosen: Settings) -> None:
    """Raises SettingsError for settings that a live run cannot have."""
    if chosen.kv_manager not in CHOICES["kv_manager"]:
        raise SettingsError(f"kv_manager is {chosen.kv_manager!r}; a live run has paged or radix, choose one of them.")
    if chosen.keep_unwritten:
        raise SettingsError("keep_unwritten is on, which keeps blocks that no model has written; switch it off.")
    tokens = chosen.pool_tokens
    if tokens is None or tokens > MAX_POOL:
        has = "no limit" if tokens is None else f"{tokens:,} tokens"
        raise SettingsError(f"The pool has {has} and may have {MAX_POOL:,} tokens; lower num_blocks.")


def _key(field: int | str) -> str:
    return f"live-prompt-{draft().version}-{field}"


def _take(preset: Preset) -> None:
    now = draft()
    now.preset = preset
    now.begin(preset.prompts, SamplingParams(n=preset.num_samples, temperature=preset.temperature, max_tokens=ANSWER))


def _take_preset() -> None:
    _take(PRESETS[st.session_state[_key("preset")]])


def _with_another() -> None:
    now = draft()
    now.begin([*now.prompts, ""], now.sampling)


def _without(number: int) -> None:
    now = draft()
    now.begin([text for other, text in enumerate(now.prompts) if other != number], now.sampling)
