"""The `requests` of a scenario file: one object a request, read into `Request` and written back.

A prompt is a list of token ids, a text, a length `{"len"}` or token runs `{"runs": [[content, start, len]]}`. The words
of a text become ids by first appearance in the file, so equal words share KV. `output` may say what is answered, as a
text or as ids. A later round of a conversation names the request it comes `after`; its `arrival_s` is null.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from engine.request import Prompt, Request, SamplingParams
from engine.trace.check import MAX_INT
from scenarios.fields import Fields, ScenarioError, shown
from scenarios.token_ids import bad_token

KEYS = ("id", "arrival_s", "prompt", "output_len", "output", "n", "tenant", "priority", "after", "delay_s", "measured")
MAX_REQUESTS = 1_000_000
MAX_SEQUENCES = 4_000_000
MAX_SAMPLES = 4_096
MAX_TOKENS = 2**31 - 1
MAX_SECONDS = 1e12
MAX_CONTENT = 2**63 - 1


def read_requests(entries: Sequence[Any], vocabulary: dict[str, int] | None = None) -> tuple[Request, ...]:
    """Requests of a file in its order; new words get their ids in `vocabulary`.

    Raises ScenarioError for the first entry that cannot be used.
    """
    vocabulary = {} if vocabulary is None else vocabulary
    requests = tuple(_request(entry, index, vocabulary) for index, entry in enumerate(entries))
    check_requests(requests)
    return requests


def check_requests(requests: Sequence[Request]) -> None:
    """Ids are unique, samples within the limit, and every chain of `after` starts at a request with an arrival."""
    by_id: dict[str, Request] = {}
    for request in requests:
        if request.request_id in by_id:
            raise ScenarioError(f"two requests have the id {shown(request.request_id)}; each needs its own.")
        by_id[request.request_id] = request
    num_sequences = sum(request.sampling.n for request in requests)
    if num_sequences > MAX_SEQUENCES:
        raise ScenarioError(f"the requests ask for {num_sequences:,} samples; at most {MAX_SEQUENCES:,} are allowed.")
    grounded: set[str] = set()
    for request in requests:
        chain: dict[str, None] = {}
        while request.after is not None and request.request_id not in grounded:
            chain[request.request_id] = None
            if request.after not in by_id:
                raise ScenarioError(
                    f"request {shown(request.request_id)} comes after an unknown {shown(request.after)}."
                )
            if request.after in chain:
                raise ScenarioError(f"request {shown(request.after)} waits for itself; a first round has no after.")
            request = by_id[request.after]
        grounded.update(chain)


def dump_requests(requests: Sequence[Request], vocabulary: Sequence[str]) -> list[dict[str, Any]]:
    """The entries of a scenario file. Prompts and answers are texts where reading them gives their words the same ids."""
    entries, num_seen = [], 0
    for index, request in enumerate(requests):
        entry = dump_request(request, index)
        for key in ("prompt", "output"):
            ids = entry.get(key)
            new = list(dict.fromkeys(i for i in ids if i >= num_seen)) if isinstance(ids, list) else []
            in_order = new == list(range(num_seen, num_seen + len(new))) and num_seen + len(new) <= len(vocabulary)
            if ids and isinstance(ids, list) and in_order:
                entry[key] = " ".join(vocabulary[token] for token in ids)
                num_seen += len(new)
        entries.append(entry)
    return entries


def dump_request(request: Request, index: int) -> dict[str, Any]:
    """The entry of a scenario file; optional keys appear only where they say something."""
    script = request.output_script
    entry: dict[str, Any] = {
        "id": request.request_id,
        "arrival_s": request.arrival_time if request.after is None else None,
        "prompt": _dump_prompt(request.prompt, index),
        "output_len": request.sampling.max_tokens,
    }
    optional = {
        "output": (list(script[0]) if script and len(script) == 1 else [], []),
        "n": (request.sampling.n, 1),
        "tenant": (request.tenant, ""),
        "priority": (request.priority, 0),
        "after": (request.after, None),
        "delay_s": (request.delay, 0.0),
        "measured": (request.measured, {}),
    }
    return entry | {key: value for key, (value, default) in optional.items() if value != default}


def _request(entry: Any, index: int, vocabulary: dict[str, int]) -> Request:
    fields = Fields(entry, f"requests[{index}]", KEYS)
    after = fields.id("after") if "after" in fields else None
    prompt = _prompt(fields, index, vocabulary)
    return Request(
        request_id=fields.id("id"),
        arrival_time=0.0 if after is not None else fields.number("arrival_s", 0.0, MAX_SECONDS, default=0.0),
        prompt=prompt,
        sampling=SamplingParams(
            n=fields.whole("n", 1, MAX_SAMPLES, default=1),
            max_tokens=fields.whole("output_len", 0, MAX_TOKENS),
        ),
        tenant=fields.text("tenant", default="", limit=200),
        priority=fields.whole("priority", -MAX_INT, MAX_INT, default=0),
        after=after,
        delay=fields.number("delay_s", 0.0, MAX_SECONDS, default=0.0),
        output_script=_script(fields, vocabulary),
        measured=_measured(fields),
    )


def _prompt(fields: Fields, index: int, vocabulary: dict[str, int]) -> Prompt:
    value = fields.required("prompt")
    if isinstance(value, (str, list, tuple)):
        return Prompt.of_ids(_token_ids(fields, "prompt", vocabulary))
    if not isinstance(value, Mapping) or len(value) != 1 or not value.keys() <= {"len", "runs"}:
        raise fields.problem("prompt", 'give token ids, a text, {"len": n} or {"runs": [[content, start, len]]}')
    inner = Fields(value, f"{fields.where}: prompt", ("len", "runs"))
    if "len" in inner:
        return Prompt.of_length(inner.whole("len", 0, MAX_TOKENS), content=own_content(index))
    return _prompt_of_runs(inner)


def _token_ids(fields: Fields, key: str, vocabulary: dict[str, int]) -> tuple[int, ...]:
    """The words of a text by number, or token ids as they are."""
    value = fields.required(key)
    if isinstance(value, str):
        return tuple(vocabulary.setdefault(word, len(vocabulary)) for word in value.split())
    if not isinstance(value, (list, tuple)):
        raise fields.problem(key, "give a text or a list of token ids")
    problem = bad_token(value)
    if problem:
        raise ScenarioError(f"{fields.where}: {key}: {problem}.")
    return tuple(value)


def _script(fields: Fields, vocabulary: dict[str, int]) -> tuple[tuple[int, ...], ...] | None:
    """What a request with one sample answers, where the file says it."""
    if "output" not in fields:
        return None
    answer = _token_ids(fields, "output", vocabulary)
    if fields.whole("n", 1, MAX_SAMPLES, default=1) != 1 or len(answer) != fields.whole("output_len", 0, MAX_TOKENS):
        raise fields.problem("output", "it has to have output_len tokens, and the request one sample")
    return (answer,)


def _prompt_of_runs(fields: Fields) -> Prompt:
    runs = []
    for run in fields.items("runs", 1_000_000):
        if not isinstance(run, (list, tuple)) or len(run) != 3:
            raise ScenarioError(f"{fields.where}: run {shown(run)} has to be [content, start, len].")
        content, start, length = run
        if not _is_whole(content, -MAX_CONTENT, MAX_CONTENT) or not all(_is_whole(v, 0, MAX_TOKENS) for v in run[1:]):
            raise ScenarioError(
                f"{fields.where}: run {shown(run)} has to be three whole numbers, start and len from 0 on."
            )
        if length:
            runs.append((content, start, length))
    prompt = Prompt(runs=tuple(runs))
    if prompt.num_tokens > MAX_TOKENS:
        raise ScenarioError(f"{fields.where}: the runs have {prompt.num_tokens:,} tokens; at most {MAX_TOKENS:,} fit.")
    return prompt


def own_content(index: int) -> int:
    """The content id of a prompt of which only the length is known: equal to nothing else in the run."""
    return -1 - index


def _dump_prompt(prompt: Prompt, index: int) -> Any:
    if prompt.token_ids is not None:
        return list(prompt.token_ids)
    if not prompt.runs:
        return {"len": 0}
    if len(prompt.runs) == 1 and prompt.runs[0][:2] == (own_content(index), 0):
        return {"len": prompt.num_tokens}
    return {"runs": [list(run) for run in prompt.runs]}


def _measured(fields: Fields) -> dict[str, float]:
    values = fields.required("measured") if "measured" in fields else {}
    if not isinstance(values, Mapping) or len(values) > 32:
        raise fields.problem("measured", "it has to be an object of at most 32 times in seconds")
    for name, value in values.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= MAX_INT
        if not name.isprintable() or len(name) > 100 or not number or not math.isfinite(value):
            raise fields.problem("measured", f"every entry has to be a time of at most {MAX_INT:,} seconds")
    return {str(name): float(value) for name, value in values.items()}


def _is_whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
