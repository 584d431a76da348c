"""Jobs: what a page sees of work that runs in the background."""

from threading import Event

import pytest

from engine.settings import SettingsError
from viz.pages.parts.jobs import MAX_RUNNING, Job, Report, State

PATIENCE = 20.0


def test_a_job_hands_out_its_result() -> None:
    job = Job(lambda report: 6 * 7)
    assert job.wait(PATIENCE)
    assert (job.state, job.result, job.ended) == (State.DONE, 42, True)


def test_a_bad_input_becomes_its_sentence() -> None:
    def work(report: Report) -> None:
        raise SettingsError("block_size is 0; it has to be between 1 and 65536.")

    job = Job(work)
    assert job.wait(PATIENCE)
    assert (job.state, job.problem) == (State.FAILED, "block_size is 0; it has to be between 1 and 65536.")


def test_a_fault_of_ours_shows_no_inside(caplog: pytest.LogCaptureFixture) -> None:
    job = Job(lambda report: {}["secret"])
    assert job.wait(PATIENCE)
    assert job.state is State.FAILED
    assert "secret" not in job.problem and "log of the server" in job.problem
    assert "KeyError" in caplog.text


def test_stop_ends_the_work_at_its_next_report() -> None:
    reported, stopped = Event(), Event()

    def work(report: Report) -> str:
        report(0.25, "a quarter")
        reported.set()
        stopped.wait(PATIENCE)
        report(0.5, "half")
        return "never"

    job = Job(work)
    assert reported.wait(PATIENCE)
    assert (job.fraction, job.note, job.ended) == (0.25, "a quarter", False)
    job.stop()
    stopped.set()
    assert job.wait(PATIENCE)
    assert (job.state, job.result, job.fraction) == (State.STOPPED, None, 0.25)


def test_a_job_waits_for_the_one_before_and_can_be_stopped_there() -> None:
    go = Event()
    first = Job(lambda report: go.wait(PATIENCE))
    second = Job(lambda report: first.ended, after=first)
    third = Job(lambda report: "ran", after=second)
    assert not second.wait(0.2)
    assert (second.state, third.state) == (State.WAITING, State.WAITING)
    third.stop()
    assert third.wait(PATIENCE)
    go.set()
    assert second.wait(PATIENCE)
    assert (second.result, third.state) == (True, State.STOPPED)


def test_only_so_many_jobs_run_at_a_time() -> None:
    go = Event()
    running = [Job(lambda report: go.wait(PATIENCE)) for _ in range(MAX_RUNNING)]
    last = Job(lambda report: "ran")
    assert not last.wait(0.2)
    assert last.state is State.WAITING
    go.set()
    assert last.wait(PATIENCE) and all(job.wait(PATIENCE) for job in running)
    assert last.result == "ran"
