"""How a model wants a conversation written: a Jinja template that travels with its weights.

A template is code from a file, so it runs in a sandbox where it sees nothing but the conversation and can cost little.
A model without a template gets the plain texts, one after the other.
"""

from collections.abc import Mapping, Sequence
from threading import Lock

import jinja2

from engine.executor.model_error import ModelError
from engine.executor.template_sandbox import TemplateSandbox

Message = Mapping[str, str]
"""A turn: {"role": "system" | "user" | "assistant", "content": text}."""

MAX_TEMPLATE = 1 << 16


class ChatTemplate:
    """A compiled template; `bos` and `eos` are the spellings of the tokens it may mention."""

    def __init__(self, source: str | None = None, bos: str = "", eos: str = "") -> None:
        """Raises ModelError for a template that is too long or no Jinja."""
        self._tokens = {"bos_token": bos, "eos_token": eos}
        self._template: jinja2.Template | None = None
        if source is None:
            return
        if len(source) > MAX_TEMPLATE:
            raise ModelError(
                f"The model's chat template has {len(source)} characters; at most {MAX_TEMPLATE} can be read."
            )
        self._sandbox = TemplateSandbox()
        self._sandbox.globals["raise_exception"] = _refuse
        self._sandbox.meter.start(len(source))
        self._lock = Lock()
        try:
            self._template = self._sandbox.compiled(source)
        except Exception as problem:  # Python's own compiler has its limits too
            raise ModelError(f"The model's chat template cannot be read: {_reason(problem)}.") from problem

    def render(self, messages: Sequence[Message]) -> str:
        """The conversation as one text that ends where the model's answer begins. Raises ModelError."""
        if self._template is None:
            return "\n".join(message["content"] for message in messages)
        turns = [dict(message) for message in messages]
        try:
            with self._lock:
                self._sandbox.meter.start(sum(len(text) for turn in turns for text in turn.values()))
                return self._template.render(messages=turns, add_generation_prompt=True, **self._tokens)
        except Exception as problem:  # a template can fail in as many ways as Python code
            raise ModelError(
                f"The model's chat template cannot write this conversation: {_reason(problem)}."
            ) from problem


def _reason(problem: Exception) -> str:
    return " ".join(str(problem).split())[:200].rstrip(".") or type(problem).__name__


def _refuse(message: str) -> None:
    raise jinja2.TemplateRuntimeError(message)
