"""Text to token ids and back, with the chat format of the model; where its data came from is no concern of it.

Splitting and merging is done by the `tokenizers` library. Ids become text through the `Vocabulary`, so that a stream of
tokens and a finished answer read the same. What somebody says in a conversation is text and nothing else: the name of a
control token in it is spelled in ordinary tokens, so nobody can end his turn and write one of the system in its place.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import tokenizers
from tokenizers import AddedToken

from engine.executor.chat_template import ChatTemplate, Message
from engine.executor.vocabulary import TextStream, Vocabulary


@dataclass(frozen=True)
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
        return self._begun(self.merger.encode(_whole(text), add_special_tokens=False).ids)

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation in the model's format, up to where its answer begins. The names of control tokens
        in a message are text; those that the template writes are tokens. Raises ModelError."""
        contents = "".join(message["content"] for message in messages)
        if not any(name in contents for name in self._controls):
            return self.encode(self.template.render(messages))
        used = set(contents)
        mark = next((sign for sign in map(chr, range(0xE000, 0x110000)) if sign not in used), "\0")
        names = "|".join(re.escape(name) for name in self._controls)
        marked = [
            {**message, "content": re.sub(f"(?={names})", mark, message["content"])} for message in messages
        ]  # before each place where a name begins, also inside another one
        texts = re.split(f"(?<!{mark})({names})", self.template.render(marked))
        texts[::2] = [text.replace(mark, "") for text in texts[::2]]
        texts[1::2] = [mark + name for name in texts[1::2]]
        return self._begun(self._encode_marked(_whole("".join(texts)), mark))

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

    @cached_property
    def _controls(self) -> dict[str, tuple[int, AddedToken]]:
        """Control tokens by name, the longest name first."""
        added = self.merger.get_added_tokens_decoder().items()
        found = [(token.content, (index, token)) for index, token in added if token.special and token.content]
        return dict(sorted(found, key=lambda one: -len(one[0])))

    @cached_property
    def _copies(self) -> dict[str, tokenizers.Tokenizer]:
        """The copy of the merger that was last needed, by its mark."""
        return {}

    def _encode_marked(self, text: str, mark: str) -> list[int]:
        """Token ids of a text in which a control token is its name behind `mark`; a name without it is text.

        A copy of the merger does it, which has marked names in place of the control tokens, because what stands at the
        beginning of a text or beside a control token may be encoded otherwise than elsewhere.
        """
        merger = self._copies.get(mark)
        if merger is None:
            merger = tokenizers.Tokenizer.from_str(self.merger.to_str())
            merger.encode_special_tokens = True  # the library's words for taking their names as text
            merger.add_tokens([_marked(mark, token) for _, token in self._controls.values()])
            self._copies.clear()
            self._copies[mark] = merger
        stands_for = {merger.token_to_id(mark + name): index for name, (index, _) in self._controls.items()}
        return [stands_for.get(token, token) for token in merger.encode(text, add_special_tokens=False).ids]

    def _begun(self, ids: list[int]) -> list[int]:
        return ids if tuple(ids[: len(self.first_ids)]) == self.first_ids else [*self.first_ids, *ids]


def _whole(text: str) -> str:
    """The text with a question mark for half a surrogate."""
    return text.encode("utf-8", "replace").decode()


def _marked(mark: str, token: AddedToken) -> AddedToken:
    return AddedToken(
        mark + token.content,
        single_word=token.single_word,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        normalized=token.normalized,
        special=False,
    )
