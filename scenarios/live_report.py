"""What a live run answered, as `scenarios live` prints it: for machines and for people."""

from typing import Any

import numpy as np

from engine.live import LiveEngine
from engine.request import FinishReason, SequenceStatus
from engine.sequence import SequenceGroup
from engine.trace.metrics import measure
from engine.trace.trace import Trace
from engine.trace.track import HAPPENINGS
from scenarios.commands.table import percent, seconds
from scenarios.terminal import printable


def of_model(model: Any) -> str:
    """ "SmolLM2-135M-Instruct · CPU, float32", of a `LoadedModel`."""
    device = "CPU" if model.device == "cpu" else model.device
    return f"{model.name.partition('.')[0]} · {device}, {model.dtype}"


def report(model: Any, live: LiveEngine, trace: Trace, prompts: list[str]) -> dict[str, Any]:
    """The JSON object. `model` is a `LoadedModel`; `prompts` are by request; times are null where they never came."""
    measured = measure(trace)
    figures = measured.requests
    requests = [
        {
            "prompt": prompt,
            "prompt_token_ids": list(group.request.prompt.token_ids or ()),
            "outputs": _outputs(model, group),
            "ttft_s": _time(figures.ttft[group.index]),
            "latency_s": _time(figures.latency[group.index]),
            **({"error": error} if (error := live.why_refused(group)) else {}),
        }
        for prompt, group in zip(prompts, live.engine.groups, strict=False)
    ]
    kinds = np.bincount(trace.happenings["kind"], minlength=len(HAPPENINGS))
    stats = live.engine.scheduler.cache_stats
    return {
        "model": model.name,
        "device": model.device,
        "dtype": model.dtype,
        "requests": requests,
        "kv": {
            "blocks": live.settings.pool_blocks,
            "cow_copies": int(kinds[HAPPENINGS.index("copied")]),
            "hit_tokens": stats.hits + stats.preempted_hits,
            "preemptions": int(kinds[HAPPENINGS.index("preempted")]),
            "evictions": int(kinds[HAPPENINGS.index("evicted")]),
        },
        "steps": trace.num_steps,
        "duration_s": measured.duration,
        "num_output_tokens": int(figures.num_output_tokens.sum()),
        "settings": live.settings.as_dict(),
    }


def text(told: dict[str, Any]) -> str:
    """The same for people: every prompt with its answers, then a line about the run."""
    lines: list[str] = []
    for request in told["requests"]:
        lines += [f"> {printable(line)}" for line in request["prompt"].splitlines() or [""]]
        if "error" in request:
            lines += [f"  refused: {request['error']}", ""]
            continue
        for number, output in enumerate(request["outputs"], 1):
            of = f"{number} of {len(request['outputs'])}, " if len(request["outputs"]) > 1 else ""
            lines += [f"  {printable(line)}" for line in output["text"].splitlines()]
            lines.append(f"  ({of}{len(output['token_ids'])} tokens, {output['finish_reason']})")
        lines += [f"  first token after {seconds(request['ttft_s'])}, all after {seconds(request['latency_s'])}", ""]
    kv, duration, tokens = told["kv"], told["duration_s"], told["num_output_tokens"]
    prompt_tokens = sum(len(request["prompt_token_ids"]) for request in told["requests"])
    rate = f", {tokens / duration:,.1f} tokens/s" if duration else ""
    lines.append(
        f"{printable(told['model'])}, {told['dtype']} on {printable(told['device'])}: {tokens:,} tokens in "
        f"{told['steps']:,} steps, {seconds(duration)}{rate}"
    )
    hits = percent(kv["hit_tokens"] / prompt_tokens if prompt_tokens else None)
    lines.append(
        f"{kv['blocks']:,} blocks, {hits} of the prompt tokens found in the cache, {kv['cow_copies']:,} copies, "
        f"{kv['preemptions']:,} preemptions, {kv['evictions']:,} evictions"
    )
    return "\n".join(lines)


def _outputs(model: Any, group: SequenceGroup) -> list[dict[str, Any]]:
    if group.status is SequenceStatus.REJECTED:
        return []
    return [
        {
            "token_ids": list(seq.output_token_ids),
            "text": model.decode(seq.output_token_ids),
            "finish_reason": str(seq.finish_reason or FinishReason.ABORT),
        }
        for seq in group.sequences
    ]


def _time(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
