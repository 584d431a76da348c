"""Ten thousands of KV blocks, a pixel each, over a whole card. Colour says state; five requests keep a hue each."""

import numpy as np

from engine.trace.frame import Frame
from engine.trace.trace import Trace
from viz.covers.people import HUES, People
from viz.covers.svg import HEIGHT, WIDTH, Drawing


def draw_pixels(drawing: Drawing, trace: Trace, frame: Frame, num_blocks: int) -> None:
    """Runs of equal blocks in a row are one piece of a path, so that the picture stays small."""
    columns = int(np.ceil(np.sqrt(num_blocks * WIDTH / HEIGHT)))
    pixel = WIDTH / columns
    blocks, people = frame.tracks["blocks"], People(trace)
    running = np.unique(people.request_of[np.unique(blocks["owner"][blocks["owner"] >= 0])])
    chosen = running[np.linspace(0, len(running) - 1, 2 * len(HUES) + 1).astype(int)[1::2]] if len(running) else running
    look = np.array(["", "P", "S", "K", *HUES])
    held = np.where(blocks["ref_count"] > 1, 2, 1)
    code = np.where(blocks["state"] == 0, 0, np.where(blocks["state"] == 1, held, 3))[:num_blocks]
    owner = blocks["owner"][:num_blocks]
    request = np.where(owner >= 0, people.request_of[np.maximum(owner, 0)], -1)
    for i, each in enumerate(chosen.tolist()):
        code = np.where((request == each) & (code == 1), 4 + i, code)
    padded = np.zeros(-(-num_blocks // columns) * columns, int)
    padded[:num_blocks] = code
    commands: dict[str, list[str]] = {}
    for row, line in enumerate(padded.reshape(-1, columns)):
        bounds = np.concatenate(([0], np.flatnonzero(np.diff(line)) + 1, [columns]))
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            if line[first]:
                run = f"M{first} {row}h{last - first}v1h{first - last}z"
                commands.setdefault(str(look[line[first]]), []).append(run)
    for hue, runs in sorted(commands.items(), reverse=True):
        drawing.path("".join(runs), f"solid {hue} pixels", scale=pixel)
