"""The tokenizer of a Hugging Face folder: tokenizer.json, with the chat template and the ends of an answer beside it."""

import json
from pathlib import Path
from typing import Any

import tokenizers

from engine.executor.chat_template import ChatTemplate
from engine.executor.model_error import ModelError
from engine.executor.safetensors_folder import read_json
from engine.executor.tokenizer import Tokenizer
from engine.executor.vocabulary import Vocabulary

MAX_TOKENS = 1 << 20


def folder_tokenizer(folder: Path) -> Tokenizer:
    """Raises ModelError where tokenizer.json is missing, damaged or of a kind whose bytes are not known."""
    data = read_json(folder / "tokenizer.json")
    try:
        merger = tokenizers.Tokenizer.from_str(json.dumps(data))
    except Exception as problem:  # the library raises nothing narrower
        raise ModelError(f"tokenizer.json is damaged: {str(problem)[:120]}.") from problem
    added = merger.get_added_tokens_decoder()
    settings = _optional(folder / "tokenizer_config.json")
    bos, eos = (_spelling(settings.get(name)) for name in ("bos_token", "eos_token"))
    ends = _ends(folder)
    if not ends and (eos_id := merger.token_to_id(eos)) is not None:
        ends = [eos_id]
    return Tokenizer(
        merger=merger,
        vocabulary=Vocabulary(
            _tokens(merger),
            byte_level=_is_byte_level(data.get("decoder")),
            special=[index for index, token in added.items() if token.special],
            literal=[index for index, token in added.items() if not token.special],
        ),
        eos_ids=tuple(sorted(set(ends))),
        first_ids=tuple(merger.encode("", add_special_tokens=True).ids),
        template=ChatTemplate(_template(folder, settings), bos=bos, eos=eos),
    )


def _tokens(merger: tokenizers.Tokenizer) -> list[str]:
    """Tokens by id; an id that the file leaves out has an empty one."""
    ids = merger.get_vocab(with_added_tokens=True)
    size = max(ids.values(), default=-1) + 1
    if not 0 < size <= MAX_TOKENS:
        raise ModelError(f"tokenizer.json has ids up to {size - 1}; they have to be from 0 to {MAX_TOKENS - 1}.")
    tokens = [""] * size
    for token, index in ids.items():
        tokens[index] = token
    return tokens


def _is_byte_level(decoder: Any) -> bool:
    """Whether tokens are written in GPT-2's characters; SentencePiece's way is told by its byte tokens."""
    text = json.dumps(decoder)
    if '"ByteLevel"' in text:
        return True
    if '"ByteFallback"' in text:
        return False
    raise ModelError("tokenizer.json decodes neither by ByteLevel nor by ByteFallback, so its bytes are not known.")


def _ends(folder: Path) -> list[int]:
    """Ids that end an answer, as the folder's generation settings or its config name them."""
    for name in ("generation_config.json", "config.json"):
        ends = _optional(folder / name).get("eos_token_id")
        ids = [index for index in (ends if isinstance(ends, list) else [ends]) if type(index) is int and index >= 0]
        if ids:
            return ids
    return []


def _template(folder: Path, settings: dict[str, Any]) -> str | None:
    """The chat template: a file of its own in newer folders, an entry of the settings (or one of a list) in older ones."""
    file = folder / "chat_template.jinja"
    if file.is_file():
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise ModelError("chat_template.jinja cannot be read as UTF-8 text.") from None
    template = settings.get("chat_template")
    if isinstance(template, list):
        named = [entry for entry in template if isinstance(entry, dict) and entry.get("name") == "default"]
        template = named[0].get("template") if named else None
    return template if isinstance(template, str) else None


def _optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _spelling(token: Any) -> str:
    """A token is named by its text or by an object with its text."""
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else ""
