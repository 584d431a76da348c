"""What one may begin with on the page Live: prompts that show sharing, copying, and a long prompt among short ones."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    """`title` stands above the run, and is true of it also when more is asked; each prompt is answered `num_samples` times."""

    title: str
    prompts: tuple[str, ...]
    num_samples: int = 1
    temperature: float = 0.0


_TEACHER = "You are a very careful science teacher who answers in one short sentence."
_LONG = (
    "Say in one sentence what this is about: In the spring the river rises, because the snow in the mountains "
    "melts. The water runs over the meadows and brings mud, and in the mud there is food for the grass. In the "
    "summer the river is low, and the cattle walk through it to the other side, where the shade of the trees is."
)
PRESETS: Mapping[str, Preset] = {
    "Three short questions": Preset(
        "Short questions on a real model", ("Why is the sky blue?", "What is rain?", "Write one line about a river.")
    ),
    "One shared system prompt": Preset(
        "A shared system prompt on a real model",
        tuple(f"{_TEACHER} {question}" for question in ("Why is the sky blue?", "What is rain?", "What is ice?")),
    ),
    "Four samples of one prompt": Preset(
        "Samples of one prompt on a real model", ("Write the first line of a story about the sea.",), 4, 0.8
    ),
    "A long prompt among short ones": Preset(
        "A long prompt among short ones on a real model", ("What is rain?", _LONG, "What is ice?")
    ),
}
"""By the name in the list."""
