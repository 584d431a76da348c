"""Uploaded files: kept by content, bounded, found again."""

from io import BytesIO

import pytest

from scenarios.readers import ReadError
from scenarios.source import Cut
from viz.pages.parts import uploads
from viz.pages.parts.uploads import GONE, MAX_FILES, SAVED_RUN, SCENARIO, TRACE, OwnNames, Uploads, content_of

HEADER = b"arrived_at,num_prefill_tokens,num_decode_tokens\n"
PATIENCE = 20.0


def test_a_file_is_kept_by_content_and_found_by_its_digest() -> None:
    store = Uploads()
    upload = store.keep(BytesIO(b"a,b\n1,2\n"), "trace.csv")
    assert (upload.name, upload.size, upload.path.read_bytes()) == ("trace.csv", 8, b"a,b\n1,2\n")
    assert store.find(upload.digest) == upload
    assert store.keep(BytesIO(b"a,b\n1,2\n"), "again.csv").digest == upload.digest


def test_a_name_from_outside_never_becomes_a_path() -> None:
    store = Uploads()
    upload = store.keep(BytesIO(b"x"), "../../<b>evil</b>.csv")
    assert upload.path.name.isalnum() and "evil" not in str(upload.path)


def test_the_oldest_file_goes_when_there_are_too_many() -> None:
    store = Uploads()
    kept = [store.keep(BytesIO(bytes([i])), f"{i}.csv") for i in range(MAX_FILES + 1)]
    assert store.find(kept[0].digest) is None and not kept[0].path.exists()
    assert all(store.find(upload.digest) is not None for upload in kept[1:])


def test_an_unknown_digest_finds_nothing() -> None:
    assert Uploads().find(None) is None
    assert Uploads().find("0" * 16) is None


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"a,b\n1,2\n", TRACE),
        (b'{"timestamp": 1, "input_length": 2}\n', TRACE),
        (b'\xef\xbb\xbf {"kvscope_scenario": 1}', SCENARIO),
        (b"KVSCOPE1", SAVED_RUN),
        (b"", TRACE),
    ],
)
def test_a_file_is_known_by_its_content(content: bytes, kind: str) -> None:
    assert Uploads().keep(BytesIO(content), "x").kind == kind


def test_each_session_sees_the_name_that_it_has_given_a_file() -> None:
    files = Uploads()
    ann, bob, guest = OwnNames(files, {}), OwnNames(files, {}), OwnNames(files, {})
    digest = ann.keep(BytesIO(b"a,b\n1,2\n"), "ann.csv").digest
    assert bob.keep(BytesIO(b"a,b\n1,2\n"), "bob.csv").digest == digest
    found = [one.find(digest) for one in (ann, bob, guest)]
    assert [upload and upload.name for upload in found] == ["ann.csv", "bob.csv", "bob.csv"]
    assert len({content_of(upload, Cut()) for upload in found if upload}) == 2


def test_the_reading_tells_rows_as_rows() -> None:
    store = Uploads()
    upload = store.keep(BytesIO(HEADER + b"0.0,20,4\n" * 5_000), "trace.csv")
    notes: list[tuple[float, str]] = []
    uploads._read(upload, Cut(), lambda fraction, note: notes.append((fraction, note)))
    assert notes == [(0.0, "0 rows"), (0.0, "4,096 rows")]


@pytest.mark.parametrize("content", [HEADER + b"0.0,20,4\n", b'{"kvscope_scenario": 1}', b"KVSCOPE1"])
def test_a_file_that_went_before_it_was_read_is_told_in_one_sentence(content: bytes) -> None:
    store = Uploads()
    upload = store.keep(BytesIO(content), "trace.csv")
    upload.path.unlink()
    with pytest.raises(ReadError) as error:
        uploads._read(upload, Cut(), lambda fraction, note: None)
    assert str(error.value) == GONE


def test_a_file_that_comes_back_is_read_again() -> None:
    store = Uploads()
    upload = store.keep(BytesIO(HEADER + b"0.0,21,4\n"), "back.csv")
    upload.path.unlink()
    job = uploads.reading(upload, Cut())
    assert job.wait(PATIENCE) and job.problem == GONE
    store.keep(BytesIO(HEADER + b"0.0,21,4\n"), "back.csv")
    job = uploads.reading(upload, Cut())
    assert job.wait(PATIENCE) and job.result is not None
    assert job.result.total == "1 requests"
