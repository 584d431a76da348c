"""Uploaded files: kept on disk by content, read in the background, and known again after a rerun or on another page.

A page remembers only the digest of its file and the name that its own session has given it. The last eight files stay
until the server ends; an older one has to be uploaded again. It is a trace file, a scenario file or a saved run; what is in
it is decided by the readers of `scenarios`.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import BinaryIO

import streamlit as st

from scenarios.readers import ReadError
from scenarios.source import HEAD_BYTES, MAGIC, SCENARIO_KEY, Cut, Source, find, trace_file
from viz.pages.parts.jobs import FOR_USERS, Job, Report
from viz.pages.parts.visitor import shared

MAX_FILES = 8
MAX_READ = 8
MAX_MEGABYTES = 200
LARGE = 500_000
FIRST_OF_LARGE = 2_000
PIECE = 1 << 20
TRACE, SCENARIO, SAVED_RUN = "trace file", "scenario file", "saved run"
GONE = "This file is not, or no longer, kept on this server; upload it again."


@dataclass(frozen=True)
class Upload:
    """A file on disk: its name as the user has it, its digest, its path, its size in bytes, and what it looks like."""

    name: str
    digest: str
    path: Path
    size: int
    kind: str = TRACE


class Uploads:
    """The files of all sessions, newest last."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="kvscope-")
        self._files: OrderedDict[str, Upload] = OrderedDict()
        self._lock = Lock()

    def keep(self, source: BinaryIO, name: str) -> Upload:
        """Copy `source` to disk piece by piece; the same content is kept once."""
        digest, size = hashlib.sha256(), 0
        draft = Path(self._folder.name) / f"draft-{id(source)}"
        source.seek(0)
        with draft.open("wb") as target:
            while piece := source.read(PIECE):
                digest.update(piece)
                size += target.write(piece)
        path = draft.with_name(digest.hexdigest())
        upload = Upload(name, digest.hexdigest()[:16], path, size, _kind(draft))
        with self._lock:
            draft.replace(path)
            self._files.pop(upload.digest, None)
            self._files[upload.digest] = upload
            while len(self._files) > MAX_FILES:
                self._files.popitem(last=False)[1].path.unlink(missing_ok=True)
        return upload

    def find(self, digest: str | None) -> Upload | None:
        with self._lock:
            return self._files.get(digest or "")


@dataclass(frozen=True)
class OwnNames:
    """The files of all sessions as one session knows them: one that it has uploaded itself has the name it had there."""

    files: Uploads
    names: dict[str, str]

    def keep(self, source: BinaryIO, name: str) -> Upload:
        upload = self.files.keep(source, name)
        self.names[upload.digest] = name
        return upload

    def find(self, digest: str | None) -> Upload | None:
        upload = self.files.find(digest)
        return None if upload is None else replace(upload, name=self.names.get(upload.digest, upload.name))


def store() -> OwnNames:
    """The files of this server, under the names of this session."""
    return OwnNames(_files(), st.session_state.setdefault("file names", {}))


@st.cache_resource(show_spinner=False)
def _files() -> Uploads:
    return Uploads()


def first_cut(upload: Upload | None) -> Cut:
    """What is read before anything else was chosen: all of a file, or the beginning of a trace of more than LARGE bytes."""
    is_large = upload is not None and upload.kind == TRACE and upload.size > LARGE
    return Cut(first=FIRST_OF_LARGE) if is_large else Cut()


def reading(upload: Upload, cut: Cut) -> Job[Source]:
    """The job that reads this part of the file: the requests and runs of a trace or scenario file, or a saved run."""
    args = content_of(upload, cut), upload, cut
    job = shared(_reading, *args)
    if job.problem == GONE and upload.path.exists():
        _reading.clear(*args)
        job = shared(_reading, *args)
    return job


def forget_reading(upload: Upload, cut: Cut) -> None:
    """Forget that this session has stopped the reading, so that it waits for it again."""
    reading(upload, cut).ask_again()


def content_of(upload: Upload, cut: Cut) -> str:
    """What arrives, and its name: the same for the same part of the same file under the same name."""
    return f"{upload.digest} {cut} {upload.name}"


@st.cache_resource(max_entries=MAX_READ, show_spinner=False, on_release=Job.stop)
def _reading(key: str, _upload: Upload, _cut: Cut) -> Job[Source]:
    return Job(lambda report: _read(_upload, _cut, report))


def _read(upload: Upload, cut: Cut, report: Report) -> Source:
    def progress(num_rows: int) -> None:
        report(0.0, f"{num_rows:,} rows")

    try:
        return find(str(upload.path)) if upload.kind != TRACE else trace_file(upload.path, upload.name, cut, progress)
    except (OSError, *FOR_USERS):
        if upload.path.exists():
            raise
        raise ReadError(GONE) from None


def _kind(path: Path) -> str:
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if head.startswith(MAGIC):
        return SAVED_RUN
    is_scenario = SCENARIO_KEY in head and head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    return SCENARIO if is_scenario else TRACE
