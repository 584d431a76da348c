"""A run as bytes for the player while it goes on: the parts of `viz.player.wire`, made as the chunks come.

Every chunk brings its own sentences. They are told from the run so far, because a reason may lie in an earlier chunk;
what was said once is not said again.
"""

import json

import numpy as np

from engine.trace import codec
from engine.trace.chunk import Chunk
from engine.trace.columns import Table, planes, write_tables
from engine.trace.predict import Memory
from engine.trace.trace import Trace
from viz.player.sentences import Sentences
from viz.player.wire import player_header, sentence_table, words_view


class ArrivingRun:
    """The bytes of one run so far. Whoever asks gets those from any position on, so that what got lost can be sent again.

    header    as in a trace; `title` stands above the player, `remark` before the settings below it
    has_words tells what its tokens read as
    """

    def __init__(
        self, header: dict, *, title: str, remark: str = "", has_words: bool = False, lang: str = "en"
    ) -> None:
        self.header = json.loads(json.dumps(header))
        self.chunks: list[Chunk] = []
        self._memory = Memory()
        self._num_events = 0
        self._num_listed = 0
        self._data = bytearray(codec.MAGIC)
        player = {**player_header(header["name"], title, lang), "remark": remark, **words_view(header, has_words)}
        self._data += codec.pack({**header, "part": "header", "player": player})

    def __len__(self) -> int:
        return len(self._data)

    def since(self, position: int) -> bytes:
        """All bytes from `position` on."""
        return bytes(self._data[position:])

    def add(self, chunk: Chunk) -> None:
        """The next chunk of the run."""
        self.chunks.append(chunk)
        sentences = Sentences.of(self.trace())
        rows = sentences.rows
        first, last = np.searchsorted(rows[:, 0], (self._num_events, chunk.num_events), side="right")
        tables = write_tables(chunk, self._memory)
        self._data += codec.pack(codec.chunk_fields(chunk), [*tables, sentence_table(rows[first:last], self._memory)])
        new = sentences.lists[self._num_listed :]
        if len(new):
            lists = Table("operands", len(new), 1, "i4", ("p",), planes(new))
            self._data += codec.pack({"part": "sentences"}, [lists])
        self._num_events, self._num_listed = chunk.num_events, len(sentences.lists)

    def end(self) -> Trace:
        """No more will come."""
        trace = self.trace()
        self._data += codec.pack({"part": "end", "num_events": trace.num_events, "run_id": trace.run_id})
        return trace

    def trace(self) -> Trace:
        """The run so far."""
        return Trace.of(self.header, self.chunks)
