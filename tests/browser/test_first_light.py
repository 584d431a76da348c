"""First light: a scenario and an uploaded file are run and stepped in a real browser, and its state equals Python's."""

import csv
import json
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.trace.trace import Trace
from scenarios import catalogue
from scenarios.run import run
from scenarios.shared import SHARED
from scenarios.source import trace_file
from tests.browser.gallery_page import open_gallery

NUM_POSITIONS = 50
PATIENCE = 60_000
HASH = re.compile(r"^\d+$")
HOSTILE = "<img src=x onerror=alert(1)>**b**"


def _player(page: Page, trace: Trace | None = None) -> Locator:
    """The player, once it shows a run: that of `trace` where it is given."""
    which = f'[data-run="{trace.run_id}"]' if trace else "[data-run]"
    player = page.locator(f'.kv[data-ready="true"]{which}')
    expect(player).to_be_visible(timeout=PATIENCE)
    expect(player).to_have_attribute("data-hash", HASH)
    return player


def _place(player: Locator) -> tuple[int, int]:
    """Event and state hash, once the player has come to rest."""
    expect(player).to_have_attribute("data-hash", HASH)
    return tuple(int(player.get_attribute(name) or "") for name in ("data-event", "data-hash"))  # type: ignore[return-value]


def _go_to(page: Page, player: Locator, step: int) -> None:
    player.evaluate("root => root.focus()")
    page.keyboard.press("g")
    page.get_by_role("spinbutton", name=re.compile("Go to")).fill(str(step + 1))
    page.keyboard.press("Enter")


def _compare_at_random_positions(page: Page, trace: Trace, seed: int) -> None:
    """At random steps and, from there, one frame or one event forwards or backwards: the event that the key leads to,
    and the hash of all that is true there."""
    player = _player(page, trace)
    rng = random.Random(seed)
    scheduled = trace.steps["scheduled"]
    for _ in range(NUM_POSITIONS):
        step = rng.randrange(1, trace.num_steps - 1)
        event = int(scheduled[step])
        key, target = rng.choice(
            (
                ("ArrowRight", int(scheduled[step + 1])),
                ("ArrowLeft", int(scheduled[step - 1])),
                (".", event + 1),
                (",", event - 1),
            )
        )
        _go_to(page, player, step)
        assert _place(player) == (event, trace.cut(event=event).crc())
        page.keyboard.press(key)
        assert _place(player) == (target, trace.cut(event=target).crc()), (step, key)


def _upload(page: Page, app_url: str, path: Path) -> None:
    page.goto(f"{app_url}/bring-your-own")
    page.locator("input[type=file]").set_input_files(path)
    expect(page.get_by_text(re.compile(r"Read as \w+"))).to_be_visible(timeout=PATIENCE)


def _run_upload(page: Page) -> None:
    page.get_by_role("button", name="Run static, continuous and chunked").click()


def _azure_file(folder: Path, num_requests: int) -> Path:
    path = folder / "made_up.csv"
    rng = random.Random(7)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["TIMESTAMP", "ContextTokens", "GeneratedTokens"])
        for i in range(num_requests):
            time = f"2023-11-16 18:{i // 600 % 60:02d}:{i // 10 % 60:02d}.{i % 10}000000"
            writer.writerow([time, rng.randrange(1, 900), rng.randrange(1, 60)])
    return path


@pytest.mark.parametrize(("name", "run_name"), [("four-samples", "shared"), ("step-by-step", "static")])
def test_a_scenario_in_the_browser_is_in_the_state_that_python_says(
    page: Page, app_url: str, name: str, run_name: str
) -> None:
    trace = run(catalogue.load()[name], run_name)
    page.goto(f"{app_url}/stage?scenario={name}&run={run_name}")
    _compare_at_random_positions(page, trace, seed=1)


def test_an_uploaded_file_in_the_browser_is_in_the_state_that_python_says(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    path = _azure_file(tmp_path, 40)
    scenario = trace_file(path, path.name).scenario
    assert scenario is not None
    _upload(page, app_url, path)
    expect(page.get_by_text("Read as azure_csv. 40 rows: 40 accepted")).to_be_visible()
    _run_upload(page)
    _compare_at_random_positions(page, run(scenario, "continuous"), seed=2)
    page.get_by_role("radio", name="static").click()
    _compare_at_random_positions(page, run(scenario, "static"), seed=3)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the public trace extracts are not at hand (KVSCOPE_SHARED)")
def test_a_public_trace_is_in_the_state_that_python_says(page: Page, app_url: str) -> None:
    path = SHARED / "traces" / "azure_2023_code_tail150.csv"
    scenario = trace_file(path, path.name).scenario
    assert scenario is not None
    _upload(page, app_url, path)
    _run_upload(page)
    _compare_at_random_positions(page, run(scenario, "continuous"), seed=4)


def test_a_card_of_the_gallery_opens_its_scenario(page: Page, app_url: str) -> None:
    open_gallery(page, app_url)
    page.get_by_role("link", name="Four samples share one prompt", exact=True).click()
    _player(page, run(catalogue.load()["four-samples"]))
    assert "scenario=four-samples" in page.url


def test_a_link_opens_its_frame_and_the_player_keeps_the_address(page: Page, app_url: str) -> None:
    trace = run(catalogue.load()["four-samples"])
    page.goto(f"{app_url}/stage?scenario=four-samples&f=7")
    player = _player(page)
    assert _place(player)[0] == trace.steps["scheduled"][7]
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"f=8\b"))
    page.reload()
    player = _player(page)
    assert _place(player) == (trace.steps["scheduled"][8], trace.cut(step=8, at="scheduled").crc())


