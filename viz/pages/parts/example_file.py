"""A small trace to try: chats in bursts, a few long documents among them, and one row that cannot be used."""

import random

NAME = "example.csv"
NUM_REQUESTS = 60
SEED = 7


def text() -> str:
    """The file, the same every time: generic CSV with a header."""
    rng = random.Random(SEED)
    time, lines = 0.0, ["id,arrival_s,prompt_len,output_len"]
    for number in range(NUM_REQUESTS):
        time += rng.expovariate(4.0) if number % 12 else 2.0
        is_long = number % 10 == 4
        prompt_len = rng.randrange(3_000, 6_000) if is_long else rng.randrange(40, 600)
        lines.append(f"c{number},{time:.3f},{prompt_len},{rng.randrange(30, 300)}")
    lines.append(f"c{NUM_REQUESTS},{time + 1:.3f},many,100")
    return "\n".join(lines) + "\n"
