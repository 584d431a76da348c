"""The acceptance list as a table: for each item the formula, what KVScope gets, and what the text says.

The rows come from `scenarios.acceptance`, computed once for all visitors by a job; this file sorts them by section and
state, and knows the formulas behind the worked examples.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from scenarios import acceptance
from scenarios.acceptance import ROWS
from scenarios.commands.check import STATES, state_of
from viz.pages.parts.jobs import Job, Report
from viz.pages.parts.visitor import shared

ALL = "all"

FORMULAS: Mapping[str, str] = {
    "A01": "2 · layers · hidden size · 2 B",
    "A02": "2 · layers · hidden size · 2 B",
    "A03": "(memory · (1 − workspace) − weights) / KV of a token",
    "A04": "max((weights + KV read) / bandwidth, FLOPs / achievable FLOP/s) + overhead",
    "A05": "achievable FLOP/s / bandwidth",
    "A06": "512 · decode time / prefill time",
    "A07": "2 · parameters / (decode time · FLOP/s)",
    "A08": "b · 2 · parameters / bytes of the weights",
    "A09": "b / iteration time(b)",
    "A10": "⌊KV capacity / 512⌋",
    "A11": "⌈bytes of the weights / memory⌉",
    "A12": "3 GB / KV of a token",
    "A13": "weights / (10 · bandwidth) + overhead",
    "A15": "(weights + 16 · 512 · KV of a token) / bandwidth + overhead",
    "A16": "⌊(0.9 · memory − weights) / (4,096 · KV of a token)⌋",
    "A17": "attention heads / KV heads",
    "A18": "2 · layers · KV heads · head size · 2 B",
    "A19": "weights / memory; (memory · 0.95 − weights) / KV of a token",
    "B01": "Σ N / (B · max N)",
    "B02": "Σ N / (B · max N)",
    "B03": "1 − Σ N / (B · max N)",
    "B04": "start of the batch + iterations · iteration time",
    "B05": "places at work / (places · iterations)",
    "B06": "Σ N / (places · iterations)",
    "B07": "throughput of continuous / throughput of static",
    "B11": "mean of (finish − arrival) / output tokens",
    "C02": "reserved − used",
    "C03": "reserved − used",
    "C04": "slots with tokens / slots taken",
    "C06": "reserved − 1,000; ⌈1,000 / 16⌉ · 16 − 1,000",
    "C07": "⌈tokens / 16⌉ · 16 − tokens",
    "C09": "⌊KV capacity / 2,048⌋",
    "C12": "⌊50 GiB / (16 · KV of a token)⌋; paged / contiguous",
    "C13": "(72 GB − weights − workspace) / 2³⁰ B",
    "D01": "block_table[⌊token / 4⌋], token mod 4",
    "D02": "⌈tokens / 4⌉ blocks",
    "D03": "⌈tokens / 16⌉ blocks",
    "D05": "(Σ blocks Σ exp(q·k/√d − max) · v) / Σ exp(q·k/√d − max)",
    "E02": "reference count = tables that name the block",
    "E03": "4 · ⌈149 / 16⌉; 6 shared + 4 · (10 − 6)",
    "E04": "full blocks of the prompt shared, the partial one copied",
    "E09": "⌊(25,600 − 50) / (82 − 50)⌋; 800 / 16 blocks stored once",
    "G01": "⌈10,000 / 1,500⌉",
    "G02": "budget / prefill rate",
    "G06": "max |logits of chunks − logits of the whole prompt|",
    "H03": "known tokens − tokens found in the tree",
    "H04": "⌊known prefix / 16⌋ · 16",
    "H08": "Σ tokens to compute over 8 turns",
    "H11": "tokens to compute = Σ tokens of distinct prefixes",
    "H14": "tokens found / prompt tokens",
    "L02": "exponential gaps; exp(μ + σ · normal)",
}
"""For the worked examples that are built: what the text computes by hand."""


@dataclass(frozen=True)
class Item:
    """One row of the list, `state` one of STATES."""

    id: str
    title: str
    kind: str
    formula: str
    ours: str
    expected: str
    state: str
    where: str

    @property
    def section(self) -> str:
        return self.id[0]


def items(rows: Iterable[Mapping[str, Any]]) -> list[Item]:
    """The rows of `scenarios.acceptance.check` as this page shows them."""
    return [
        Item(
            row["id"],
            row["title"],
            row["class"],
            FORMULAS.get(row["id"], ""),
            row["ours"],
            row["expected"],
            state_of(row),
            row["where"],
        )
        for row in rows
    ]


def sections() -> dict[str, str]:
    """Letter -> name of each section, as its file tells it: "A: the cost model, the roofline and memory sizes"."""
    letters = dict.fromkeys(row.id[0] for row in ROWS)
    modules = {letter: getattr(acceptance, letter.lower()) for letter in letters}
    return {letter: (module.__doc__ or letter).split("\n")[0].rstrip(".") for letter, module in modules.items()}


def chosen(every: Sequence[Item], section: str, state: str) -> list[Item]:
    return [item for item in every if section in (ALL, item.section) and state in (ALL, item.state)]


def counts(every: Iterable[Item]) -> dict[str, int]:
    """State -> number of items; each state is there."""
    numbers = Counter(item.state for item in every)
    return {state: numbers[state] for state in STATES}


def table(shown: Iterable[Item]) -> dict[str, list[str]]:
    """Columns for a table: formula, simulated value and the value of the text beside each other."""
    columns = {
        "id": "id",
        "item": "title",
        "class": "kind",
        "formula": "formula",
        "KVScope": "ours",
        "the text": "expected",
        "state": "state",
        "where": "where",
    }
    shown = list(shown)
    return {name: [getattr(item, attribute) for item in shown] for name, attribute in columns.items()}


def job() -> Job[list[Item]]:
    """The job that computes the list, started if nobody has asked for it yet."""
    return shared(_job)


def forget() -> None:
    """Drop the list, so that the next question computes it anew."""
    _job.clear()


@st.cache_resource(show_spinner=False)
def _job() -> Job[list[Item]]:
    return Job(_compute)


def _compute(report: Report) -> list[Item]:
    done = iter(range(len(ROWS)))

    def progress(row: acceptance.Row) -> None:
        number = next(done)
        report(number / len(ROWS), f"row {number + 1} of {len(ROWS)}, {row.id} {row.title}")

    return items(acceptance.check(progress)["rows"])
