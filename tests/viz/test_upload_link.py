"""Links into the runs of an uploaded file."""

import pytest

from scenarios.source import Cut
from viz.pages.parts.upload_link import Visit, read


@pytest.mark.parametrize(
    "cut", [Cut(), Cut(first=500), Cut(window=(10.0, 20.5), rate=2.0), Cut(qps=4.0), Cut(first=1, window=(0.0, 1e9))]
)
def test_a_link_leads_back_to_its_visit(cut: Cut) -> None:
    visit = Visit("0123456789abcdef", "chunked", cut)
    assert read({**visit.params(), "f": "12"}) == visit


def test_an_address_without_a_file_is_no_visit() -> None:
    assert read({"f": "12"}) is None


@pytest.mark.parametrize("params", [{"run": "paged"}, {"first": "5"}, {"p.num_blocks": "1"}])
def test_a_link_to_a_run_of_no_file_is_told(params: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="names no file; choose one here"):
        read(params)


def test_a_link_names_changed_settings_and_a_file_without_a_run() -> None:
    visit = Visit("0123456789abcdef", "", Cut(), {"num_blocks": "300"})
    assert visit.params() == {"file": "0123456789abcdef", "p.num_blocks": "300"}
    assert read(visit.params()) == visit


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(ValueError, match="no setting “colour”"):
        read({"file": "0", "p.colour": "red"})


@pytest.mark.parametrize(
    ("params", "part"),
    [
        ({"first": "0"}, "“0” for first"),
        ({"rate": "nan"}, "“nan” for rate"),
        ({"to": "1e400"}, "“1e400” for to"),
        ({"qps": "many"}, "“many” for qps"),
        ({"from": "9", "to": "3"}, "seconds 9 to 3"),
    ],
)
def test_a_bad_link_gets_one_sentence(params: dict[str, str], part: str) -> None:
    with pytest.raises(ValueError, match="The link") as error:
        read({"file": "0", **params})
    assert part in str(error.value)
