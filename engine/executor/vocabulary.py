"""Which bytes a token stands for. Text is made from bytes, never token by token: a character may lie in several tokens.

Byte-level vocabularies (GPT-2) write each byte as a printable character, `Ġ` for a space; SentencePiece writes `▁` for a
space and `<0xE2>` for a byte that has no token. Control tokens (`<|im_end|>`) stand for no text.
"""

import codecs
import re
from collections.abc import Collection, Iterable
from functools import lru_cache

BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


class Vocabulary:
    """The bytes of every token id, and text out of ids."""

    def __init__(
        self, tokens: list[str], *, byte_level: bool, special: Collection[int] = (), literal: Collection[int] = ()
    ) -> None:
        """`tokens` by id; ids in `special` stand for no text, those in `literal` for their own spelling."""
        self.tokens = tokens
        self.special = frozenset(special)
        self._drop_first_space = not byte_level
        spell = _byte_level if byte_level else _sentence_piece
        self._bytes = [
            b"" if index in self.special else token.encode() if index in literal else spell(token)
            for index, token in enumerate(tokens)
        ]

    def __len__(self) -> int:
        return len(self.tokens)

    def label(self, token_id: int) -> str:
        """What to write on a token: its text, or the name of a control token."""
        if token_id >= len(self.tokens):
            return ""
        if token_id in self.special:
            return self.tokens[token_id]
        return self._bytes[token_id].decode(errors="replace")

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text of these tokens; bytes that are no UTF-8 become U+FFFD."""
        stream = self.stream()
        return "".join([stream.push(token_id) for token_id in token_ids]) + stream.flush()

    def stream(self) -> "TextStream":
        """A decoder for tokens that come one by one."""
        return TextStream(self._bytes, self._drop_first_space)


class TextStream:
    """Text of one answer as its tokens come: a character is given out when its last byte is there."""

    def __init__(self, token_bytes: list[bytes], drop_first_space: bool = False) -> None:
        self._token_bytes = token_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._drop_first_space = drop_first_space

    def push(self, token_id: int) -> str:
        """The characters that this token completes; an id beyond the vocabulary (padding of the model) has none."""
        if token_id >= len(self._token_bytes):
            return ""
        return self._first(self._decoder.decode(self._token_bytes[token_id]))

    def flush(self) -> str:
        """What is left at the end of the answer: U+FFFD for a character that was cut off."""
        return self._first(self._decoder.decode(b"", final=True))

    def _first(self, text: str) -> str:
        if self._drop_first_space and text:
            self._drop_first_space = False
            return text.removeprefix(" ")
        return text


def _byte_level(token: str) -> bytes:
    to_byte = byte_of_character()
    if all(character in to_byte for character in token):
        return bytes(to_byte[character] for character in token)
    return token.encode()


def _sentence_piece(token: str) -> bytes:
    byte = BYTE_TOKEN.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace("▁", " ").encode()


@lru_cache
def byte_of_character() -> dict[str, int]:
    """GPT-2's table: printable Latin-1 bytes are themselves, the others follow in order from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {
        **{chr(byte): byte for byte in printable},
        **{chr(0x100 + place): byte for place, byte in enumerate(others)},
    }
