"""A page of Chromium at 1280x720 that is watched by `probe.js`: its keys, its pictures, its bytes, its memory.

All times are milliseconds as the page itself takes them; the process that drives it adds nothing to them.
"""

import random
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, WebSocket

PROBE = Path(__file__).with_name("probe.js")
PATIENCE = 30_000
FASTER = 4
"""Presses of `]` from the speed at the beginning, 4 frames a second, to 60."""


class Watched:
    """One page in a session of its own."""

    def __init__(self, browser: Browser) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 720})
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.page.add_init_script(path=PROBE)
        self.cdp = self.context.new_cdp_session(self.page)
        self.num_bytes = 0
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("websocket", self._count)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def close(self) -> None:
        self.context.close()

    def _count(self, websocket: WebSocket) -> None:
        def add(payload: str | bytes) -> None:
            self.num_bytes += len(payload)

        websocket.on("framereceived", add)
        websocket.on("framesent", add)

    # opening

    def open(self, address: str) -> None:
        self.page.goto(address)

    def player(self) -> str:
        """Wait until the player stands and has compared its states with those of Python: "equal/all"."""
        root = self.page.locator(".kv[data-parity]")
        root.wait_for()
        return root.get_attribute("data-parity") or ""

    def show(self, name: str) -> float:
        """Click the button of a run in an open app; from the making of the player's element to its first picture."""
        count = len(self.mounts)
        self.page.get_by_role("button", name=f"Show {name}", exact=True).click()
        self.page.wait_for_function("count => bench.mounts.length > count", arg=count)
        return self.mounts[-1]["picture"] - self.mounts[-1]["mounted"]

    @property
    def mounts(self) -> list[dict[str, float]]:
        return list(self.page.evaluate("bench.mounts"))

    def first_picture(self) -> float:
        """From the begin of the navigation to the first picture; it may be a page that forbids `eval`."""
        self.page.locator('.kv[data-ready="true"]').wait_for()
        while not (mounts := self.mounts):
            self.page.wait_for_timeout(20)
        return mounts[0]["picture"]

    def wait_for_chart(self, step: int) -> None:
        self.page.wait_for_function("title => bench.title() === title", arg=f"step {step}")

    # moving

    def steps(self, count: int) -> list[float]:
        """Press the right arrow at uneven moments; each time from the key to the picture."""
        times = []
        for _ in range(count):
            self.page.wait_for_timeout(30 + 40 * random.random())
            self.page.keyboard.press("ArrowRight")
            times.append(self._answer())
        return times

    def scrubs(self, steps: list[int]) -> list[float]:
        return [_known(time) for time in self.page.evaluate("steps => bench.scrub(steps)", steps)]

    def typed(self, steps: list[int]) -> list[float]:
        """What scrubbing is without the player: enter the number of a step."""
        times = []
        for step in steps:
            field = self.page.get_by_role("spinbutton")
            field.fill(str(step))
            field.press("Enter")
            times.append(self._answer())
        return times

    def _answer(self) -> float:
        return _known(self.page.evaluate("bench.pending"))

    def start_playing(self) -> None:
        """At 60 frames a second."""
        self.page.locator(".kv").focus()
        for _ in range(FASTER):
            self.page.keyboard.press("]")
        self.page.keyboard.press("Space")
        self.page.wait_for_timeout(300)

    def stop_playing(self) -> None:
        if self.is_playing:
            self.page.keyboard.press("Space")

    @property
    def is_playing(self) -> bool:
        return self.page.locator(".kv").get_attribute("data-playing") == "true"

    @property
    def step(self) -> int:
        return int(self.page.locator(".kv").get_attribute("data-step") or 0)

    def watch(self, seconds: float) -> dict[str, Any]:
        return dict(self.page.evaluate("ms => bench.watch(ms)", 1000 * seconds))

    def hold(self, count: int, rate: float) -> tuple[int, float]:
        """Hold the right arrow down: pictures shown until a second later, and from the last key to the last of them."""
        self.page.evaluate("ms => { bench.watching = bench.watch(ms); }", 1000 * (count / rate + 1))
        begin = time.monotonic()
        for i in range(count):
            time.sleep(max(0.0, begin + i / rate - time.monotonic()))
            self.page.keyboard.down("ArrowRight")
        last_key = self.page.evaluate("bench.pressed")
        self.page.keyboard.up("ArrowRight")
        seen = self.page.evaluate("bench.watching")
        return seen["pictures"], seen["last"] - last_key

    # the machine

    def throttle(self, rate: int) -> None:
        """Make the processor of the page so many times slower."""
        self.cdp.send("Emulation.setCPUThrottlingRate", {"rate": rate})

    def heap_mb(self) -> float:
        """JavaScript heap after a garbage collection, with the typed arrays that lie beside it."""
        self.cdp.send("HeapProfiler.collectGarbage")
        usage = self.cdp.send("Runtime.getHeapUsage")
        return (usage["usedSize"] + usage.get("backingStorageSize", 0)) / 1e6


def _known(time: float | None) -> float:
    """An answer that never came counts as the ten seconds that were waited for it."""
    return 10_000.0 if time is None else time
