"""The words of a trace as the player gets them with its labels: tracks with their fields, kinds of happenings, reasons of
decisions, columns of tables, and which of them the player treats alike. They are those of the engine; the player knows
none by itself.
"""

from typing import Any

from engine.request import SequenceStatus
from engine.trace import track

VOCABULARY: dict[str, Any] = {
    "tracks": [
        {"name": spec.name, "fields": spec.fields, "defaults": spec.defaults, "ramps": spec.ramps}
        for spec in track.SPECS.values()
    ],
    "statuses": [status.name for status in SequenceStatus],
    "happenings": list(track.HAPPENINGS),
    "happening_columns": list(track.HAPPENING_COLUMNS),
    "actions": list(track.ACTIONS),
    "reasons": list(track.REASONS),
    "resources": list(track.RESOURCES),
    "decision_columns": list(track.DECISION_COLUMNS),
    "step_columns": list(track.STEP_COLUMNS),
    # where `n` and `p` stop
    "notable": [
        "rejected",
        "admitted",
        "shared",
        "copied",
        "preempted",
        "resumed",
        "finished",
        "moved_out",
        "moved_in",
        "hit",
        "split",
        "evicted",
    ],
    # happenings of the transport line and their glyphs, the rarest first
    "ticks": [
        ["rejected", "reject"],
        ["preempted", "preempt"],
        ["copied", "copy"],
        ["evicted", "evict"],
        ["split", "split"],
        ["hit", "hit"],
        ["admitted", "admit"],
        ["resumed", "admit"],
        ["finished", "finish"],
    ],
    # what the life of a block and that of a node of the tree are made of
    "of_block": ["shared", "copied", "written_in_place", "moved_out", "moved_in"],
    "of_node": ["evicted", "split", "hit", "inserted", "locked", "unlocked"],
    # kinds of sentences that tell of no change, and those of changes that are common
    "quiet": ["prefill", "decode"],
    "common": ["prefill", "decode", "allocate", "release", "wait", "lock", "store"],
    # runs that differ in one of these are compared by their memory
    "memory_settings": [
        "kv_manager",
        "block_size",
        "num_blocks",
        "num_host_blocks",
        "kv_capacity_tokens",
        "free_list",
        "watermark",
        "max_model_len",
    ],
    # panels that give way to the words of a real model
    "without_words": ["tables", "queue", "inspector", "log", "timeline"],
    # where the cursor of a picture goes: columns, rows
    "arrows": {"ArrowRight": [1, 0], "ArrowLeft": [-1, 0], "ArrowDown": [0, 1], "ArrowUp": [0, -1]},
    # marks of a legend that are a block: its hue and look
    "legend_blocks": {
        "full": ["K"],
        "kept": ["K"],
        "tokens": ["K"],
        "private": ["P"],
        "open": ["K", {"isOpen": True}],
        "fresh": ["K", {"isOpen": True}],
        "privateOpen": ["P", {"isOpen": True}],
        "shared": ["S", {"isShared": True}],
        "copied": ["K", {"isOpen": True}],
        "reserved": ["K", {"isOpen": True, "isShared": True, "width": 1.6}],
    },
    # key -> the way from the player to its verb, the verb's value, its value with Shift
    "keys": {
        "ArrowRight": ["move", 1, 10],
        "ArrowLeft": ["move", -1, -10],
        ".": ["moveEvent", 1],
        ",": ["moveEvent", -1],
        "n": ["moveHappening", 1],
        "p": ["moveHappening", -1],
        " ": ["togglePlay"],
        "Home": ["goStart"],
        "End": ["goEnd"],
        "PageDown": ["moveBookmark", 1],
        "PageUp": ["moveBookmark", -1],
        "[": ["changeSpeed", -1],
        "]": ["changeSpeed", 1],
        "d": ["goDifference"],
        "0": ["choosePane", -1],
        "1": ["choosePane", 0],
        "2": ["choosePane", 1],
        "3": ["choosePane", 2],
        "t": ["toggleClock"],
        "l": ["toggleLecture"],
        "f": ["toggleFullScreen"],
        "c": ["copyLink"],
        "g": ["dialogs.open", "goTo"],
        "T": ["table.toggle"],
        "h": ["dialogs.open", "help"],
        "?": ["dialogs.open", "help"],
        "Escape": ["escape"],
        "Enter": ["selection.open"],
        "e": ["ask", "log"],
        "+": ["zoom", 1],
        "-": ["zoom", -1],
    },
    "legends": {
        "owners": ["full", "open", "shared", "copied", "free", "now"],
        "states": ["private", "privateOpen", "shared", "free", "now"],
        "tree": ["kept", "fresh", "lock", "recency", "split", "evict"],
    },
}
