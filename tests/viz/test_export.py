"""The offline page: the runs and the player lie in it whole, nothing else does, and no text becomes markup."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import pytest

from engine.trace import codec
from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run
from viz.export import POLICY, offline_page, run_bytes
from viz.player.script import javascript, stylesheet
from viz.player.words import labels


class Scripts(HTMLParser):
    """Collects the data elements of the page by id (runs: in order), and every address that an element asks for."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.runs: list[bytes] = []
        self.addresses: list[str] = []
        self.title = ""
        self._now: tuple[str, dict[str, str | None]] = ("", {})
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._now = (tag, dict(attrs))
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]

    def handle_data(self, data: str) -> None:
        tag, attributes = self._now
        if tag == "title":
            self.title += data.strip()
        elif tag == "script" and attributes.get("class") == "run":
            self.runs += [base64.b64decode(data)] if data.strip() else []
        elif tag == "script" and attributes.get("id"):
            self.texts[str(attributes["id"])] = self.texts.get(str(attributes["id"]), "") + data.strip()


def _unpacked(text: str) -> str:
    return gzip.decompress(base64.b64decode(text)).decode()


def _replay(name: str, run_name: str) -> tuple[Trace, bytes]:
    scenario = catalogue.load()[name]
    trace = run(scenario, run_name)
    return trace, run_bytes(scenario, run_name, trace)


def test_the_page_holds_the_same_bytes_and_the_same_player_as_the_stage() -> None:
    trace, blob = _replay("four-samples", "shared")
    scripts = Scripts(offline_page([blob], title="Four samples"))
    assert scripts.runs == [blob]
    assert Trace.load(scripts.runs[0]).run_id == trace.run_id
    assert _unpacked(scripts.texts["code"]) == javascript()
    assert _unpacked(scripts.texts["style"]) == stylesheet()


def test_the_page_is_as_small_as_player_and_run_allow_and_asks_for_nothing() -> None:
    _, blob = _replay("four-samples", "shared")
    page = offline_page([blob], title="Four samples")
    player = sum(len(gzip.compress(text.encode())) for text in (javascript(), stylesheet()))
    # base64 makes four letters of three bytes; the rest are the labels and the frame of the page
    texts = len(json.dumps(labels("en")))
    assert len(page.encode()) <= (player + len(blob)) * 4 / 3 + texts + 3_000
    assert Scripts(page).addresses == []
    assert f'content="{POLICY}"' in page and POLICY.startswith("default-src 'none';")
    assert re.findall(r"https?:", page) == []


def test_two_runs_follow_each_other_in_the_order_given() -> None:
    blobs = [_replay("step-by-step", name)[1] for name in ("static", "continuous")]
    assert Scripts(offline_page(blobs, title="Both")).runs == blobs


@pytest.mark.parametrize("count", [0, 4])
def test_only_one_to_three_runs_fit_into_a_page(count: int) -> None:
    with pytest.raises(ValueError, match=f"1 to 3 runs, not {count}"):
        offline_page([b"run"] * count, title="x")


@pytest.mark.parametrize("text", ["</title><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{title}{0}"])
def test_a_title_is_text_whatever_it_contains(text: str) -> None:
    page = offline_page([b"run"], title=text)
    assert Scripts(page).title == text
    assert "<script>alert" not in page and "<img" not in page


def test_a_frame_to_begin_with_cannot_leave_its_string() -> None:
    page = offline_page([b"run"], title="x", frame='12"</script><script>alert(1)//')
    assert "</script><script>alert" not in page
    assert '"frame": "12\\"\\u003c/script>' in page


def test_a_run_carries_its_own_bookmarks_and_texts() -> None:
    scenario = catalogue.load()["three-wastes"]
    blob = run_bytes(scenario, "oracle", run(scenario, "oracle"))
    player = next(codec.unpack(blob))[0]["player"]
    assert (player["title"], player["run_name"]) == (scenario.title["en"], "oracle")
    assert [mark["step"] for mark in player["bookmarks"]] == [0, 6]
