"""The zero-hit doctor at work: how far it is, how it is stopped, and what is not done twice."""

from collections.abc import Callable
from threading import Event

import pytest

from engine.trace.doctor import diagnose
from engine.trace.trace import Trace
from tests.viz.app_pages import texts
from tests.viz.test_doctor import UNIT, A, B, cache_tab, run_of
from viz.pages.parts import charts, doctor, doctor_jobs, page
from viz.pages.parts.jobs import Stopped


class _Slow:
    """A diagnosis that takes its time: it says 3 of 7 until `go` is set."""

    def __init__(self) -> None:
        self.go, self.stopped = Event(), Event()

    def __call__(self, trace: Trace, progress: Callable[[int, int], None]) -> object:
        try:
            while not self.go.wait(0.01):
                progress(3, 7)
        except Stopped:
            self.stopped.set()
            raise
        return diagnose(trace)


def test_a_long_diagnosis_shows_how_far_it_is_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = _Slow()
    monkeypatch.setattr(doctor_jobs, "diagnose", slow)
    monkeypatch.setattr(page, "PATIENCE", 0.2)
    doctor_jobs._diagnoses.clear()
    app = cache_tab("two-chats-two-shots")
    assert not app.exception
    assert "The prompts are being compared: 3 of 7 admissions" in texts(app)
    other = cache_tab("four-samples", **{charts.KEY: charts.FIGURES})
    assert not other.exception and "Figures of this run" in texts(other), "others are not held up"
    app.button(key="stop").click().run()
    app.run()
    assert slow.stopped.wait(20.0)
    assert "This was ended before it was finished." in texts(app)
    slow.go.set()
    monkeypatch.setattr(page, "PATIENCE", 20.0)
    next(button for button in app.button if button.label == "Compare again").click().run()
    assert not app.exception and len(app.selectbox(key=doctor.REQUEST).options) == 5


def test_equal_runs_are_diagnosed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Trace] = []
    monkeypatch.setattr(doctor_jobs, "diagnose", lambda trace, progress: asked.append(trace) or diagnose(trace))
    doctor_jobs._diagnoses.clear()
    first, again, other = run_of(UNIT, A[:8], B[:8]), run_of(UNIT, A[:8], B[:8]), run_of(UNIT, A[:8], A[:8])
    jobs = [doctor_jobs._diagnoses(trace.run_id, trace) for trace in (first, again, other)]
    assert all(job.wait(20.0) for job in jobs)
    assert jobs[0].result == jobs[1].result != jobs[2].result
    assert len(asked) == 2