def test_changed_settings_are_a_new_run_with_its_own_address(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/stage?scenario=four-samples&f=7")
    _player(page)
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("tab", name="Memory", exact=True).click()
    page.get_by_role("textbox", name="block_size").fill("8")
    page.get_by_role("button", name="Run with these settings").click()
    _player(page, run(catalogue.load()["four-samples"].with_settings({"block_size": 8})))
    assert "p.block_size=8" in page.url and "f=7" not in page.url


def test_a_setting_that_cannot_be_used_leaves_the_run_as_it_is(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/stage?scenario=four-samples")
    before = _player(page).get_attribute("data-run")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("tab", name="Memory", exact=True).click()
    page.get_by_role("textbox", name="block_size").fill("0")
    page.get_by_role("button", name="Run with these settings").click()
    expect(page.get_by_text("block_size is 0; it has to be between 1 and 65536.")).to_be_visible()
    assert _player(page).get_attribute("data-run") == before


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("scenario=%3Cb%3Enope%3C/b%3E", "There is no scenario “<b>nope</b>”"),
        ("scenario=step-by-step&run=fast", "has no run “fast”"),
        ("scenario=step-by-step&p.block_size=-1", "block_size is -1"),
        ("scenario=step-by-step&p.colour=red", "there is no setting “colour”"),
        ("scenario=step-by-step&f=999999", "Frame 999999"),
        ("scenario=step-by-step&f=0.99", "Frame 0.99"),
        ("scenario=step-by-step&f=%3Ci%3Ex", "<i>x"),
    ],
)
def test_a_wrong_link_gets_one_sentence_and_a_run(page: Page, app_url: str, query: str, sentence: str) -> None:
    page.goto(f"{app_url}/stage?{query}")
    _player(page)
    expect(page.get_by_text(sentence).first).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_text_from_a_file_never_becomes_markup(page: Page, app_url: str, tmp_path: Path) -> None:
    path = tmp_path / "<b>evil<_b> **x**.jsonl"
    rows = [
        {"request_id": HOSTILE + str(i), "input_toks": 20, "output_toks": 3, "arrival_time": 1700000000.0 + i}
        for i in range(3)
    ]
    rows.append({"request_id": HOSTILE, "input_toks": HOSTILE, "output_toks": 3, "arrival_time": 1700000009.0})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    _upload(page, app_url, path)
    expect(page.get_by_text(path.name, exact=True)).to_be_visible()
    expect(page.get_by_text("3 accepted (3 requests), 1 rejected")).to_be_visible()
    _run_upload(page)
    _player(page)
    page.keyboard.press("ArrowRight")
    _place(_player(page))
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("b", has_text="evil").count() == 0
    assert dialogs == []


@pytest.mark.slow
def test_a_long_run_can_be_stopped_and_holds_nobody_up(page: Page, app_url: str, tmp_path: Path) -> None:
    _upload(page, app_url, _azure_file(tmp_path, 30_000))
    page.get_by_role("spinbutton", name="At most this many requests").fill("30000")
    _run_upload(page)
    expect(
        page.get_by_text(re.compile(r"The run continuous is being computed: [\d,]+ of 30,000 requests"))
    ).to_be_visible(timeout=PATIENCE)
    other = page.context.new_page()
    other.goto(f"{app_url}/stage?scenario=four-samples")
    _player(other)
    expect(page.get_by_text("is being computed")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("This run was ended before it was finished.")).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("noise.bin", bytes(range(256)) * 40),
        ("cut.csv.gz", b"\x1f\x8b\x08\x00\x00"),
        ("text.txt", b"hello\n"),
    ],
)
def test_a_file_that_is_no_trace_gets_one_sentence(
    page: Page, app_url: str, tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    page.goto(f"{app_url}/bring-your-own")
    page.locator("input[type=file]").set_input_files(path)
    expect(page.get_by_text("Cannot show this")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_an_upload_comes_back_after_another_page_and_after_a_reload(page: Page, app_url: str, tmp_path: Path) -> None:
    _upload(page, app_url, _azure_file(tmp_path, 10))
    _run_upload(page)
    run_id = _player(page).get_attribute("data-run")
    page.get_by_role("link", name="Start").click()
    expect(page.get_by_text("See an LLM serving engine think.")).to_be_visible()
    page.get_by_role("link", name="Bring your own").click()
    assert _player(page).get_attribute("data-run") == run_id
    page.reload()
    assert _player(page).get_attribute("data-run") == run_id
