"""Lines come out the same from paths, bytes and open files, packed or not, and never without a limit."""

import gzip
import io
import os
from pathlib import Path

import pytest

from scenarios.readers import ReadError, read
from scenarios.readers import source as source_module
from scenarios.readers.source import open_lines

ROWS = "id,arrival_s,prompt_len,output_len\na,0,5,2\nb,1,6,3\n"


def lines(data: bytes) -> list[str | None]:
    with open_lines(data, "the file") as opened:
        return [line for _, line in opened]


def lengths(trace_file) -> list[tuple[str, int, int]]:
    return [(r.request_id, r.prompt.num_tokens, r.sampling.max_tokens) for r in trace_file.requests]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("is_last_line_open", [False, True])
def test_line_ends_marks_and_a_last_line_without_end_change_nothing(ending, encoding, is_last_line_open):
    text = ROWS.rstrip("\n") if is_last_line_open else ROWS
    data = text.replace("\n", ending).encode(encoding)
    assert lengths(read(data)) == [("a", 5, 2), ("b", 6, 3)]


def test_a_path_an_open_file_and_bytes_read_alike(tmp_path: Path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    expected = lengths(read(ROWS.encode()))
    assert lengths(read(path)) == expected
    with path.open("rb") as file:
        assert lengths(read(file)) == expected
        assert lengths(read(file)) == expected
        assert not file.closed


def test_gzip_is_told_by_its_first_bytes_and_may_have_members():
    packed = gzip.compress(ROWS[:50].encode()) + gzip.compress(ROWS[50:].encode())
    assert lengths(read(packed)) == [("a", 5, 2), ("b", 6, 3)]


def test_a_truncated_archive_is_one_sentence():
    packed = gzip.compress(ROWS.encode())
    for length in range(2, len(packed)):
        with pytest.raises(ReadError, match=r"gzip archive|is empty"):
            read(packed[:length])


def test_a_damaged_archive_is_one_sentence():
    packed = bytearray(gzip.compress(ROWS.encode()))
    packed[15] ^= 0xFF
    with pytest.raises(ReadError, match="gzip archive"):
        read(bytes(packed))


def test_what_unpacks_to_more_than_the_limit_is_cut_at_a_line(monkeypatch):
    monkeypatch.setattr(source_module, "MAX_BYTES", 48)
    trace_file = read(gzip.compress(ROWS.encode()))
    assert lengths(trace_file) == [("a", 5, 2)]
    assert trace_file.num_rows == 1
    assert any(note.startswith("Only the first") for note in trace_file.notes)


def test_more_lines_than_the_limit_are_not_read(monkeypatch):
    monkeypatch.setattr(source_module, "MAX_LINES", 2)
    trace_file = read(ROWS.encode())
    assert lengths(trace_file) == [("a", 5, 2)]
    assert trace_file.notes == ["Only the first 2 lines were read; the rest of the file is not used."]


def test_a_line_that_is_too_long_costs_itself_only(monkeypatch):
    monkeypatch.setattr(source_module, "MAX_LINE", 40)
    trace_file = read((ROWS + "c" * 200 + ",2,7,4\nd,3,8,5\n").encode())
    assert lengths(trace_file) == [("a", 5, 2), ("b", 6, 3), ("d", 8, 5)]
    assert [(r.line, r.reason) for r in trace_file.rejected] == [(4, "text")]
    assert trace_file.num_rows == 4


def test_bytes_that_are_no_utf_8_cost_a_character_not_a_row():
    data = b"id,arrival_s,prompt_len,output_len\ncaf\xe9,0,5,2\n"
    assert lengths(read(data)) == [("caf\N{REPLACEMENT CHARACTER}", 5, 2)]


def test_lines_keep_their_ends():
    assert lines(b"a\r\nb\nc") == ["a\r\n", "b\n", "c"]


def test_a_stream_that_cannot_seek_is_read_from_where_it_stands():
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    assert lengths(read(Pipe(ROWS.encode()))) == [("a", 5, 2), ("b", 6, 3)]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (ROWS.encode("utf-32"), "UTF-32 text"),
        (ROWS.encode("utf-16-le"), "UTF-16 text without a byte order mark"),
        (ROWS.encode("utf-16-be"), "UTF-16 text without a byte order mark"),
        (gzip.compress(ROWS.encode("utf-16-le")), "UTF-16 text without a byte order mark"),
        (gzip.compress(gzip.compress(ROWS.encode())), "packed with gzip twice"),
    ],
    ids=["utf-32", "utf-16-le", "utf-16-be", "utf-16 in gzip", "gzip in gzip"],
)
def test_what_is_not_read_is_called_by_its_name(data, what):
    with pytest.raises(ReadError) as error:
        read(data)
    assert str(error.value).startswith(f"the file is {what}; ")


def test_a_named_pipe_is_refused_without_waiting_for_its_writer(tmp_path: Path):
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(ReadError, match=r"rows\.csv is a pipe; save what comes out of it to a file first\."):
        read(tmp_path / "rows.csv")
    with pytest.raises(ReadError, match="null is a device"):
        read(Path("/dev/null"))
