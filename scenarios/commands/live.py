"""`live`: answers of a real model, computed on paged KV by the same scheduler as every simulated run."""

import json
import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.live import NOT_LIVE, LiveEngine, check_settings
from engine.presets import with_preset
from engine.request import SamplingParams, SequenceStatus
from engine.settings import Settings
from engine.trace.check import told
from scenarios.commands.inputs import add_set
from scenarios.commands.interruption import Interruption
from scenarios.commands.output import check_place, whole_file
from scenarios.commands.progress import ProgressLine
from scenarios.fields import ScenarioError, shown
from scenarios.live_report import of_model, report, text
from scenarios.prompts import check_prompts, read_prompts
from scenarios.terminal import say, uninterrupted

DEFAULTS = {"policy": "chunked", "block_size": 16, "num_blocks": 512, "max_num_batched_tokens": 256, "max_num_seqs": 64}
"""What `--set` changes; prefixes are cached unless it says otherwise. A preset decides that itself."""
PRESET_POOL = 8_192
"""Tokens of the memory under a preset, which has blocks of its own size."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, after everything that was answered has been printed."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("prompts", nargs="*", metavar="PROMPT", help="what to ask; each is a request")
    parser.add_argument("--file", type=Path, metavar="FILE", help="prompts, one a line, or a JSON list of texts")
    parser.add_argument("--raw", action="store_true", help="continue the prompts as they stand, without chat format")
    parser.add_argument("--max-tokens", type=_whole(1), default=64, metavar="N", help="longest answer (64)")
    parser.add_argument("--n", type=_whole(1, 64), default=1, metavar="N", help="answers to each prompt (1)")
    parser.add_argument(
        "--temperature", type=_share(0, 100), default=0.0, metavar="T", help="0 takes the best token (0)"
    )
    parser.add_argument("--top-k", type=_whole(0), default=0, metavar="K", help="draw among the best K tokens (0: all)")
    parser.add_argument("--top-p", type=_share(1e-6, 1), default=1.0, metavar="P", help="draw among this share (1)")
    parser.add_argument("--seed", type=_whole(0), default=0, metavar="S", help="of the draws (0)")
    parser.add_argument("--model", type=Path, metavar="PATH", help="a GGUF file or a model folder")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), help="float32 on a CPU, bfloat16 on a GPU")
    parser.add_argument("--device", metavar="DEVICE", help="cpu or cuda; a GPU where there is one")
    parser.add_argument("-o", "--output", type=Path, metavar="X.kvscope", help="save the run for the player")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_set(parser)


def execute(arguments: Namespace) -> int:
    if arguments.output is not None:
        for source in _sources(arguments):
            check_place(arguments.output, (".kvscope",), source)
    if arguments.prompts and arguments.file:
        raise ScenarioError("There are prompts and a file of prompts; give one or the other.")
    prompts = read_prompts(arguments.file) if arguments.file else check_prompts(arguments.prompts)
    settings = settings_of(dict(arguments.set))
    # a model brings packages that the other commands do without
    from engine.executor.loaded_model import load_model

    with ProgressLine() as line:
        line.show_on_terminal("loading the model")
        model = load_model(
            arguments.model,
            dtype=arguments.dtype,
            device=arguments.device,
            progress=lambda done, total: line.show_on_terminal(
                f"fetching the model: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            ),
        )
        vocabulary = model.words if settings.kv_manager == "radix" and arguments.output is not None else ()
        live = model.engine(settings, vocabulary=vocabulary)
        live.header.update(told("A live run", of_model(model)))
        with Interruption() as interruption:
            ask(live, model, prompts, arguments)
            serve(live, line, interruption)
    with uninterrupted():
        _say_refusals(live)
        trace = live.trace()
        if arguments.output is not None:
            with whole_file(arguments.output) as draft:
                trace.save(draft)
        found = report(model, live, trace, prompts)
        print(json.dumps(found, indent=1, allow_nan=False) if arguments.json else text(found), flush=True)
    if interruption.is_heard:
        num_done = sum(request["latency_s"] is not None for request in found["requests"])
        raise Interrupted(f"Stopped; {num_done} of {len(prompts)} requests are complete.")
    return 0


def settings_of(changes: dict[str, str]) -> Settings:
    """The settings of a run: small steps, so that prompts and answers mix, and a cache of prefixes.

    A preset comes before what is set beside it; of its settings those that no live run can have (`NOT_LIVE`) are left
    out. Raises SettingsError.
    """
    own = {name: value for name, value in changes.items() if name != "preset"}
    preset = with_preset({"preset": changes["preset"]}) if "preset" in changes else {}
    given: dict[str, Any] = {**DEFAULTS, **{name: preset[name] for name in preset if name not in NOT_LIVE}, **own}
    if preset and not {"num_blocks", "kv_capacity_tokens"} & own.keys():
        given["kv_capacity_tokens"] = PRESET_POOL
    if "kv_capacity_tokens" in given and "num_blocks" not in own:
        del given["num_blocks"]
    if not preset and given.get("kv_manager", "paged") == "paged":
        given = {"prefix_caching": True, **given}
    settings = Settings.of(given)
    check_settings(settings)
    return settings


def ask(live: LiveEngine, model: Any, prompts: list[str], arguments: Namespace) -> None:
    """All prompts arrive at once. Raises ScenarioError when none of them can be served."""
    sampling = SamplingParams(
        n=arguments.n,
        max_tokens=arguments.max_tokens,
        temperature=arguments.temperature,
        top_k=arguments.top_k,
        top_p=arguments.top_p,
        seed=arguments.seed,
        stop_token_ids=model.stop_token_ids,
    )
    for prompt in prompts:
        live.submit(model.encode(prompt, arguments.raw) if prompt.strip() else (), sampling)
    if not live.has_work:
        first, *more = (live.why_refused(group) or "" for group in live.engine.groups)
        raise ScenarioError(first + _neither(len(more)))


def serve(live: LiveEngine, line: ProgressLine, interruption: Interruption) -> None:
    """Step until every answer is there; what cannot go on, or is not wanted any more, is taken back. Raises ScenarioError
    when no request at all can be answered."""
    engine, num_tokens = live.engine, 0
    while live.has_work and not interruption.is_heard:
        batch = live.step()
        if batch is None and live.has_work:
            break
        num_tokens += batch.num_emitted if batch is not None else 0
        line.show(f"{engine.num_done:,} of {len(engine.groups):,} requests, {num_tokens:,} tokens")
    left = [group for group in engine.groups if not group.is_over]
    if left and not interruption.is_heard:
        sentences = [
            f"Request {group.request.request_id} can never run with these settings; raise max_num_batched_tokens or "
            "choose policy chunked."
            for group in left
        ]
        if all(group.status is not SequenceStatus.FINISHED for group in engine.groups):
            raise ScenarioError(sentences[0] + _neither(len(engine.groups) - 1))
        for sentence in sentences:
            say(sentence)
    for group in left:
        live.abort(group.request.request_id)


def _neither(num_others: int) -> str:
    if num_others < 2:
        return " The other one cannot be served either." if num_others else ""
    return f" None of the other {num_others:,} can be served either."


def _sources(arguments: Namespace) -> list[str]:
    """The files that are read, which are never written over: the prompts, and the model, where it is named."""
    sources = [str(arguments.file or "")]
    named = arguments.model or os.environ.get("KVSCOPE_MODEL")
    if named:
        model = os.path.expanduser(named)
        sources.append(model)
        with suppress(OSError, ValueError):
            sources += [entry.path for entry in os.scandir(model)]
    return sources


def _say_refusals(live: LiveEngine) -> None:
    for number, group in enumerate(live.engine.groups, 1):
        if group.status is SequenceStatus.REJECTED:
            say(f"Prompt {number:,} is refused. {live.why_refused(group)}")


def _whole(low: int, high: int = 2**31 - 1) -> Any:
    def read(given: str) -> int:
        number = int(given) if given.isascii() and given.isdigit() and len(given) <= 12 else -1
        if not low <= number <= high:
            raise ArgumentTypeError(f"{shown(given)} is no whole number from {low:,} to {high:,}")
        return number

    return read


def _share(low: float, high: float) -> Any:
    def read(given: str) -> float:
        try:
            number = float(given)
        except ValueError:
            number = -1.0
        if not low <= number <= high:
            raise ArgumentTypeError(f"{shown(given)} is no number from {low:g} to {high:g}")
        return number

    return read
