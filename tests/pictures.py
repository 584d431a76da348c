"""`python -m tests.pictures [FOLDER]`: a picture of every page, in both themes and two sizes, to be looked at.

It starts apps of its own on free ports and ends them again; the page Live has its real model where it is cached, else one
of characters. A page that does not come up, or that complains, is named, and the exit status is 1.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from engine.executor.model_error import ModelError
from engine.executor.model_files import present_model
from tests.app_server import ROOT, NotServed, serving
from tests.browser.chromium import FLAGS, find
from tests.browser.live_page import show_answers, start_button

THEMES = ("light", "dark")
SIZES = ((1280, 720), (1920, 1080))
PATIENCE = 60_000
AT_REST = 700
"""Milliseconds that a page gets after it is ready: fonts, and what the panels draw a little later."""
COMPLAINTS = ("Cannot show this", "The link has a mistake", "Page not found")


@dataclass(frozen=True)
class Shot:
    """A picture: its name, the address, what has to be there before it is taken, and the script of its app."""

    name: str
    address: str
    ready: Callable[[Page], None]
    script: str = "app.py"


def of_frame(page: Page) -> None:
    expect(page.locator('.kv[data-ready="true"][data-hash]')).to_be_visible(timeout=PATIENCE)


def of_gallery(page: Page) -> None:
    """Every card has its picture."""
    expect(page.locator(".cover").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".cover svg:has(> .place)")).to_have_count(0, timeout=PATIENCE)


def of_file(page: Page) -> None:
    rows = [f"{i * 0.4:.1f},{180 + 37 * i % 900},{20 + 13 * i % 160}" for i in range(120)]
    text = "\n".join(("arrived_at,num_prefill_tokens,num_decode_tokens", *rows, "48.0,many,4"))
    file = {"name": "requests.csv", "mimeType": "text/csv", "buffer": text.encode()}
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_text("Read as vidur_csv")).to_be_visible(timeout=PATIENCE)


def of_table(page: Page) -> None:
    expect(page.locator("table").first).to_be_visible(timeout=PATIENCE)


def of_model(page: Page) -> None:
    start_button(page, PATIENCE)


def of_answers(page: Page) -> None:
    """The model has said something to everybody, and goes on."""
    start_button(page, PATIENCE).click()
    player = page.locator('.kv[data-ready="true"]')
    expect(player).to_have_attribute("data-step", re.compile(r"^(1[2-9]|[2-9]\d|\d{3,})$"), timeout=PATIENCE)


def of_replay(page: Page) -> None:
    """The run is over, and the simulated one stands beside it."""
    start_button(page, PATIENCE).click()
    expect(page.locator(".st-key-live-state")).to_have_text("All is answered", timeout=PATIENCE)
    show_answers(page)
    page.locator(".st-key-live-replay button").click()
    expect(page.get_by_text("Step times, measured and predicted")).to_be_attached(timeout=PATIENCE)
    of_frame(page)


LIVE, LIVE_MODEL = (f"tests/browser/{name}.py" for name in ("live_app", "live_model_app"))
SHOTS = (
    Shot("start", "", of_gallery),
    Shot("stage-copies", "stage?scenario=four-samples&run=shared&f=1", of_frame),
    Shot("stage-strips", "stage?scenario=three-wastes&run=oracle&f=6", of_frame),
    Shot("stage-25600", "stage?scenario=h100-capacity&run=paged&f=299", of_frame),
    Shot("compare-start", "compare?scenario=step-by-step&run=static&run=continuous&f=0", of_frame),
    Shot("compare-difference", "compare?scenario=ten-iterations&run=static&run=continuous&clock=steps&f=3", of_frame),
    Shot("compare-long", "compare?scenario=static-vs-continuous&run=static&run=continuous&f=232", of_frame),
    Shot("bring-your-own", "bring-your-own", of_file),
    Shot("live-begin", "", of_model, LIVE),
    Shot("live", "", of_answers, LIVE),
    Shot("live-replay", "", of_replay, LIVE),
    Shot("check", "check", of_table),
)


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else ROOT / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    path = find()
    if path is None:
        print("No Chromium was found; `make chromium` says what to install.", file=sys.stderr)
        return 1
    try:
        live = LIVE if present_model() is None else LIVE_MODEL
        problems = _take_all(path, folder, live)
    except (ModelError, NotServed) as error:
        print(error, file=sys.stderr)
        return 1
    for problem in problems:
        print(problem, file=sys.stderr)
    num_all = len(SHOTS) * len(THEMES) * len(SIZES)
    print(f"{num_all - len(problems)} of {num_all} pictures written to {folder}")
    return 1 if problems else 0


def _take_all(chromium: str, folder: Path, live: str) -> list[str]:
    """All pictures; `live` is the script for those of the page Live. Sentences for those that could not be taken."""
    with TemporaryDirectory() as log, sync_playwright() as playwright, ExitStack() as apps:
        scripts = dict.fromkeys(shot.script for shot in SHOTS)
        urls = {
            script: apps.enter_context(serving(Path(log) / f"{number}.txt", live if script == LIVE else script))
            for number, script in enumerate(scripts)
        }
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        problems = [
            problem for theme in THEMES for size in SIZES for problem in _take(browser, urls, folder, theme, size)
        ]
        browser.close()
    return problems


def _take(browser: Browser, urls: dict[str, str], folder: Path, theme: str, size: tuple[int, int]) -> Iterator[str]:
    """All pictures of one theme and size; a sentence for each that could not be taken."""
    width, height = size
    for shot in SHOTS:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,  # type: ignore[arg-type]
            reduced_motion="reduce",
        )
        name = f"{shot.name}-{theme}-{width}x{height}"
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        try:
            page.goto(f"{urls[shot.script]}/{shot.address}")
            shot.ready(page)
            expect(page.locator('[data-testid="stSkeleton"], [data-testid="stStatusWidget"]')).to_have_count(
                0, timeout=PATIENCE
            )
            page.wait_for_timeout(AT_REST)
            page.screenshot(path=folder / f"{name}.png")
            errors += [text for text in COMPLAINTS if page.get_by_text(text).count()]
            errors += ["an exception on the page"] if page.get_by_test_id("stException").count() else []
        except (AssertionError, Error) as error:
            errors.append(str(error).strip().splitlines()[0])
        if errors:
            yield f"{name}: {errors[0]}"
        context.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
