"""A trace as the bytes that the player gets: the saved-file container with what only a viewer needs.

Beyond `Trace.save` the header carries texts, bookmarks, message templates and hashes of sampled frames, and two tables
hold the sentences. `Trace.load` reads these bytes as well and passes over the additions.

    sentences   in every chunk part, last in its list: event, message and six operands (see `sentences.Sentences`),
                in the codes of `engine.trace.columns`
    operands    one column in the part "sentences": the lists that operands point into
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from engine.trace import codec
from engine.trace.columns import Table, deltas, hits, planes, write_tables
from engine.trace.predict import Memory
from engine.trace.trace import Trace
from viz.player.messages import MESSAGES, TAGS
from viz.player.sentences import Sentences

SMALL_RUN = 200
"""Steps up to which the state of every step is hashed; longer runs are sampled."""
NUM_SAMPLES = 20
SENTENCE_CODES = ("d", "p", "t1", "t3", "p", "p", "p", "p")


class Bookmark(Protocol):
    """A place worth looking at: a step, or the event-th event of that step (from 1), with a text by language."""

    @property
    def step(self) -> int: ...
    @property
    def event(self) -> int | None: ...
    @property
    def text(self) -> Mapping[str, str]: ...


def wire(
    trace: Trace,
    *,
    title: str,
    bookmarks: Iterable[Bookmark] = (),
    lang: str = "en",
    story: str = "",
    run_name: str = "",
) -> bytes:
    """All bytes of a run for the player. Bookmarks on steps that the run does not have are left out."""
    parts = wire_parts(trace, title=title, bookmarks=bookmarks, lang=lang, story=story, run_name=run_name)
    return b"".join(parts)


def wire_parts(
    trace: Trace,
    *,
    title: str,
    bookmarks: Iterable[Bookmark] = (),
    lang: str = "en",
    story: str = "",
    run_name: str = "",
) -> Iterator[bytes]:
    """The same bytes piece by piece: the magic, the header, chunks, sentences, the end."""
    player = {
        **player_header(run_name or trace.header["name"], title, lang),
        **({"remark": trace.header["remark"]} if trace.header.get("remark") else {}),
        **words_view(trace.header, bool(trace.words)),
        "story": story,
        "bookmarks": [place for mark in bookmarks if (place := _place(trace, mark, lang))],
        "hashes": frame_hashes(trace),
    }
    yield codec.MAGIC
    yield codec.pack({**trace.header, "part": "header", "player": player})
    memory, sentences, first = Memory(), Sentences.of(trace), 0
    for chunk in trace.chunks(trace.even_cuts()):
        last = int(np.searchsorted(sentences.rows[:, 0], chunk.num_events, side="right"))
        tables = write_tables(chunk, memory)
        yield codec.pack(codec.chunk_fields(chunk), [*tables, sentence_table(sentences.rows[first:last], memory)])
        first = last
    lists = Table("operands", len(sentences.lists), 1, "i4", ("p",), planes(sentences.lists))
    yield codec.pack({"part": "sentences"}, [lists])
    yield codec.pack({"part": "end", "num_events": trace.num_events, "run_id": trace.run_id})


def in_comparison(blob: bytes, *, run_name: str, clock: str, difference: Mapping[str, Any]) -> bytes:
    """The bytes of a run as one pane of a comparison; only its header is packed anew.

    run_name    name of the pane
    clock       the clock to begin with, "steps" or "time"
    difference  where this run parts from the others, see `difference.pane_differences`
    """
    begin = len(codec.MAGIC)
    (packed_len,) = struct.unpack_from("<I", blob, begin + 4)
    end = begin + 8 + packed_len
    header, _ = next(codec.unpack(blob[:end]))
    pane = {"run_name": run_name, "clock": clock, "difference": dict(difference)}
    return b"".join((codec.MAGIC, codec.pack({**header, "player": {**header["player"], **pane}}), blob[end:]))


def player_header(run_name: str, title: str, lang: str) -> dict[str, Any]:
    """What the header says to a viewer of any run: its names, and the templates of its sentences."""
    return {
        "title": title,
        "run_name": run_name,
        "lang": lang,
        "messages": [[message.kind, message.text] for message in MESSAGES[lang].values()],
        "tags": TAGS[lang],
    }


def words_view(header: Mapping[str, Any], has_words: bool) -> dict[str, bool]:
    """A run of a real model begins with what is in its blocks; a radix tree shows that by itself."""
    return {"showsWords": True} if has_words and "nodes" not in header["tracks"] else {}


def frame_hashes(trace: Trace) -> list[list[int]]:
    """(event, CRC-32 of the frame): all `scheduled` cuts and the end of a small run, 20 even spaced events of a long one."""
    if trace.num_steps <= SMALL_RUN:
        events = [*trace.steps["scheduled"].tolist(), trace.num_events]
    else:
        events = np.linspace(0, trace.num_events, NUM_SAMPLES).astype(int).tolist()
    return [[event, trace.cut(event=event).crc()] for event in sorted(set(events))]


def sentence_table(rows: np.ndarray, memory: Memory) -> Table:
    """Most operands are the sequence and the block of the table row at the same event."""
    event, message, first, second, *others = rows.T
    first = hits(first, memory.sequence_at(event), encoding=True)
    second = hits(second, memory.block_at(event), encoding=True)
    columns = (deltas(event), message, first, second, *others)
    return Table("sentences", len(rows), len(columns), "i4", SENTENCE_CODES, b"".join(map(planes, columns)))


def _place(trace: Trace, bookmark: Bookmark, lang: str) -> dict[str, Any] | None:
    suffix = "" if bookmark.event is None else f".{bookmark.event}"
    try:
        event = trace.parse_frame(f"{bookmark.step}{suffix}")
    except ValueError:
        return None
    return {"step": bookmark.step, "event": event, "text": bookmark.text.get(lang, bookmark.text["en"])}
