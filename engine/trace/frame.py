"""A frame: the state of every key of every track after one event.

It is a cut through the rows of a trace and knows nothing of how they came about. The browser computes the same arrays
from the same rows; `crc` is the number by which the two are compared.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.trace.track import SPECS


@dataclass(frozen=True, slots=True)
class Frame:
    """State after `event`, which belongs to `step` (-1 before the first step).

    tracks    track -> field -> int32 [num_keys], ramps evaluated; a key without a row has the defaults of the track
    slots_of  sequence -> slot numbers of its block table by logical index
    """

    event: int
    step: int
    tracks: dict[str, dict[str, np.ndarray]]
    slots_of: Callable[[int], np.ndarray]

    def table(self, sequence: int) -> list[int]:
        """The blocks of a sequence by logical index; empty where the trace publishes no tables."""
        if "tables" not in self.tracks:
            return []
        blocks = self.tracks["tables"]["block"][self.slots_of(sequence)]
        return blocks[blocks >= 0].tolist()

    def crc(self) -> int:
        """CRC-32 over the little-endian int32 bytes of every field, tracks and fields in the order of `SPECS`."""
        crc = 0
        for name, spec in SPECS.items():
            for field in spec.fields if name in self.tracks else ():
                crc = zlib.crc32(self.tracks[name][field].astype("<i4", copy=False).tobytes(), crc)
        return crc
