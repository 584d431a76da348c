"""Pages come and go: whatever of ours listens to the window or the document leaves with the page that needed it, a new page
begins at its top, and no click says two things to the server at once."""

from collections import Counter

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.gallery_page import open_gallery

PATIENCE = 60_000
NUM_ROUNDS = 3
COUNT = """(() => {
  const {prototype} = EventTarget;
  const {addEventListener, removeEventListener} = prototype;
  const held = new Map();
  const isWatched = target => target === window || target === document || target instanceof MediaQueryList;
  const isEarly = options => Boolean(typeof options === "object" ? options?.capture : options);
  const keyOf = (target, type, options) => `${target.constructor.name} ${type}${isEarly(options) ? " early" : ""}`;
  const drop = (key, listener) => {
    const of = held.get(key);
    of?.delete(listener);
    if (!of?.size) held.delete(key);
  };
  prototype.addEventListener = function (type, listener, options) {
    addEventListener.call(this, type, listener, options);
    const target = this ?? window;
    if (!listener || !isWatched(target) || options?.once || !/kvscope|blob:/.test(new Error().stack)) return;
    const key = keyOf(target, type, options);
    if (!held.has(key)) held.set(key, new Set());
    held.get(key).add(listener);
    if (options?.signal) addEventListener.call(options.signal, "abort", () => drop(key, listener));
  };
  prototype.removeEventListener = function (type, listener, options) {
    removeEventListener.call(this, type, listener, options);
    const target = this ?? window;
    if (isWatched(target)) drop(keyOf(target, type, options), listener);
  };
  window.listenersOfOurs = () => Object.fromEntries([...held].map(([key, of]) => [key, of.size]));
})()"""
"""Counts the listeners that components of KVScope add to what outlives a page, by target, type and phase."""


def _listeners(page: Page) -> Counter[str]:
    return Counter(page.evaluate("listenersOfOurs()"))


def _go(page: Page, name: str) -> Counter[str]:
    """Our listeners after a click in the navigation, once the page is there."""
    page.get_by_role("link", name=name, exact=True).click()
    if name == "Start":
        expect(page.get_by_text("See an LLM serving engine think.")).to_be_visible(timeout=PATIENCE)
        expect(page.locator("[data-listens]")).to_be_attached(timeout=PATIENCE)
        expect(page.locator(".kv")).to_have_count(0, timeout=PATIENCE)
    else:
        player = page.locator(f'.kv[data-ready="true"][data-hash][data-pane="{0 if name == "Compare" else 1}"]')
        expect(player).to_be_visible(timeout=PATIENCE)
        expect(page.locator(".kv")).to_have_count(1, timeout=PATIENCE)
    return _listeners(page)


def test_going_round_the_pages_leaves_no_listener_behind(context: BrowserContext, app_url: str) -> None:
    context.add_init_script(COUNT)
    page = context.new_page()
    page.goto(f"{app_url}/stage?scenario=four-samples")
    expect(page.locator('.kv[data-ready="true"][data-hash]')).to_be_visible(timeout=PATIENCE)
    seen: dict[str, list[Counter[str]]] = {"Compare": [], "Start": [], "Stage": []}
    for _ in range(NUM_ROUNDS):
        for name, counts in seen.items():
            counts.append(_go(page, name))
    for name, counts in seen.items():
        assert counts == [counts[0]] * NUM_ROUNDS, name
    assert seen["Start"][0] == {"HTMLDocument keydown": 1}
    assert seen["Stage"][0] == seen["Compare"][0]
    assert seen["Stage"][0]["HTMLDocument keydown"] == 1
    assert seen["Stage"][0]["Window resize"] == 1
    # one listener each: a key still does its work once
    player = page.locator(".kv")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-frame", "1")


SCROLLED = """document.querySelector('[data-testid="stMain"]').scrollTop"""


def test_a_scenario_from_the_end_of_the_gallery_begins_at_its_top(page: Page, app_url: str) -> None:
    """The page is kept high, so that nothing else takes the scroller back."""
    open_gallery(page, app_url)
    page.add_style_tag(content=".stMainBlockContainer { min-height: 6000px; }")
    last = page.locator('[class*="st-key-card-"] a').last
    last.scroll_into_view_if_needed()
    assert page.evaluate(SCROLLED) > 500
    last.click()
    expect(page.locator('.kv[data-ready="true"][data-hash]')).to_be_visible(timeout=PATIENCE)
    assert page.evaluate(SCROLLED) == 0


def test_a_click_beside_an_open_popover_says_one_thing_to_the_server(page: Page, app_url: str) -> None:
    """Closing it and choosing a tab are one click; Streamlit warns where the two belong to different fragments."""
    warnings: list[str] = []
    page.on("console", lambda message: warnings.append(message.text) if "fragment" in message.text else None)
    page.goto(f"{app_url}/stage?scenario=four-samples")
    expect(page.locator('.kv[data-ready="true"][data-hash]')).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Story", exact=True).click()
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("tab", name="KV memory").click()
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0, timeout=PATIENCE)
    expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible(timeout=PATIENCE)
    assert warnings == []
