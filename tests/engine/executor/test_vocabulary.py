"""Bytes of tokens, and text that never shows half a character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.executor.vocabulary import Vocabulary, byte_of_character
from tests.engine.executor.tiny_checkpoint import CHARACTERS

BYTES = Vocabulary([*CHARACTERS, "Ġwe", "<|end|>", "<tool>"], byte_level=True, special=[257], literal=[258])
"""Token i is byte i; then a word, a control token and a token that is added as it is spelled."""
PIECES = Vocabulary(["▁he", "llo", "▁", "<0xE2>", "<0x98>", "<0x83>"], byte_level=False)


def test_the_table_of_gpt2_has_a_character_for_each_byte() -> None:
    table = byte_of_character()
    assert (table["A"], table["Ġ"], table["Ċ"], table["Ā"], len(table)) == (65, 32, 10, 0, 256)


def test_a_character_comes_with_its_last_byte() -> None:
    stream = BYTES.stream()
    assert [stream.push(byte) for byte in "a☃".encode()] == ["a", "", "", "☃"]
    assert stream.flush() == ""


def test_a_character_that_was_cut_off_is_marked_at_the_end() -> None:
    stream = BYTES.stream()
    assert [stream.push(byte) for byte in "🙂".encode()[:3]] == ["", "", ""]
    assert stream.flush() == "\ufffd"


def test_a_control_token_between_two_bytes_does_not_break_a_character() -> None:
    assert BYTES.decode([0xC3, 257, 0xA9]) == "é"


def test_control_tokens_have_a_label_but_no_text() -> None:
    assert BYTES.decode([256, 257, 258]) == " we<tool>"
    assert [BYTES.label(index) for index in (256, 257, 258, 0xC3)] == [" we", "<|end|>", "<tool>", "\ufffd"]


def test_rows_of_the_model_without_a_token_have_no_text() -> None:
    assert BYTES.decode([72, 9999, 105]) == "Hi" and BYTES.label(9999) == ""


def test_sentence_pieces_start_without_a_space() -> None:
    assert PIECES.decode([0, 1, 0, 1]) == "hello hello"
    assert PIECES.decode([0, 3, 4, 5]) == "he☃"


@given(st.text())
def test_text_comes_back_from_its_bytes(text) -> None:
    assert BYTES.decode(text.encode()) == text


@given(st.lists(st.integers(0, 300), max_size=40))
def test_a_stream_and_a_finished_answer_read_the_same(ids) -> None:
    stream = BYTES.stream()
    pushed = [stream.push(index) for index in ids]
    assert "".join(pushed) + stream.flush() == BYTES.decode(ids)


@given(st.text(min_size=1))
def test_valid_text_is_never_marked_while_it_streams(text) -> None:
    stream = BYTES.stream()
    pushed = [stream.push(byte) for byte in text.encode()]
    assert [part for part in pushed if part] == list(text)


@pytest.mark.parametrize("data", [b"\xff", b"\xc3(", b"\xe2\x98", b"\xf0\x9f\x99", b"\xed\xa0\x80"])
def test_bytes_that_are_no_text_are_marked_as_python_marks_them(data) -> None:
    assert BYTES.decode(data) == data.decode(errors="replace")
