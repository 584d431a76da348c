"""Predictions that make block ids cheap: a file stores how a value differs from the expected one.

Free lists hand out blocks in the order (or the reverse order) of their return, and whoever touches the blocks of a
sequence walks along its table. So a neighbour in the right list is nearly always the next id, and its code is 0, 1 or 2.
One `Memory` follows a run through all its parts; writer and reader feed it the same rows and so agree.
"""

import numpy as np

NO_ROWS = np.zeros(0, np.int32)


class Memory:
    """What the table rows so far have taught. Every method translates one column in both directions:
    `encoding=True` takes values and returns codes, else codes and returns values.

    slots    (sequence, index) -> slot; `keys` the same by slot, numbered in order of first appearance
    held     slot -> block that its last row named, -1 for none
    after, before   block -> its neighbour in the table that it entered last
    freed    the same two for the order in which table entries were given up
    """

    def __init__(self) -> None:
        self.slots: dict[tuple[int, int], int] = {}
        self.keys: list[tuple[int, int]] = []
        self.held: list[int] = []
        self._after: dict[int, int] = {}
        self._before: dict[int, int] = {}
        self._freed_after: dict[int, int] = {}
        self._freed_before: dict[int, int] = {}
        self._last_taken = -1
        self._last_freed = -1
        self._last_key = -1
        self._owner: dict[int, int] = {}
        self.open_part(NO_ROWS, NO_ROWS)

    def open_part(self, events: np.ndarray, sequences: np.ndarray) -> None:
        """Begin a part with the events and sequences of its table rows."""
        self._row_events, self._row_sequences = events, sequences
        self._events, self._sequences = events.tolist(), sequences.tolist()
        self._named: list[int] = []
        self._link: list[int] = []
        self._blocks: list[int] = []

    def sequence_at(self, events: np.ndarray) -> np.ndarray:
        """For each event the sequence of the last table row of this part at or before it, -1 where there is none."""
        return _latest(events, self._row_events, self._row_sequences)

    def block_at(self, events: np.ndarray) -> np.ndarray:
        """For each event the block that this row is about: the one it names, or the one that its slot gave up."""
        return _latest(events, self._row_events, np.array(self._named, np.int32))

    def slots_of(self, indices: np.ndarray) -> np.ndarray:
        """Slots of this part's table rows; new ones are numbered on."""
        slots, keys, held, found = self.slots, self.keys, self.held, []
        for key in zip(self._sequences, indices.tolist(), strict=True):
            slot = slots.get(key)
            if slot is None:
                slot = slots[key] = len(keys)
                keys.append(key)
                held.append(-1)
            found.append(slot)
        return np.array(found, np.int32)

    def table_blocks(self, slots: np.ndarray, column: np.ndarray, encoding: bool) -> np.ndarray:
        """tables.block: 0 is -1, 1 and 2 the neighbours of the block taken last in the order of giving up, else id + 3."""
        held, named, link, blocks, out = self.held, self._named, self._link, self._blocks, []
        after, before, taken, freed = self._freed_after, self._freed_before, self._last_taken, self._last_freed
        for slot, item in zip(slots.tolist(), column.tolist(), strict=True):
            up, down = after.get(taken, taken + 1), before.get(taken, taken - 1)
            if encoding:
                block = item
                code = 0 if block < 0 else 1 if block == up else 2 if block == down else block + 3
            else:
                code = item
                block = -1 if code == 0 else up if code == 1 else down if code == 2 else code - 3
            out.append(code if encoding else block)
            blocks.append(block)
            if block < 0:
                old = held[slot]
                after[freed], before[old] = old, freed
                freed = old
                named.append(old)
                link.append(-1)
            else:
                taken = block
                named.append(block)
                sequence, index = self.keys[slot]
                link.append(held[self.slots[sequence, index - 1]] if (sequence, index - 1) in self.slots else -1)
            held[slot] = block
        self._last_taken, self._last_freed = taken, freed
        return np.array(out, np.int32)

    def block_keys(self, events: np.ndarray, column: np.ndarray, encoding: bool) -> np.ndarray:
        """blocks.key: 0 and 1 are the blocks after and before the last key in its table, else id + 3. At the first row
        of an event with table rows, 0 and 1 are the first and the last block that these are about, and 2 is the block
        before the first one in its table."""
        after, before, key, last_event, out = self._after, self._before, self._last_key, -1, []
        rows, named, link, blocks = self._events, self._named, self._link, self._blocks
        position, num_rows = 0, len(rows)
        for event, item in zip(events.tolist(), column.tolist(), strict=True):
            first = position
            while position < num_rows and rows[position] <= event:
                if rows[position] < event:
                    first = position + 1
                neighbour, block = link[position], blocks[position]
                if block >= 0 and neighbour >= 0:
                    after[neighbour], before[block] = block, neighbour
                position += 1
            if event != last_event and first < position:
                up, down, full = named[first], named[position - 1], link[first]
            else:
                up, down, full = after.get(key, -1), before.get(key, -1), -1
            if encoding:
                key = item
                out.append(0 if key == up else 1 if key == down else 2 if key == full else key + 3)
            else:
                key = up if item == 0 else down if item == 1 else full if item == 2 else item - 3
                out.append(key)
            last_event = event
        self._last_key = key
        return np.array(out, np.int32)

    def block_owners(self, events: np.ndarray, keys: np.ndarray, column: np.ndarray, encoding: bool) -> np.ndarray:
        """blocks.owner: 0 is the owner of the block's last row, 1 the sequence of the last table row, else owner + 3."""
        owners, guess, out = self._owner, self.sequence_at(events), []
        for key, likely, item in zip(keys.tolist(), guess.tolist(), column.tolist(), strict=True):
            last = owners.get(key, -1)
            if encoding:
                owner = item
                out.append(0 if owner == last else 1 if owner == likely else owner + 3)
            else:
                owner = last if item == 0 else likely if item == 1 else item - 3
                out.append(owner)
            owners[key] = owner
        return np.array(out, np.int32)


def _latest(events: np.ndarray, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    padded = np.concatenate((np.full(1, -1, np.int32), values))
    return padded[np.searchsorted(rows, events, side="right")]
