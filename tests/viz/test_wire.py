"""What the player gets: the saved run, texts, bookmarks, hashes and sentences in one blob."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from engine.trace import codec
from engine.trace.columns import hits
from engine.trace.trace import Trace
from tests.engine.trace import synthetic
from tests.engine.trace.test_frame import by_hand
from tests.engine.trace.test_trace import same
from viz.player.messages import MESSAGES
from viz.player.narrator import NUM_OPERANDS
from viz.player.sentences import Sentences
from viz.player.wire import frame_hashes, wire, wire_parts

SMALL = synthetic.small()


@dataclass(frozen=True)
class Mark:
    step: int
    event: int | None
    text: dict[str, str]


def player_of(blob: bytes) -> dict:
    header, _ = next(iter(codec.unpack(blob)))
    return header["player"]


def test_the_blob_is_a_saved_run_as_well() -> None:
    assert same(Trace.load(wire(SMALL, title="Small")), SMALL)


def test_parts_one_by_one_are_the_blob() -> None:
    parts = list(wire_parts(SMALL, title="Small"))
    assert parts[0] == codec.MAGIC
    assert b"".join(parts) == wire(SMALL, title="Small")


def test_texts_travel_as_they_are() -> None:
    title = "<img src=x onerror=alert(1)> 块 \u2028"
    player = player_of(wire(SMALL, title=title, story="a\nb", run_name="chunked"))
    assert (player["title"], player["story"], player["run_name"]) == (title, "a\nb", "chunked")
    assert player_of(wire(SMALL, title=""))["run_name"] == "synthetic"


def test_bookmarks_carry_absolute_events_and_those_beyond_the_run_are_left_out() -> None:
    marks = [Mark(1, None, {"en": "one"}), Mark(0, 3, {"en": "two", "zh": "二"}), Mark(9, None, {"en": "no"})]
    assert player_of(wire(by_hand(), title="", bookmarks=marks))["bookmarks"] == [
        {"step": 1, "event": 4, "text": "one"},
        {"step": 0, "event": 3, "text": "two"},
    ]


def test_small_runs_are_hashed_at_every_scheduled_cut_and_at_the_end() -> None:
    hashes = player_of(wire(by_hand(), title=""))["hashes"]
    assert [event for event, _ in hashes] == [2, 4, 5, 7]
    assert hashes[1][1] == by_hand().cut(step=1, at="scheduled").crc()
    assert len(player_of(wire(SMALL, title=""))["hashes"]) == 200


def test_long_runs_are_hashed_at_20_events_from_first_to_last() -> None:
    trace = synthetic.large(num_steps=300)
    hashes = frame_hashes(trace)
    assert len(hashes) == 20
    assert (hashes[0][0], hashes[-1][0]) == (0, trace.num_events)
    assert hashes[7][1] == trace.cut(event=hashes[7][0]).crc()


def test_messages_are_listed_by_code() -> None:
    player = player_of(wire(SMALL, title=""))
    assert player["messages"] == [[message.kind, message.text] for message in MESSAGES["en"].values()]
    assert {kind for kind, _ in player["messages"]} == set(player["tags"])


@pytest.mark.parametrize("rows_per_chunk", [500, 10**6])
def test_sentences_travel_beside_the_rows_of_their_events(monkeypatch: pytest.MonkeyPatch, rows_per_chunk: int) -> None:
    cuts = SMALL.even_cuts(rows_per_chunk)
    monkeypatch.setattr(Trace, "even_cuts", lambda trace: cuts)
    found: list[tuple[int, ...]] = []
    for fields, tables in codec.unpack(wire(SMALL, title="")):
        if "sentences" in tables:
            columns = [tables["sentences"].column(i) for i in range(2 + NUM_OPERANDS)]
            events = np.cumsum(columns[0])
            assert events[-1] <= fields["num_events"]
            rows, named = _table_rows(fields["num_events"])
            for column, values in ((2, rows), (3, named)):
                columns[column] = hits(columns[column], _last(values, events), encoding=False)
            found += zip(events.tolist(), *(column.tolist() for column in columns[1:]), strict=True)
    assert found == [tuple(row) for row in Sentences.of(SMALL).rows.tolist()]


def _table_rows(last: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(event, sequence) and (event, block that it is about) of the table rows of the chunk that ends at event `last`."""
    track = SMALL.tracks["tables"]
    assert track.keys is not None
    begin = max(bound for bound in (0, *SMALL.even_cuts()) if bound < last)
    held: dict[int, int] = {}
    sequences, blocks = [], []
    for event, slot, block in zip(*(column.tolist() for column in track.columns.values()), strict=True):
        if begin < event <= last:
            sequences.append((event, int(track.keys[slot, 0])))
            blocks.append((event, block if block >= 0 else held[slot]))
        held[slot] = block
    return sequences, blocks


def _last(rows: list[tuple[int, int]], events: np.ndarray) -> np.ndarray:
    return np.array([next((value for at, value in reversed(rows) if at <= event), -1) for event in events.tolist()])


def test_the_header_is_json_that_a_browser_reads() -> None:
    fields, _ = next(iter(codec.unpack(wire(SMALL, title="x"))))
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields
