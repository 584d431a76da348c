"""The charts have the colours of the player, and enough contrast in both themes."""

from dataclasses import fields
from pathlib import Path

import pytest

from viz.charts.theme import BOTH, DARK, LIGHT, Palette

PLAYER = (Path(__file__).parents[3] / "viz/player/player.css").read_text(encoding="utf-8")


def _luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_a_contrast_of_four_and_a_half_and_marks_of_three(palette: Palette) -> None:
    for text in (palette.ink, palette.ink2, palette.ink3):
        assert _contrast(text, palette.paper) >= 4.5
    for on, solid in ((palette.on_a, palette.a), (palette.on_b, palette.b), (palette.on_d, palette.d)):
        assert _contrast(on, solid) >= 4.5
    assert _contrast(palette.on_private, palette.private) >= 4.5
    for mark in (*palette.owners, palette.mark):
        assert _contrast(mark, palette.paper) >= 3


@pytest.mark.parametrize(("name", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_the_player_has_the_same_colours(name: str, palette: Palette) -> None:
    block = PLAYER[PLAYER.index(f"--kv-{name}: {{") :].split("\n  };\n")[0]
    for field in fields(palette):
        assert getattr(palette, field.name) in block, field.name


def test_a_pair_leaves_the_choice_to_the_browser() -> None:
    assert BOTH.a == "light-dark(#1F47C9, #6384FA)"
    assert BOTH.owners[1] == "light-dark(#EE6D38, #F6904A)"
