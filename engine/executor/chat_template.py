"""How a model wants a conversation written: a Jinja template that travels with its weights.

A template is code from a file, so it runs in Jinja's sandbox, which lets it see and change nothing but its own strings.
A model without a template gets the plain texts, one after the other.
"""

from collections.abc import Mapping, Sequence

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.executor.model_error import ModelError

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
        environment = _Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
        environment.globals["raise_exception"] = _refuse
        try:
            self._template = environment.from_string(source)
        except (jinja2.TemplateError, RecursionError, SyntaxError) as problem:
            raise ModelError(f"The model's chat template cannot be read: {str(problem)[:200]}.") from None

    def render(self, messages: Sequence[Message]) -> str:
        """The conversation as one text that ends where the model's answer begins. Raises ModelError."""
        if self._template is None:
            return "\n".join(message["content"] for message in messages)
        try:
            return self._template.render(messages=list(messages), add_generation_prompt=True, **self._tokens)
        except Exception as problem:  # a template can fail in as many ways as Python code
            raise ModelError(
                f"The model's chat template cannot write this conversation: {str(problem)[:200]}."
            ) from problem


class _Sandbox(ImmutableSandboxedEnvironment):
    """Refuses products and powers too, with which a short template could fill the memory."""

    intercepted_binops = frozenset(("*", "**", "%"))

    def call_binop(self, context, operator: str, left, right):
        if not all(isinstance(value, int | float) and abs(value) < 1 << 20 for value in (left, right)):
            raise jinja2.TemplateRuntimeError(f"{operator} is only done with small numbers")
        return super().call_binop(context, operator, left, right)


def _refuse(message: str) -> None:
    raise jinja2.TemplateRuntimeError(message)
