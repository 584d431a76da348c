"""A live run served once more at the step times of a cost model: when would everything have happened?

Scheduler, managers and settings are those of the run, and every answer is the one that the model gave. A request comes at
the start of the step that followed it in the run, because a live engine takes in between two steps all that has come by
then. One that was taken back is taken back at the same moment of the clock. It has no more tokens than the model had said
by then; when they are out, it ends there.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count

from engine.batch import Batch, StepOutput
from engine.executor.scripted import Tokens, sampled
from engine.executor.simulated import SimulatedExecutor, StepTimes
from engine.loop import PROGRESS_EVERY, Engine, Progress, trace_header
from engine.script import Abort, Script, Step, Submit
from engine.sequence import Sequence as EngineSequence
from engine.sequence import SequenceGroup
from engine.trace.chunk import Word
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace


def predict(
    script: Script, step_times: StepTimes, words: Iterable[Word] = (), progress: Progress | None = None
) -> Trace:
    """The trace of the run by `step_times`. `words` are those of the run: they stay with their tokens, since requests and
    sequences have the same numbers. `progress` is called now and then; it may raise to stop."""
    recorder = Recorder(trace_header(script.settings, script.name, script.vocabulary))
    engine = Engine(script.settings, recorder, _Executor(script.tokens, step_times), lengths_known=False)
    calls = deque(_timed(script))
    going: list[SequenceGroup] = []
    while True:
        while calls and calls[0][0] <= engine.clock:
            call = calls.popleft()[1]
            if isinstance(call, Submit):
                going.append(engine.submit(call.request))
            else:
                engine.abort(call.request_id)
        going = [group for group in going if not group.is_over]
        for group in going:
            if any(_is_out(seq, script.tokens) for seq in group.unfinished):
                engine.abort(group.request.request_id)
        if not calls and engine.num_done == len(engine.groups):
            break
        num_done = engine.num_done
        if engine.step() is not None:
            if progress is not None and engine.num_steps % PROGRESS_EVERY == 0:
                progress(engine)
        elif engine.num_done == num_done:
            # nobody can run until something comes, or for good
            if calls:
                engine.clock = max(engine.clock, calls[0][0])
            else:
                for group in going:
                    engine.abort(group.request.request_id)
    chunk = recorder.drain()
    chunk.words = _said(words, engine.groups)
    return Trace.of(recorder.header, [chunk])


def _timed(script: Script) -> list[tuple[float, Submit | Abort]]:
    """Requests and what was taken back, each with its moment, in order: of a request the start of the next step, of one that
    was taken back its own time."""
    starts: list[float | None] = [None]
    for call in reversed(script.calls):
        starts.append(call.start if isinstance(call, Step) else starts[-1])
    timed: list[tuple[float, Submit | Abort]] = []
    came: dict[str, float] = {}
    latest = 0.0
    for call, start in zip(script.calls, reversed(starts[:-1]), strict=True):
        if isinstance(call, Submit):
            latest = max(latest, call.request.arrival_time if start is None else start)
            came[call.request.request_id] = latest
            timed.append((latest, call))
        elif isinstance(call, Abort):
            timed.append((max(call.time, came[call.request_id]), call))
    return sorted(timed, key=lambda entry: entry[0])


def _is_out(seq: EngineSequence, tokens: Tokens) -> bool:
    """Whether it has said all that is known of it. Of one that had said nothing the first token is let pass."""
    return len(seq.output_token_ids) >= max(1, len(tokens.get((seq.group.index, seq.sample), ())))


def _said(words: Iterable[Word], groups: Sequence[SequenceGroup]) -> list[Word]:
    """The words of prompts, and of the tokens that came out."""
    ends = [group.prompt_len + len(seq.output_token_ids) for group in groups for seq in group.sequences]
    return [word for word in words if word.position < ends[word.sequence]]


class _Executor:
    """The tokens of the run at the step times of a cost model. A token that the run does not know is no stop token."""

    def __init__(self, tokens: Tokens, step_times: StepTimes) -> None:
        self._tokens = tokens
        self._clock = SimulatedExecutor(step_times)

    def execute(self, batch: Batch) -> StepOutput:
        return StepOutput(self._clock.execute(batch).duration, sampled(batch, self._next))

    def _next(self, seq: EngineSequence) -> int:
        known, place = self._tokens.get((seq.group.index, seq.sample), ()), len(seq.output_token_ids)
        stops = seq.group.request.sampling.stop_token_ids
        return known[place] if place < len(known) else next(token for token in count() if token not in stops)
