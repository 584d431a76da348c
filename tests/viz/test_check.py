"""The Check page: the whole acceptance list, sorted by state and section, with formula, our value and that of the text."""

from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from scenarios.acceptance import ROWS
from viz.pages.parts import acceptance_table
from viz.pages.parts.acceptance_table import ALL, FORMULAS, STATES, chosen, counts, items, sections, table

APP = str(Path(__file__).parent.parent.parent / "app.py")
CHECK = "viz/pages/check.py"
PATIENCE = 60


def _row(id_: str, passed: bool | None, ours: str = "", cls: str = "D") -> Mapping[str, Any]:
    return {"id": id_, "title": id_, "class": cls, "expected": "1", "ours": ours, "passed": passed, "where": ""}


SOME = items(
    [
        _row("A01", True, "1"),
        _row("A02", False, "2"),
        _row("B01", None),
        _row("B02", None, cls="P"),
        _row("B03", None, "6.3 ms", cls="D/P"),
    ]
)


def _open() -> AppTest:
    app = AppTest.from_file(APP, default_timeout=PATIENCE).run().switch_page(CHECK).run()
    end = monotonic() + PATIENCE
    while not app.table and monotonic() < end:
        sleep(0.5)
        app.run()
    return app


def test_every_row_has_one_state_and_the_counts_add_up() -> None:
    assert [item.state for item in SOME] == ["passed", "failed", "not built yet", "cited", "cited"]
    assert counts(SOME) == {"passed": 1, "failed": 1, "not built yet": 1, "cited": 2}
    assert counts([]) == dict.fromkeys(STATES, 0)


@pytest.mark.parametrize(
    ("section", "state", "expected"),
    [
        (ALL, ALL, ["A01", "A02", "B01", "B02", "B03"]),
        ("A", ALL, ["A01", "A02"]),
        (ALL, "cited", ["B02", "B03"]),
        ("A", "cited", []),
    ],
)
def test_a_section_and_a_state_leave_their_rows(section: str, state: str, expected: list[str]) -> None:
    assert [item.id for item in chosen(SOME, section, state)] == expected


def test_sections_are_named_by_their_files() -> None:
    names = sections()
    assert "".join(names) == "ABCDEFGHIJL"
    assert names["A"] == "A: the cost model, the roofline and memory sizes"


def test_formulas_belong_to_rows_that_are_built() -> None:
    built = {row.id for row in ROWS if row.compute is not None}
    assert FORMULAS.keys() <= built
    worked = {row.id for row in ROWS if row.compute is not None and row.cls in ("D", "D*")}
    assert worked - FORMULAS.keys() == set()


def test_formula_value_and_text_stand_beside_each_other() -> None:
    columns = table(items([{**_row("B01", True, "33.5 %"), "expected": "670/2000"}]))
    names = list(columns)
    at = names.index("formula")
    assert names[at : at + 3] == ["formula", "KVScope", "the text"]
    assert [columns[name] for name in names[at : at + 3]] == [["Σ N / (B · max N)"], ["33.5 %"], ["670/2000"]]


def test_the_page_shows_all_135_rows_and_none_has_failed() -> None:
    app = _open()
    assert not app.exception
    rows = app.table[0].value
    assert len(rows) == 135
    assert rows["state"].tolist().count("failed") == 0
    shown = rows.set_index("id")
    assert shown.loc["B01", "KVScope"].replace("\\", "") == "670/2000 = 33.5%"
    assert shown.loc["B05", "where"] == "Stage\\: [ten\\-iterations](stage?scenario=ten-iterations)"
    state = next(control for control in app.segmented_control if control.label == "State")
    assert state.options[0] == "all 135"


def test_the_filters_leave_the_rows_of_a_section_and_a_state() -> None:
    app = _open()
    next(box for box in app.selectbox if box.label == "Section").select("B").run()
    assert app.table[0].value["id"].str.startswith("B").all()
    next(control for control in app.segmented_control if control.label == "State").select("passed").run()
    assert not app.exception
    assert {"B04", "B05"} <= set(app.table[0].value["id"])
    assert set(app.table[0].value["state"]) == {"passed"}


def test_the_list_is_computed_once_for_everybody() -> None:
    _open()
    first = acceptance_table.job()
    assert first.wait(PATIENCE) and first.result is not None
    assert acceptance_table.job().result is first.result
    acceptance_table.forget()
    assert acceptance_table.job().result is not first.result
