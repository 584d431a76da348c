"""From an input to its picture: steps, scrubs, a held key, play; the same by rerun; a slower processor; three panes."""

import random
from collections.abc import Iterator

from tests.bench.figures import Row, Spread, kb, times
from tests.bench.player_bench import Bench, Play
from tests.bench.player_runs import LARGE, PANES, TREE, Size
from tests.bench.watched import Watched

THROTTLE = 4
HOLD_RATE = 30.0
STEP_AIMS = {"S": 10, "M": 12, "L": 16}
FRAME = 1_000 / 60


def moving(bench: Bench, size: Size) -> Iterator[Row]:
    """Steps, scrubs, a held key and play, and the same steps by rerun."""
    plan, name = bench.plan, size.name
    with bench.page(f"?show={name}") as watched:
        parity = watched.player()
        yield Row(f"{name}: states equal to Python's", parity, "all", len(set(parity.split("/"))) == 1)
        watched.scrubs([size.middle])
        watched.steps(3)
        num_bytes, cpu = watched.num_bytes, bench.server.cpu_seconds
        steps = Spread.of(watched.steps(plan.num_steps))
        used = 1e3 * (bench.server.cpu_seconds - cpu) / plan.num_steps
        sent = (watched.num_bytes - num_bytes) / plan.num_steps
        scrubs = Spread.of(watched.scrubs(_places(size, plan.num_scrubs)))
        watched.scrubs([size.middle])
        held, stop = watched.hold(plan.num_held, HOLD_RATE)
        watched.scrubs([size.middle // 4])
        watched.start_playing()
        play = Play.of(watched, plan.seconds)
        rerun_bytes, is_unbroken = _rerun_beside(bench, watched)
    aim, is_large, no_aim = STEP_AIMS.get(name), size is LARGE, ("", None)
    aims = (f"<= {aim} / 33 ms", steps.median <= aim and steps.p95 <= 33) if aim else no_aim
    yield Row(f"{name}: step, key to picture", str(steps), *aims)
    aims = ("<= 25 / 33 ms", scrubs.median <= 25 and scrubs.p95 <= 33) if is_large else no_aim
    yield Row(f"{name}: random scrub", str(scrubs), *aims)
    aims = (">= 55 a second, none skipped", play.rate >= 55 and not play.skipped) if is_large else no_aim
    yield Row(f"{name}: play at 60 frames a second, {plan.seconds:g} s", str(play), *aims)
    yield Row(f"{name}: script time of a frame in play", str(play.script))
    behind = f"the last {stop:,.0f} ms after the last key" if stop >= 0 else "still behind a second later"
    figure, is_met = f"{held} of {plan.num_held} pictures, {behind}", held == plan.num_held and 0 <= stop <= 2 * FRAME
    yield Row(f"{name}: arrow held at 30 a second", figure, "all, stop within a frame", is_met)
    figure = f"{sent:,.0f} B, {used:.2f} ms"
    yield Row(f"{name}: bytes, server time per step", figure, "0 B, < 1 ms", sent == 0 and used < 1)
    figure, is_met = f"{kb(rerun_bytes)}, play {'went on' if is_unbroken else 'stopped'}", rerun_bytes <= 2_000
    yield Row(f"{name}: rerun of the page during play", figure, "<= 2 kB, unbroken", is_met and is_unbroken)
    yield from _reruns(bench, name, size, steps, scrubs)


def _rerun_beside(bench: Bench, watched: Watched) -> tuple[int, bool]:
    """Bytes of a rerun of the page that changes nothing, and whether the player plays on."""
    num_bytes, num_mounts = watched.num_bytes, len(watched.mounts)
    was_playing, before = watched.is_playing, watched.step
    watched.page.get_by_role("button", name="Rerun", exact=True).click()
    watched.page.wait_for_timeout(1_000 * min(1.0, bench.plan.seconds))
    is_unbroken = not was_playing or (len(watched.mounts) == num_mounts and watched.step > before)
    return watched.num_bytes - num_bytes, is_unbroken


def _reruns(bench: Bench, what: str, size: Size, steps: Spread, scrubs: Spread, slower: int = 1) -> Iterator[Row]:
    """Steps and scrubs without the player, and how many times as long as the player's they take."""
    count = max(2, bench.plan.num_reruns // slower)
    with bench.page(f"?rerun={size.name}") as watched:
        watched.wait_for_chart(size.middle)
        watched.throttle(slower)
        watched.page.keyboard.press("ArrowRight")
        watched.wait_for_chart(size.middle + 1)
        num_bytes, cpu = watched.num_bytes, bench.server.cpu_seconds
        slow = Spread.of(watched.steps(count))
        sent, used = (watched.num_bytes - num_bytes) / count, 1e3 * (bench.server.cpu_seconds - cpu) / count
        far = Spread.of(watched.typed(_places(size, count)))
    yield Row(f"{what}: step by Streamlit rerun", f"{slow}: {times(steps, slow)} the player's")
    yield Row(f"{what}: scrub by Streamlit rerun", f"{far}: {times(scrubs, far)} the player's")
    yield Row(f"{what}: bytes, server time per rerun", f"{kb(sent)}, {used:,.0f} ms")


def throttled(bench: Bench) -> Iterator[Row]:
    """The largest run on a processor that is so many times slower."""
    size, plan = bench.plan.largest, bench.plan
    with bench.page(f"?show={size.name}") as watched:
        watched.player()
        watched.throttle(THROTTLE)
        watched.scrubs([size.middle])
        steps = Spread.of(watched.steps(plan.num_steps // 2 + 1))
        scrubs = Spread.of(watched.scrubs(_places(size, plan.num_scrubs // 2 + 1)))
        watched.scrubs([size.middle // 4])
        watched.start_playing()
        play = Play.of(watched, plan.seconds)
    what = f"{size.name}, {THROTTLE} x slower"
    yield Row(f"{what}: step", str(steps))
    yield Row(f"{what}: random scrub", str(scrubs))
    yield Row(f"{what}: play", str(play), ">= 30 a second", play.rate >= 30)
    yield from _reruns(bench, what, size, steps, scrubs, THROTTLE)


def in_lock_step(bench: Bench) -> Iterator[Row]:
    """Three policies side by side on the clock of steps."""
    size, name = bench.plan.panes, f"{bench.plan.panes.name}, 3 panes"
    with bench.page(f"?show={PANES}") as watched:
        watched.player()
        watched.scrubs([size.middle])
        steps = Spread.of(watched.steps(bench.plan.num_steps // 2 + 1))
        watched.scrubs([size.middle // 4])
        watched.start_playing()
        play = Play.of(watched, bench.plan.seconds)
    yield Row(f"{name}: step, key to picture", str(steps))
    is_met = play.rate >= 55 and play.apart == 0
    yield Row(f"{name}: play", f"{play}, {play.apart} steps apart", ">= 55 a second, 0 apart", is_met)
    yield Row(f"{name}: script time of a frame", str(play.script), "p95 <= 8 ms", play.script.p95 <= 8)


def in_a_tree(bench: Bench, num_steps: int, num_nodes: int) -> Iterator[Row]:
    """A radix tree at its largest, at the end of its run."""
    plan = bench.plan
    first = num_steps - 2 - plan.num_steps
    places = random.Random(1).sample(
        range(max(1, num_steps * 9 // 10), num_steps - 1), min(plan.num_scrubs, num_steps // 20)
    )
    with bench.page(f"?show={TREE}") as watched:
        watched.player()
        watched.scrubs([first])
        steps = Spread.of(watched.steps(plan.num_steps))
        scrubs = Spread.of(watched.scrubs(places))
        watched.scrubs([num_steps * 3 // 4])
        watched.start_playing()
        play = Play.of(watched, plan.seconds)
    what = f"tree of {num_nodes:,} nodes"
    yield Row(f"{what}: step, key to picture", str(steps), "<= 16 / 33 ms", steps.median <= 16 and steps.p95 <= 33)
    yield Row(f"{what}: random scrub", str(scrubs), "<= 25 / 33 ms", scrubs.median <= 25 and scrubs.p95 <= 33)
    yield Row(f"{what}: play", str(play), ">= 55 a second", play.rate >= 55)


def _places(size: Size, count: int) -> list[int]:
    """Different steps all over the run, neighbours in the list always apart."""
    return random.Random(1).sample(range(1, size.num_steps - 1), min(count, size.num_steps - 2))
