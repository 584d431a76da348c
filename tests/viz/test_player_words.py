"""The labels of the player: every one that its code asks for exists, and every one that exists is asked for."""

import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import resources
from typing import Any

import pytest

from engine.settings import Settings
from viz.pages.parts.settings_form import GROUPS
from viz.player.script import joined, source_files
from viz.player.words import WORDS

TOLD = "".join(
    (resources.files("viz.player") / "js" / name).read_text(encoding="utf-8")
    for name in source_files()
    if name.startswith("words/")
)
USED = joined().replace(TOLD, "")


def _paths(table: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _paths(value, f"{above}{name}.")
        else:
            yield above + name, value


@pytest.mark.parametrize("lang", list(WORDS))
def test_a_label_is_text_or_lists_of_text(lang: str) -> None:
    for name, value in _paths(WORDS[lang]):
        rows = [value] if isinstance(value, str) else value
        parts = [part for row in rows for part in ([row] if isinstance(row, str) else row)]
        assert parts and all(isinstance(part, str) and part for part in parts), name


@pytest.mark.parametrize("lang", list(WORDS))
def test_all_languages_have_the_same_labels(lang: str) -> None:
    assert {name for name, _ in _paths(WORDS[lang])} == {name for name, _ in _paths(WORDS["en"])}


@pytest.mark.parametrize("name", [name for name, _ in _paths(WORDS["en"]) if "." not in name])
def test_the_player_asks_for_every_label(name: str) -> None:
    assert re.search(rf"\b{name}\b", USED)


def test_every_label_that_is_asked_for_exists() -> None:
    asked = set(re.findall(r"\bwords\.(\w+)", USED))
    told = set(re.findall(r"^ +(\w+): ", TOLD, flags=re.MULTILINE)) | set(
        re.findall(r"^TOLD\.(\w+)", TOLD, flags=re.MULTILINE)
    )
    known = {part for name, _ in _paths(WORDS["en"]) for part in name.split(".")}
    assert asked - known - told - {"length", "vocabulary"} == set()


@pytest.mark.parametrize("template", [text for _, text in _paths(WORDS["en"]) if isinstance(text, str) and "{" in text])
def test_a_template_is_one_that_the_player_can_fill(template: str) -> None:
    assert re.fullmatch(r"([^{}]|\{\d(,|\+| [a-z ]+)?\}|\{[a-zXY]+\})*", template)


def test_a_setting_that_runs_differ_in_is_called_as_in_the_settings_form() -> None:
    labels = {name: field.label for group in GROUPS.values() for name, field in group.items()}
    words = WORDS["en"]["compare"]
    told = words["settings"].keys() | words["labels"].keys()
    assert told == {field.name for field in fields(Settings)} == labels.keys()
    assert words["labels"].items() <= labels.items()
    assert {words["values"][value] for value in ("now", "full")} == {"at once", "when it is full"}
