"""Buttons that hand out what is on the screen: an offline page, a scenario file with these settings, the saved run.

A file is made when its button is pressed, not before; pressing it leaves the page and a run that is playing alone.
"""

import json
import re
from collections.abc import Callable, Sequence
from io import BytesIO

import streamlit as st

from engine.trace.trace import Trace
from scenarios.scenario import Scenario
from viz.export import offline_page
from viz.pages.parts.runs import LANGUAGE, Finished

MAX_NAME = 80


def of_run(scenario: Scenario, run: str, finished: Finished) -> None:
    """All three files of one run of a scenario, whose settings are those of the run."""
    name = f"{scenario.name}-{run}"
    with st.container(key="download", horizontal=True, vertical_alignment="center"):
        offline([finished.blob], scenario.title[LANGUAGE], name)
        _button("Save as scenario file", lambda: scenario_file(scenario), f"{scenario.name}.json", "application/json")
        _button("Saved run (.kvscope)", lambda: saved_run(finished.trace), f"{name}.kvscope")


def offline(blobs: Sequence[bytes], title: str, name: str) -> None:
    """The button 'Offline page' for one to three runs, each the bytes of the player."""
    _button("Offline page", lambda: offline_page(blobs, title=title), f"{name}.html", "text/html")


def scenario_file(scenario: Scenario) -> str:
    """The JSON text that `python -m scenarios run` takes; the same runs with the same settings."""
    return json.dumps(scenario.dump(), indent=1, ensure_ascii=False, allow_nan=False)


def saved_run(trace: Trace) -> bytes:
    stream = BytesIO()
    trace.save(stream)
    return stream.getvalue()


def file_name(text: str) -> str:
    """A name that every file system takes, whatever the scenario or the uploaded file is called."""
    stem, _, suffix = text.rpartition(".")
    plain = re.sub(r"[^\w-]+", "-", stem)[:MAX_NAME].strip("-")
    return f"{plain or 'run'}.{suffix}"


def _button(label: str, data: Callable[[], str | bytes], name: str, mime: str = "application/octet-stream") -> None:
    st.download_button(label, data, file_name(name), mime, key=f"download-{label}", on_click="ignore")
