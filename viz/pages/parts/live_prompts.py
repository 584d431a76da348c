"""What a live run is asked: the prompts and how they are answered, as fields on the page or in a popover of its bar."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from engine.request import SamplingParams
from viz.pages.parts import page
from viz.pages.parts.live_presets import PRESETS, Preset
from viz.pages.parts.live_serving import Ask

MAX_PROMPT = 20_000
MAX_PROMPTS = 8
ANSWER = 32
"""Tokens of an answer at most, unless somebody wants more."""
PLACEHOLDER = "What shall the model answer?"
_DRAFT = "live draft"


@dataclass(slots=True)
class Draft:
    """What is asked as it stands, and what its fields began with. A field takes nothing from outside once it is drawn, so
    other prompts, and the same ones in another place, are other fields: a new `version`."""

    preset: Preset
    prompts: list[str] = field(default_factory=list)
    sampling: SamplingParams = field(default_factory=SamplingParams)
    first: tuple[tuple[str, ...], SamplingParams] = ((), SamplingParams())
    version: int = -1
    place: str = ""
    """Where its fields were drawn; empty before they are."""

    def begin(self, prompts: Sequence[str], sampling: SamplingParams) -> None:
        self.prompts, self.sampling = list(prompts), sampling
        self.first, self.version, self.place = (tuple(prompts), sampling), self.version + 1, ""

    def take(self, preset: Preset) -> None:
        self.preset = preset
        self.begin(
            preset.prompts, SamplingParams(n=preset.num_samples, temperature=preset.temperature, max_tokens=ANSWER)
        )

    def key(self, field: int | str) -> str:
        return f"live-prompt-{self.version}-{field}"

    def hear(self) -> None:
        """Take up what the fields hold now: who types and presses Start at once has that asked. Those that are not on the
        page say nothing."""
        fields, sampling = st.session_state, self.sampling
        self.prompts = [fields.get(self.key(number), text) for number, text in enumerate(self.prompts)]
        self.sampling = SamplingParams(
            max_tokens=int(fields.get(self.key("max"), sampling.max_tokens)),
            n=int(fields.get(self.key("n"), sampling.n)),
            temperature=fields.get(self.key("t"), sampling.temperature),
            seed=int(fields.get(self.key("seed"), sampling.seed)),
        )


def draft() -> Draft:
    """What this session is about to ask."""
    if _DRAFT not in st.session_state:
        st.session_state[_DRAFT] = Draft(next(iter(PRESETS.values())))
        st.session_state[_DRAFT].take(st.session_state[_DRAFT].preset)
    now: Draft = st.session_state[_DRAFT]
    now.hear()
    return now


def asks() -> list[Ask]:
    """The prompts, one request each; a line break at an end is there because somebody pressed Enter."""
    now = draft()
    return [Ask(text.strip(), now.sampling) for text in now.prompts]


def title() -> str:
    """What the run is called: by its preset as long as that is what is asked. It stays when more is asked later."""
    now = draft()
    return (
        now.preset.title
        if [text.strip() for text in now.prompts] == list(now.preset.prompts)
        else "Own prompts on a real model"
    )


def prompts_box() -> None:
    """The fields in a popover, beside a run."""
    with page.popover("Prompts", "prompts"):
        _form("box")


def prompts_page() -> None:
    """The fields on the page itself, where nothing runs yet."""
    with st.container(key="live-ask"):
        _form("page")


def _form(place: str) -> None:
    now = draft()
    if now.place and (now.place != place or now.key(0) not in st.session_state):
        # its fields were elsewhere, or not on the page for a while and are gone
        now.begin(now.prompts, now.sampling)
    now.place = place
    chosen = list(PRESETS)[list(PRESETS.values()).index(now.preset)]
    st.pills("Begin with", list(PRESETS), default=chosen, key=now.key("preset"), on_change=_take_preset)
    with st.container(key="live-prompts", height=300 if place == "box" else "content", border=False):
        for number, text in enumerate(now.first[0]):
            _prompt(now, number, text)
        if len(now.prompts) < MAX_PROMPTS:
            with st.container(key="live-row-next", horizontal=True, vertical_alignment="center", wrap=False):
                st.button("One more prompt", type="tertiary", key="live-more-prompts", on_click=_with_another)
    _, first = now.first
    with st.container(key="live-sampling", horizontal=True):
        st.number_input("Longest answer, tokens", 1, 512, first.max_tokens, key=now.key("max"), on_change=now.hear)
        st.number_input("Answers to each", 1, 8, first.n, key=now.key("n"), on_change=now.hear)
        st.number_input("Temperature", 0.0, 2.0, first.temperature, 0.1, key=now.key("t"), on_change=now.hear)
        st.number_input("Seed", 0, 2**31 - 1, first.seed, key=now.key("seed"), on_change=now.hear)


def _prompt(now: Draft, number: int, text: str) -> None:
    """One field, with the letter that its request will have before it (page.css), and the way to be rid of it."""
    with st.container(key=f"live-row-{number}", horizontal=True, vertical_alignment="center", wrap=False):
        st.text_area(
            f"Prompt {chr(ord('A') + number)}",
            text,
            "content",
            MAX_PROMPT,
            key=now.key(number),
            on_change=now.hear,
            placeholder=PLACEHOLDER,
            label_visibility="collapsed",
        )
        if len(now.prompts) > 1:
            st.button("Remove", type="tertiary", key=now.key(f"{number}-less"), on_click=_without, args=(number,))


def _take_preset() -> None:
    """Begin with the chosen preset; who presses the one that is chosen gets its prompts back. Streamlit calls this now and
    then although nothing was pressed: then it is chosen still, and what was typed stays."""
    now = draft()
    name = st.session_state[now.key("preset")]
    preset = PRESETS[name] if name else now.preset
    if not name or preset is not now.preset:
        now.take(preset)


def _with_another() -> None:
    now = draft()
    now.begin([*now.prompts, ""], now.sampling)


def _without(number: int) -> None:
    now = draft()
    now.begin([text for other, text in enumerate(now.prompts) if other != number], now.sampling)
