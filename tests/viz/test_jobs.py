"""Jobs: what a page sees of work that runs in the background."""

import gc
from threading import Event

import pytest

from engine.settings import SettingsError
from viz.pages.parts.jobs import MAX_RUNNING, Job, Report, State, Stopped, Visitor

PATIENCE = 20.0


class Steady:
    """Work that reports all the time until `go` is set; `stopped` is set when it was made to end before."""

    def __init__(self) -> None:
        self.go, self.stopped = Event(), Event()

    def __call__(self, report: Report) -> str:
        try:
            while not self.go.wait(0.01):
                report(0.5, "half")
        except Stopped:
            self.stopped.set()
            raise
        return "done"


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
    nothing: dict[str, str] = {}
    job = Job(lambda report: nothing["secret"])
    assert job.wait(PATIENCE)
    assert job.state is State.FAILED
    assert "secret" not in job.problem and "log of the server" in job.problem
    assert "KeyError" in caplog.text


def test_stop_ends_the_work_at_its_next_report() -> None:
    reported, stopped, passed = Event(), Event(), Event()

    def work(report: Report) -> str:
        report(0.25, "a quarter")
        reported.set()
        stopped.wait(PATIENCE)
        try:
            report(0.5, "half")
        finally:
            passed.set()
        return "never"

    job = Job(work)
    assert reported.wait(PATIENCE)
    assert (job.fraction, job.note, job.ended) == (0.25, "a quarter", False)
    job.stop()
    stopped.set()
    assert passed.wait(PATIENCE) and job.wait(PATIENCE)
    assert (job.state, job.result, job.fraction) == (State.STOPPED, None, 0.25)


def test_one_who_lets_go_sees_it_stopped_and_the_other_gets_the_result() -> None:
    work = Steady()
    job = Job(work)
    ann, bob = job.of(Visitor()), job.of(Visitor())
    ann.stop()
    assert (ann.state, ann.ended, ann.wait(0)) == (State.STOPPED, True, True)
    assert not work.stopped.wait(0.2) and not bob.ended
    work.go.set()
    assert bob.wait(PATIENCE)
    assert (bob.state, bob.result, ann.state) == (State.DONE, "done", State.STOPPED)
    ann.ask_again()
    assert (ann.state, ann.result) == (State.DONE, "done")


def test_work_ends_when_the_last_of_those_who_wait_has_let_go() -> None:
    work = Steady()
    job = Job(work)
    ann, bob = job.of(Visitor()), job.of(Visitor())
    ann.stop()
    bob.stop()
    assert work.stopped.wait(PATIENCE)


def test_a_visitor_who_is_gone_neither_ends_work_nor_keeps_it_alive() -> None:
    work = Steady()
    job = Job(work)
    ann, bob = job.of(Visitor()), job.of(Visitor())
    del bob
    gc.collect()
    assert not work.stopped.wait(0.2) and ann.state is State.RUNNING
    ann.stop()
    assert work.stopped.wait(PATIENCE)


def test_one_who_has_let_go_may_ask_again_while_the_work_goes_on() -> None:
    work, visitor = Steady(), Visitor()
    job = Job(work)
    ann, bob = job.of(visitor), job.of(Visitor())
    ann.stop()
    assert job.of(visitor).is_let_go
    ann.ask_again()
    bob.stop()
    assert not work.stopped.wait(0.2) and not job.of(visitor).is_let_go
    ann.stop()
    assert work.stopped.wait(PATIENCE)


def test_stop_comes_too_late_for_work_that_has_ended() -> None:
    job = Job(lambda report: 42)
    assert job.wait(PATIENCE)
    job.stop()
    assert (job.state, job.result) == (State.DONE, 42)


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
