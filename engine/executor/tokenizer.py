"""Text to token ids and back, with the chat format of the model; where its data came from is no concern of it.

Splitting and merging is done by the `tokenizers` library. Ids become text through the `Vocabulary`, so that a stream of
tokens and a finished answer read the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import tokenizers

from engine.executor.chat_template import ChatTemplate, Message
from engine.executor.vocabulary import TextStream, Vocabulary


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Encodes prompts and decodes answers of one model.

    `first_ids` stand before every prompt (a beginning-of-sequence token, where the model wants one); an answer ends at
    one of `eos_ids`.
    """

    merger: tokenizers.Tokenizer
    vocabulary: Vocabulary
    eos_ids: tuple[int, ...] = ()
    first_ids: tuple[int, ...] = ()
    template: ChatTemplate = field(default_factory=ChatTemplate)

    @property
    def vocab_size(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """Token ids of a text as it stands. Control tokens in it count as such; a half surrogate becomes `?`."""
        text = text.encode("utf-8", "replace").decode()
        ids = self.merger.encode(text, add_special_tokens=False).ids
        return ids if tuple(ids[: len(self.first_ids)]) == self.first_ids else [*self.first_ids, *ids]

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation in the model's format, up to where its answer begins. Raises ModelError."""
        return self.encode(self.template.render(messages))

    def ask(self, prompt: str) -> list[int]:
        """Token ids of a conversation that one user message opens. Raises ModelError."""
        return self.chat([{"role": "user", "content": prompt}])

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text of an answer, without control tokens."""
        return self.vocabulary.decode(token_ids)

    def stream(self) -> TextStream:
        """A decoder for one answer whose tokens come one by one; it never gives out half a character."""
        return self.vocabulary.stream()

    def label(self, token_id: int) -> str:
        """What to write on a token that stands alone."""
        return self.vocabulary.label(token_id)
