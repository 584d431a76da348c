"""The engine with a real clock and a model behind it: requests come and go while it runs.

It has no thread: whoever owns it calls `step` as long as there is work, and everything else in between. The clock is
stamped once a step; a step ends when the time that its executor measured has passed. What was called is noted, so that
the run can be given back as a script.
"""

import time
from collections.abc import Callable, Sequence

from engine.admission import refusal
from engine.batch import Batch, StepOutput
from engine.executor.calibration import MeasuredStep
from engine.executor.executor import Executor
from engine.loop import Engine, trace_header
from engine.request import Prompt, Request, SamplingParams, SequenceStatus
from engine.script import Abort, Call, Script, Step, Submit
from engine.sequence import SequenceGroup
from engine.setting_values import shown
from engine.settings import Settings, SettingsError
from engine.trace.chunk import Chunk
from engine.trace.recorder import Recorder
from engine.trace.trace import Trace

SIMULATED = (
    "hardware", "model", "num_devices", "workspace", "step_time", "max_steps", "pow2_of", "num_host_blocks", "swap_sharing",
)  # fmt: skip
"""Settings that mean something to a simulated run only: a live one has a machine, a model and a clock, and never swaps."""
NOT_LIVE = ("keep_unwritten", *SIMULATED)
"""Settings that stay at their defaults in a live run."""
_DEFAULTS = Settings()


class LiveEngine:
    """`clock` gives seconds from any zero; the run's own clock begins at 0 now. `vocabulary` goes into the header of the
    trace: token id t is the word `vocabulary[t]`.

    Raises SettingsError for settings that no live run can have; see `check_settings`.
    """

    def __init__(
        self,
        settings: Settings,
        executor: Executor,
        *,
        name: str = "live",
        vocabulary: Sequence[str] = (),
        clock: Callable[[], float] = time.perf_counter,
        recorder: Recorder | None = None,
    ) -> None:
        check_settings(settings)
        self.settings = settings
        self.header = trace_header(settings, name, vocabulary)
        self._measured = Measured(executor)
        self._recorder = recorder or Recorder(self.header)
        self._recorder.seals = False
        self.engine = Engine(settings, self._recorder, self._measured, lengths_known=False)
        self._clock = clock
        self._zero = clock()
        self._names: set[str] = set()
        self._calls: list[Call] = []
        self._chunks: list[Chunk] = []
        self._is_broken = False

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._zero

    @property
    def has_work(self) -> bool:
        """Whether any request is under way."""
        return not self._is_broken and self.engine.num_done < len(self.engine.groups)

    @property
    def measured(self) -> list[MeasuredStep]:
        """The steps so far, for a calibration."""
        return self._measured.steps

    def submit(
        self,
        prompt_token_ids: Sequence[int],
        sampling: SamplingParams,
        *,
        request_id: str | None = None,
        arrived: float | None = None,
        tenant: str = "",
        priority: int = 0,
    ) -> SequenceGroup:
        """Queue a request that arrived now, or at `arrived` of the run's clock. One that can never run is REJECTED, and
        `why_refused` says why. Raises ValueError for an id that is taken."""
        number = len(self.engine.groups)
        name = f"r{number}" if request_id is None else request_id
        if name in self._names:
            raise ValueError(f"There is a request {name!r} already; give this one another id.")
        self._names.add(name)
        time = self.now if arrived is None else min(arrived, self.now)
        request = Request(name, time, Prompt.of_ids(prompt_token_ids), sampling, tenant, priority)
        self._calls.append(Submit(request))
        return self.engine.submit(request)

    def why_refused(self, group: SequenceGroup) -> str | None:
        """One sentence for a request that can never run, None for any other."""
        if group.status is not SequenceStatus.REJECTED:
            return None
        refused = refusal(group, self.settings, self.engine.kv, lengths_known=False)
        return None if refused is None else refused.sentence

    def abort(self, request_id: str) -> bool:
        """Take a request back; its tokens so far stay. False when none of that name is under way."""
        is_under_way = self.engine.abort(request_id)
        if is_under_way:
            self._calls.append(Abort(request_id, max(self.engine.clock, self.now)))
        return is_under_way

    def step(self) -> Batch | None:
        """One pass of the loop; None when nothing was computed: an answer ended for want of memory, or nobody may run."""
        if not self.has_work:
            return None
        self.engine.clock = max(self.engine.clock, self.now)
        self._calls.append(Step(self.engine.clock))
        try:
            return self.engine.step()
        except BaseException:
            self._is_broken = True
            raise

    def drain(self) -> Chunk:
        """What has happened since the last call."""
        chunk = self._recorder.drain()
        self._chunks.append(chunk)
        return chunk

    def trace(self) -> Trace:
        """The whole run so far."""
        self.drain()
        return Trace.of(self._recorder.header, self._chunks)

    def script(self) -> Script:
        """The run so far as a script for `replay`."""
        tokens: dict[tuple[int, int], tuple[int, ...]] = {
            (group.index, seq.sample): tuple(seq.output_token_ids)
            for group in self.engine.groups
            for seq in group.sequences
        }
        return Script(
            name=self.header["name"],
            settings=self.settings,
            calls=tuple(self._calls),
            tokens=tokens,
            durations=tuple(step.duration for step in self.measured),
            vocabulary=self.header.get("vocabulary", ()),
        )


def check_settings(settings: Settings) -> None:
    """Raises SettingsError for memory that has to know how long an answer gets or would hand out blocks that no model has
    written, and for settings that a live run takes no notice of."""
    if settings.kv_manager in ("pow2", "oracle"):
        raise SettingsError(
            f"kv_manager is {settings.kv_manager!r}, which knows how long an answer gets; a live run does not, "
            "choose paged or radix."
        )
    if settings.keep_unwritten:
        raise SettingsError(
            "keep_unwritten is true, which keeps blocks known that no model has written; a live run would answer wrongly "
            "from them, set it to false."
        )
    for name in SIMULATED:
        value = getattr(settings, name)
        if value != getattr(_DEFAULTS, name):
            raise SettingsError(
                f"{name} is {shown(value)}, which means something in simulated runs only; leave it out of a live one."
            )


class Measured:
    """Passes batches on and keeps what each step took."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.steps: list[MeasuredStep] = []

    def execute(self, batch: Batch) -> StepOutput:
        output = self._executor.execute(batch)
        sums = (batch.num_tokens, batch.num_kv_read, batch.num_attention_pairs)
        self.steps.append(MeasuredStep(*sums, output.duration))
        return output
