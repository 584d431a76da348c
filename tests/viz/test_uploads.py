"""Uploaded files: kept by content, bounded, found again."""

from io import BytesIO

import pytest

from viz.pages.parts.uploads import MAX_FILES, SAVED_RUN, SCENARIO, TRACE, Uploads


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
