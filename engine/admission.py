"""Requests that can never run are refused when they arrive, with the number that would have to change."""

from typing import NamedTuple

from engine.kv.manager import KVManager
from engine.sequence import SequenceGroup
from engine.settings import MAX_TOKENS, Settings


class Refusal(NamedTuple):
    """Reason code, the resource that is too small, what the request needs of it and what there is."""

    reason: str
    resource: str
    needed: int
    available: int

    @property
    def sentence(self) -> str:
        """Why, and what to change."""
        return _SENTENCES[self.reason].format(
            needed=f"{self.needed:,}", available=f"{self.available:,}", of=self.resource
        )


_SENTENCES = {
    "empty_prompt": "The prompt is empty; write at least one word.",
    "zero_output": "The answer may have no token; set max_tokens to at least 1.",
    "prompt_too_long": "The prompt needs a context of {needed} tokens and there are {available}; shorten it.",
    "no_room_for_token": "The prompt fills the whole context of {available} tokens; shorten it.",
    "too_many_samples": "{needed} samples need as many seats and there are {available}; ask for fewer or raise max_num_seqs.",
    "never_fits": "The request needs {needed} {of} and the memory has {available}; shorten the prompt or raise num_blocks.",
    "exceeds_token_budget": "The prompt has {needed} tokens and a step computes {available}; shorten it or choose "
    "policy chunked.",
}


def output_limit(prompt_len: int, max_tokens: int, settings: Settings) -> int:
    """Output tokens that a request gets: what it asks for, cut to what the context leaves."""
    if settings.max_model_len is None:
        return max_tokens
    return max(0, min(max_tokens, settings.max_model_len - prompt_len))


def refusal(group: SequenceGroup, settings: Settings, kv: KVManager, lengths_known: bool = True) -> Refusal | None:
    """Why this request can never run, or None. Several reasons at once: the first of this order.

    Without `lengths_known` only the prompt has to fit into memory.
    """
    request, prompt_len, context = group.request, group.prompt_len, settings.max_model_len
    if prompt_len == 0:
        return Refusal("empty_prompt", "none", 1, 0)
    if request.sampling.max_tokens <= 0:
        return Refusal("zero_output", "none", 1, 0)
    if context is not None and prompt_len >= context:
        reason = "prompt_too_long" if prompt_len > context else "no_room_for_token"
        return Refusal(reason, "context", prompt_len + 1, context)
    if prompt_len + group.max_tokens > MAX_TOKENS:
        return Refusal("prompt_too_long", "context", prompt_len + group.max_tokens, MAX_TOKENS)
    if settings.max_num_seqs is not None and request.sampling.n > settings.max_num_seqs:
        return Refusal("too_many_samples", "seats", request.sampling.n, settings.max_num_seqs)
    need = kv.never_fits(group, prompt_only=not lengths_known)
    if need is not None:
        return Refusal("never_fits", need.resource, need.needed, need.available)
    budget = settings.max_num_batched_tokens
    if budget is not None and prompt_len > budget and not settings.chunked and settings.over_budget == "refuse":
        return Refusal("exceeds_token_budget", "tokens", prompt_len, budget)
    return None
