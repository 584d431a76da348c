"""Prompts from the command line or from a file: one a line, or a JSON list of texts where they have line breaks."""

import json
from pathlib import Path

from scenarios.fields import ScenarioError, is_unicode, shown_path

MAX_PROMPTS = 10_000
MAX_BYTES = 64 * 1024 * 1024


def read_prompts(path: Path) -> list[str]:
    """The prompts of a file; blank lines between them are left out. Raises ScenarioError with one sentence."""
    name = shown_path(path)
    try:
        if not path.is_file():
            raise ScenarioError(f"{name} is no file; give a file with one prompt a line, or a JSON list of texts.")
        if path.stat().st_size > MAX_BYTES:
            raise ScenarioError(f"{name} has {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} are read.")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{name} is no text in UTF-8 (byte {error.start:,}); save it as UTF-8.") from None
    except ValueError as error:
        if isinstance(error, ScenarioError):
            raise
        raise ScenarioError(f"{name} is no file; give a file with one prompt a line.") from None
    if path.suffix == ".json":
        return check_prompts(_json_list(text, name))
    # a line ends at a line feed, not at whatever else parts lines or pages somewhere in Unicode
    return check_prompts([line for line in text.replace("\r\n", "\n").split("\n") if line.strip()])


def check_prompts(prompts: list[str]) -> list[str]:
    """The same prompts. Raises ScenarioError for none, for too many, or for half a character."""
    if not prompts:
        raise ScenarioError("There is no prompt; give one in quotes, or a file of them with --file.")
    if len(prompts) > MAX_PROMPTS:
        raise ScenarioError(f"There are {len(prompts):,} prompts; at most {MAX_PROMPTS:,} are served at once.")
    for number, prompt in enumerate(prompts, 1):
        if not is_unicode(prompt):
            raise ScenarioError(f"Prompt {number:,} has half a character in it; write the whole one.")
    return prompts


def _json_list(text: str, name: str) -> list[str]:
    try:
        prompts = json.loads(text)
    except (ValueError, RecursionError):
        raise ScenarioError(f"{name} is no JSON; give a list of texts.") from None
    if not isinstance(prompts, list) or not all(isinstance(prompt, str) for prompt in prompts):
        raise ScenarioError(f'{name} is no JSON list of texts; write ["first prompt", "second prompt"].')
    return prompts
