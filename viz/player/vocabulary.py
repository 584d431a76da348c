"""The words of a trace as the player gets them with its labels: tracks with their fields, kinds of happenings, reasons of
decisions, columns of tables. They are those of the engine; the player knows none by itself.
"""

from typing import Any

from engine.request import SequenceStatus
from engine.trace import track

VOCABULARY: dict[str, list[Any]] = {
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
}
