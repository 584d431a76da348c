"""The tokenizer inside a GGUF file: its tokens, its merges, and the name of the rule that cuts text into words first.

llama.cpp stores that rule only by name, so the known ones are written down here. Byte pairs are merged inside a word,
never across words: "smollm" makes every digit a word of its own, then splits as GPT-2 does.
"""

from collections.abc import Callable
from typing import Any

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, pre_tokenizers

from engine.executor.chat_template import ChatTemplate
from engine.executor.gguf_file import GGUFFile
from engine.executor.model_error import ModelError
from engine.executor.tokenizer import Tokenizer
from engine.executor.vocabulary import Vocabulary

CONTROL, USER_DEFINED = 3, 4
END_TOKENS = ("<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "</s>")
"""Control tokens that end an answer in every model that has them, whether or not the file names them."""

LLAMA3_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def _gpt2_words() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def _smollm_words() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), _gpt2_words()])


def _llama3_words() -> pre_tokenizers.PreTokenizer:
    split = pre_tokenizers.Split(Regex(LLAMA3_WORDS), behavior="isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


WORDS: dict[str, Callable[[], pre_tokenizers.PreTokenizer]] = {
    "smollm": _smollm_words,
    "gpt-2": _gpt2_words,
    "llama-bpe": _llama3_words,
}


def gguf_tokenizer(file: GGUFFile) -> Tokenizer:
    """The tokenizer of a GGUF file. Raises ModelError for a kind that is not known or data that does not fit together."""
    metadata, name = file.metadata, file.path.name
    kind, words = metadata.get("tokenizer.ggml.model"), metadata.get("tokenizer.ggml.pre", "gpt-2")
    if kind != "gpt2" or words not in WORDS:
        raise ModelError(
            f"{name} has a {kind!r:.40} tokenizer with {words!r:.40} words; of GGUF files, 'gpt2' with "
            f"{', '.join(WORDS)} can be read. Use a folder with tokenizer.json."
        )
    tokens = _texts(file, "tokenizer.ggml.tokens")
    types = metadata.get("tokenizer.ggml.token_type", [1] * len(tokens))
    if not isinstance(types, list) or len(types) != len(tokens):
        raise ModelError(f"{name} is damaged: its tokens and their types differ in number.")
    special = [index for index, type_ in enumerate(types) if type_ == CONTROL]
    literal = [index for index, type_ in enumerate(types) if type_ == USER_DEFINED]
    eos = _ids(file, len(tokens), "eos_token_id", "eot_token_id")
    bos = _ids(file, len(tokens), "bos_token_id")
    ends = [index for index in special if tokens[index] in END_TOKENS]
    template = metadata.get("tokenizer.chat_template")
    return Tokenizer(
        merger=_merger(file, tokens, special, literal),
        vocabulary=Vocabulary(tokens, byte_level=True, special=special, literal=literal),
        eos_ids=tuple(sorted({*eos, *ends})),
        first_ids=tuple(bos) if metadata.get("tokenizer.ggml.add_bos_token") is True else (),
        template=ChatTemplate(
            template if isinstance(template, str) else None,
            bos=tokens[bos[0]] if bos else "",
            eos=tokens[eos[0]] if eos else "",
        ),
    )


def _merger(file: GGUFFile, tokens: list[str], special: list[int], literal: list[int]) -> tokenizers.Tokenizer:
    """Byte-pair merging as the file lays it down; `special` and `literal` tokens are found before anything else."""
    vocab = {token: index for index, token in enumerate(tokens)}
    merges: list[Any] = [tuple(pair.split(" ")) for pair in _texts(file, "tokenizer.ggml.merges")]
    if len(vocab) < len(tokens) or any(len(pair) != 2 for pair in merges):
        raise ModelError(f"{file.path.name} is damaged: a token comes twice or a merge is not of two tokens.")
    words = file.metadata.get("tokenizer.ggml.pre", "gpt-2")
    try:
        model: Any = models.BPE(vocab=vocab, merges=merges, ignore_merges=words == "llama-bpe")
    except Exception as problem:  # the library raises nothing narrower
        raise ModelError(
            f"{file.path.name} is damaged: its merges do not fit its tokens ({str(problem)[:80]})."
        ) from problem
    merger = tokenizers.Tokenizer(model)
    merger.pre_tokenizer = WORDS[words]()
    merger.decoder = decoders.ByteLevel()
    merger.add_special_tokens([AddedToken(tokens[index], normalized=False, special=True) for index in special])
    merger.add_tokens([AddedToken(tokens[index], normalized=False, special=False) for index in literal])
    return merger


def _texts(file: GGUFFile, key: str) -> list[str]:
    values = file.metadata.get(key)
    if not isinstance(values, list) or not values or not isinstance(values[0], str):
        raise ModelError(f"{file.path.name} has no {key}; use a file with its tokenizer inside, or a folder.")
    return values


def _ids(file: GGUFFile, num_tokens: int, *names: str) -> list[int]:
    ids = [file.metadata.get(f"tokenizer.ggml.{name}") for name in names]
    return [index for index in ids if type(index) is int and 0 <= index < num_tokens]
