"""Looking into the specification of a chart: strict JSON, its records, its fields, its views."""

import json
from collections.abc import Iterator
from typing import Any

from viz.charts.drawing import Drawing


def spec_of(drawing: Drawing) -> dict[str, Any]:
    """The specification as a strict parser reads it; Altair has checked it against its schema."""
    assert drawing.chart is not None, drawing.caption
    spec: dict[str, Any] = json.loads(json.dumps(drawing.chart.to_dict(), allow_nan=False))
    return spec


def datasets(spec: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return list(spec["datasets"].values())


def records(drawing: Drawing) -> list[dict[str, Any]]:
    """The records of a chart's largest data set."""
    return max(datasets(spec_of(drawing)), key=len)


def views(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The plain views: the chart itself, or its layers."""
    return list(spec.get("layer", [spec]))


def channels(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every channel that reads a field, with its name."""
    for view in views(spec):
        for channel, definition in view["encoding"].items():
            for one in definition if isinstance(definition, list) else [definition]:
                if "field" in one:
                    yield channel, one


def domain(drawing: Drawing, channel: str) -> list[float]:
    """The stated domain of a channel."""
    found = [one["scale"]["domain"] for name, one in channels(spec_of(drawing)) if name == channel and "scale" in one]
    return list(found[0])
