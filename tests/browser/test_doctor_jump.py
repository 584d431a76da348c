"""From the doctor below the player to the moment that it names, and back again with the browser."""

from playwright.sync_api import Page, expect

PATIENCE = 60_000
PLAYER = '.kv[data-ready="true"][data-hash]'


def test_back_after_a_jump_shows_the_moment_before_it(page: Page, app_url: str) -> None:
    """The first request is admitted in the second event of step 0; the address begins with step 2."""
    page.goto(f"{app_url}/stage?scenario=two-chats-two-shots&run=radix&f=2")
    player = page.locator(PLAYER)
    expect(player).to_have_attribute("data-frame", "2", timeout=PATIENCE)
    before = str(player.get_attribute("data-event"))
    page.get_by_role("tab", name="Prefix cache").click()
    page.get_by_role("button", name="Go to its admission, iteration 1").click(timeout=PATIENCE)
    expect(player).to_have_attribute("data-event", "2", timeout=PATIENCE)
    page.wait_for_url("**&f=0.2")
    for _ in range(2):
        page.go_back()
        page.wait_for_url("**&f=2")
        expect(player).to_have_attribute("data-event", before, timeout=PATIENCE)
        page.go_forward()
        page.wait_for_url("**&f=0.2")
        expect(player).to_have_attribute("data-event", "2", timeout=PATIENCE)
