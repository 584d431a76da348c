"""The form of the settings: nothing is missing, and what was entered is judged by the settings themselves."""

from dataclasses import fields

import pytest

from engine.settings import CHOICES, Settings, SettingsError
from viz.pages.parts.settings_form import GROUPS, WORDS, changed


def test_every_setting_has_one_place_in_the_form() -> None:
    names = [name for group in GROUPS.values() for name in group]
    assert sorted(names) == sorted(field.name for field in fields(Settings))


def test_only_what_differs_is_a_change() -> None:
    entered = {
        **Settings().as_dict(),
        "block_size": "8",
        "max_num_seqs": "3",
        "block_script": ("7", "2"),
        "watermark": "0.0",
    }
    assert changed(entered, Settings()) == {"block_size": 8, "max_num_seqs": 3, "block_script": [7, 2]}


@pytest.mark.parametrize(
    ("name", "value"), [("block_size", "0"), ("block_size", ""), ("num_blocks", "many"), ("watermark", "2")]
)
def test_a_value_that_cannot_be_used_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        changed({**Settings().as_dict(), name: value}, Settings())


def test_the_rare_ones_stand_behind_more() -> None:
    fields = {name: field for group in GROUPS.values() for name, field in group.items()}
    rare = {name for name, field in fields.items() if field.is_rare}
    assert {"pow2_of", "block_script", "null_block", "watermark", "num_host_blocks"} <= rare
    assert not {"policy", "block_size", "num_blocks", "max_num_seqs", "hardware", "model"} & rare


def test_an_empty_step_time_comes_from_the_cost_model() -> None:
    assert GROUPS["Clock"]["step_time"].empty == "from the cost model"


def test_words_for_values_belong_to_values_that_exist() -> None:
    assert all(set(words) <= set(CHOICES[name]) for name, words in WORDS.items())
