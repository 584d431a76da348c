"""The formats of trace files that are recognised, and which of their columns became what."""

from scenarios.readers.detection import CSV_FORMATS, JSON_FORMATS
from scenarios.readers.lengths import Lengths

PUBLISHED = {
    "azure_csv": "Azure LLM inference traces, 2023 to 2025",
    "burstgpt_csv": "BurstGPT",
    "vidur_csv": "Vidur",
    "tracelab_csv": "TraceLab",
    "splitwise_csv": "splitwise-sim",
    "lengths_csv": "lengths alone, with “Requests per second”",
    "generic_csv": "any table with these columns",
    "bailian": "Bailian (Qwen), with block hashes",
    "mooncake_jsonl": "Mooncake, with block hashes",
    "vllm_bench_jsonl": "vLLM bench",
    "flat_jsonl": "LLMServingSim",
}
ROLES = ("arrival", "prompt tokens", "output tokens")


def table() -> dict[str, list[str]]:
    """Columns of a table of all formats: name, what it is, what the header or the objects hold."""
    names, columns = [], []
    for kind in CSV_FORMATS:
        names.append(kind.name)
        columns.append(", ".join(kind.columns))
    for objects in JSON_FORMATS:
        names.append(objects.name)
        columns.append(", ".join(sorted(objects.keys)))
    return {"format": names, "from": [PUBLISHED.get(name, "") for name in names], "columns or keys": columns}


def roles(name: str) -> str:
    """ "arrival from TIMESTAMP, prompt tokens from ContextTokens, ..." for a format, its columns where roles are not told."""
    for kind in CSV_FORMATS:
        if kind.name == name:
            known = ROLES[1:] if issubclass(kind, Lengths) else ROLES
            if len(kind.columns) != len(known):
                return f"from the columns {', '.join(kind.columns)}"
            return ", ".join(f"{role} from {column}" for role, column in zip(known, kind.columns, strict=True))
    keys = next((objects.keys for objects in JSON_FORMATS if objects.name == name), frozenset())
    return f"from the keys {', '.join(sorted(keys))}" if keys else ""
