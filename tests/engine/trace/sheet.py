"""A trace written on paper: steps of equal length and rows placed in them by hand."""

import numpy as np

from engine.request import SequenceStatus
from engine.settings import Settings
from engine.trace.chunk import Chunk
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS

WAITING, PREFILL, DECODE, PREEMPTED, FINISHED = (
    int(SequenceStatus[name]) for name in ("WAITING", "PREFILL", "DECODE", "PREEMPTED", "FINISHED")
)
START, LAST = 1, 2  # events of a step: the first one, and the last of its schedule range, at which its tokens appear
EVENTS_PER_STEP = 4  # two of the schedule, two of the update


class Sheet:
    """A trace on paper: steps of equal length and rows placed in them; event `step.e` is the e-th event of a step."""

    def __init__(self, pool: int, block_size: int = 1, step_time: float = 1.0, **settings):
        self.header = {
            "format": 1,
            "name": "sheet",
            "settings": Settings(**settings).as_dict(),
            "pools": [{"name": "gpu", "first": 0, "size": pool}],
            "block_size": block_size,
            "tracks": ["requests", "sequences"],
            "time_unit": "s",
        }
        self.step_time = step_time
        self.requests: list[dict] = []
        self.rows: dict[str, list] = {}
        self.happenings: list = []
        self.decisions: list = []

    def request(self, prompt_len: int, output_len: int, arrival: float = 0.0, n: int = 1) -> None:
        first = sum(request["n"] for request in self.requests)
        self.requests.append(
            {"id": f"R{len(self.requests) + 1}", "prompt_len": prompt_len, "output_len": output_len, "n": n}
            | {"arrival_s": arrival, "tenant": "", "priority": 0, "first_sequence": first, "after": None}
        )

    def row(self, track: str, step: int, event: int, *values: int) -> None:
        self.rows.setdefault(track, []).append((EVENTS_PER_STEP * step + event, *values))

    def happened(self, kind: str, step: int, event: int, request: int) -> None:
        where = (EVENTS_PER_STEP * step + event, HAPPENINGS.index(kind), request)
        self.happenings.append((*where, -1, -1, -1, 0))

    def trace(self, num_steps: int, working: list[int] | None = None) -> Trace:
        begin = EVENTS_PER_STEP * np.arange(num_steps)
        steps = np.zeros((num_steps, 10), np.int32)
        steps[:, :4] = np.stack([begin, begin + 2, begin + 2, begin + 4], axis=1)
        steps[:, 5] = working or 0
        starts = self.step_time * np.arange(num_steps)
        chunk = Chunk(
            num_events=EVENTS_PER_STEP * num_steps,
            requests=self.requests,
            rows={name: table(rows, len(rows[0])) for name, rows in self.rows.items()},
            steps=steps,
            times=np.stack([starts, starts + self.step_time], axis=1),
            happenings=table(self.happenings, 7),
            decisions=table(self.decisions, 8),
        )
        return Trace.of(
            {**self.header, "tracks": [*self.header["tracks"], *(set(self.rows) & {"blocks", "strips"})]}, [chunk]
        )


def table(rows: list, width: int) -> np.ndarray:
    return np.array(sorted(rows), np.int32).reshape(-1, width)


def blocks(pool: int, block_size: int) -> Sheet:
    """A sheet for rows of blocks, with two requests that may own them."""
    sheet = Sheet(pool, block_size)
    for _ in range(2):
        sheet.request(4, 1)
    return sheet
