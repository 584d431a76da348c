"""The frame of the pages in a browser: controls that close, one step back, addresses that name what is shown, nothing cut."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from scenarios import catalogue
from tests.browser.gallery_page import open_gallery

PATIENCE = 60_000
SIZES = ((1280, 720), (1920, 1080))
NUM_SHARING = sum("Sharing" in scenario.chips for scenario in catalogue.load().values())
FOUR = "Four samples share one prompt"
ADDRESSES = (
    "",
    "stage?scenario=step-by-step&p.num_blocks=6",
    "stage?scenario=step-by-step&run=fast&p.colour=red",
    "compare?scenario=ten-iterations",
    "check",
    "bring-your-own",
)

_BOXES = """() => {
  const shown = element => element.getBoundingClientRect().width && getComputedStyle(element).visibility === "visible";
  const all = '[data-testid="stHeader"] a, .st-key-bar button, .st-key-bar a, .st-key-bar [data-baseweb="select"],'
    + '[class*="st-key-notice-"]';
  return [...document.querySelectorAll(all)].filter(shown).map(element => {
    const {left, top, right, bottom} = element.getBoundingClientRect();
    return [element.textContent.trim().slice(0, 20), left, top, right, bottom];
  });
}"""


def _player(page: Page) -> Locator:
    player = page.locator('.kv[data-ready="true"]')
    expect(player).to_be_visible(timeout=PATIENCE)
    return player


def _settings(page: Page) -> Locator:
    """The last button of the form of the settings."""
    return page.get_by_role("button", name="Run with these settings")


def _try_example(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/bring-your-own")
    page.get_by_role("button", name="Try the example").click()
    expect(page.get_by_text("Read as generic_csv")).to_be_visible(timeout=PATIENCE)


def test_the_settings_close_when_the_run_begins_and_lead_back(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/stage?scenario=four-samples")
    before = _player(page).get_attribute("data-run") or ""
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("tab", name="Memory", exact=True).click()
    page.get_by_role("textbox", name="block_size").fill("8")
    _settings(page).click()
    page.wait_for_url(re.compile(r"p\.block_size=8"))
    expect(_settings(page)).to_be_hidden(timeout=PATIENCE)
    expect(_player(page)).not_to_have_attribute("data-run", before, timeout=PATIENCE)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.get_by_role("button", name="Settings, changed").click()
    page.get_by_role("button", name="Back to the scenario's settings").click()
    page.wait_for_url(re.compile(r"stage\?scenario=four-samples&run=shared$"))
    expect(_settings(page)).to_be_hidden(timeout=PATIENCE)


def test_a_refused_setting_keeps_the_form_open(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/stage?scenario=four-samples")
    _player(page)
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("textbox", name="max_num_seqs").fill("many")
    _settings(page).click()
    expect(page.get_by_text("max_num_seqs is 'many'")).to_be_visible(timeout=PATIENCE)
    expect(_settings(page)).to_be_visible()


def test_a_job_that_takes_long_has_one_bar_and_a_stop(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/check")
    again = page.get_by_role("button", name="Compute again")
    expect(again).to_be_visible(timeout=PATIENCE)
    again.click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    # drawn again and again while it goes on
    page.wait_for_timeout(1000)
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    expect(page.get_by_role("table")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_test_id("stProgress")).to_have_count(0)


def test_one_step_back_leads_from_a_card_to_the_gallery(page: Page, app_url: str) -> None:
    open_gallery(page, app_url)
    page.get_by_role("link", name=FOUR, exact=True).click()
    _player(page)
    page.go_back()
    expect(page.get_by_role("link", name=FOUR, exact=True)).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("name", ["Stage", "Compare"])
def test_one_step_back_leads_from_the_navigation_too_and_the_address_is_whole(
    page: Page, app_url: str, name: str
) -> None:
    open_gallery(page, app_url)
    page.get_by_role("link", name=name, exact=True).click()
    _player(page)
    page.wait_for_url(re.compile(rf"{name.lower()}\?scenario=[a-z-]+&run="))
    page.go_back()
    expect(page.get_by_role("link", name=FOUR, exact=True)).to_be_visible(timeout=PATIENCE)


def test_the_filter_of_the_gallery_comes_back(page: Page, app_url: str) -> None:
    open_gallery(page, app_url)
    page.get_by_role("radio", name="Sharing").click()
    page.wait_for_url(re.compile(r"\?show=Sharing$"))
    expect(page.locator('[class*="st-key-card-"]')).to_have_count(NUM_SHARING)
    page.get_by_role("link", name=FOUR, exact=True).click()
    _player(page)
    page.go_back()
    expect(page.locator('[class*="st-key-card-"]')).to_have_count(NUM_SHARING, timeout=PATIENCE)
    assert page.url.endswith("?show=Sharing")


def test_the_address_of_an_uploaded_file_names_what_is_on_the_screen(page: Page, app_url: str) -> None:
    _try_example(page, app_url)
    page.wait_for_url(re.compile(r"bring-your-own\?file=[0-9a-f]+$"))
    page.get_by_text("Fit memory to this trace").click()
    page.get_by_role("button", name="Run static, continuous and chunked").click()
    _player(page)
    page.wait_for_url(re.compile(r"run=continuous&p\.num_blocks=330$"))
    expect(page.locator(".st-key-loaded")).to_have_text("example.csvLlama-3-8B on H100-80GB")
    page.get_by_role("radio", name="static").click()
    page.wait_for_url(re.compile(r"run=static&p\.num_blocks=330$"))
    page.get_by_role("radio", name="File").click()
    page.wait_for_url(re.compile(r"\?file=[0-9a-f]+&p\.num_blocks=330$"))
    expect(page.get_by_text("Read as generic_csv")).to_be_visible(timeout=PATIENCE)
    page.go_back()
    expect(page.get_by_role("radio", name="static")).to_be_checked(timeout=PATIENCE)
    _player(page)


def test_compare_opens_the_run_of_a_file_beside_another_one(page: Page, app_url: str) -> None:
    _try_example(page, app_url)
    page.get_by_role("button", name="Run static, continuous and chunked").click()
    _player(page)
    page.locator(".st-key-bar").get_by_role("link", name="Compare").click()
    page.wait_for_url(re.compile(r"compare\?file=[0-9a-f]+&run=continuous&run=static"))
    expect(_player(page)).to_have_attribute("data-pane", "0", timeout=PATIENCE)


def test_a_wrong_link_pushes_nothing_off_the_screen_and_its_sentence_can_be_closed(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/stage?scenario=step-by-step")
    before = _player(page).bounding_box()
    page.goto(f"{app_url}/stage?scenario=step-by-step&run=fast&p.colour=red")
    expect(page.get_by_text("has no run “fast”")).to_be_visible(timeout=PATIENCE)
    assert _player(page).bounding_box() == before
    expect(page.get_by_role("button", name="Settings")).to_be_hidden()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_text("has no run “fast”")).to_be_hidden(timeout=PATIENCE)
    expect(page.get_by_role("button", name="Settings")).to_be_visible()


def test_no_table_offers_a_file_that_a_spreadsheet_could_run(page: Page, app_url: str) -> None:
    _try_example(page, app_url)
    frame = page.get_by_test_id("stDataFrame").first
    frame.hover()
    expect(page.get_by_test_id("stElementToolbar").first).to_be_attached()
    expect(page.locator('[data-testid="stElementToolbar"] [aria-label^="Download"]').first).to_be_hidden()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_in_the_line_of_the_navigation_overlaps(
    browser: Browser, app_url: str, size: tuple[int, int], address: str
) -> None:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.goto(f"{app_url}/{address}")
    expect(page.get_by_role("link", name="Bring your own")).to_be_visible(timeout=PATIENCE)
    if address.startswith(("stage", "compare")):
        _player(page)
    boxes = page.evaluate(_BOXES)
    assert len(boxes) >= 5
    for index, (name, left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and right <= width, name
        for other, *box in boxes[:index]:
            apart = right <= box[0] + 1 or box[2] <= left + 1 or bottom <= box[1] + 1 or box[3] <= top + 1
            assert apart or name == other, (name, other)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    context.close()
