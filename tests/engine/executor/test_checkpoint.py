"""Models opened from disk, in both formats, and made into decoders."""

import pytest
import torch

from engine.executor import memory
from engine.executor.checkpoint import load_checkpoint
from engine.executor.model_error import ModelError
from tests.engine.executor.tiny_checkpoint import (
    DenseAttention,
    greedy,
    random_tensors,
    reference,
    tiny_config,
    write_folder,
    write_gguf,
)

CONFIG = tiny_config()
TENSORS = random_tensors(CONFIG)
PROMPT = "hello world 12"


@pytest.fixture(params=["gguf", "folder", "shards", "folder with gguf"])
def model_path(request, tmp_path):
    match request.param:
        case "gguf":
            return write_gguf(tmp_path / "tiny.gguf", CONFIG, TENSORS)
        case "folder":
            return write_folder(tmp_path / "tiny", CONFIG, TENSORS)
        case "shards":
            return write_folder(tmp_path / "tiny", CONFIG, TENSORS, num_shards=3)
    (tmp_path / "tiny").mkdir()
    write_gguf(tmp_path / "tiny" / "tiny.gguf", CONFIG, TENSORS)
    return tmp_path / "tiny"


def test_each_format_answers_like_transformers(model_path) -> None:
    checkpoint = load_checkpoint(model_path)
    prompt = checkpoint.tokenizer.encode(PROMPT)
    model, expected = checkpoint.decoder(), reference(CONFIG, TENSORS)
    with torch.inference_mode():
        logits = expected(torch.tensor([prompt])).logits[0]
    ours = model.forward(torch.tensor(prompt), torch.arange(len(prompt)), DenseAttention())
    assert (ours - logits).abs().max() < 1e-5 * logits.abs().max()
    generated = expected.generate(torch.tensor([prompt]), max_new_tokens=16, do_sample=False, pad_token_id=0)
    assert greedy(model, prompt, 16) == generated[0, len(prompt) :].tolist()
    assert checkpoint.name == "tiny"


def test_a_model_larger_than_memory_is_refused_before_it_is_read(tmp_path, monkeypatch) -> None:
    checkpoint = load_checkpoint(write_gguf(tmp_path / "tiny.gguf", CONFIG, TENSORS))
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    with pytest.raises(ModelError, match=r"tiny in float32 needs \d+ MB, but 0 MB of memory are free; close other"):
        checkpoint.decoder()


@pytest.mark.parametrize("problem", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_memory_that_ends_while_reading_is_told_in_a_sentence(tmp_path, monkeypatch, problem) -> None:
    checkpoint = load_checkpoint(write_gguf(tmp_path / "tiny.gguf", CONFIG, TENSORS))

    def fail(*_):
        raise problem

    monkeypatch.setattr("engine.executor.checkpoint.Llama", fail)
    with pytest.raises(ModelError, match=r"tiny in float32 needs .* more than is free"):
        checkpoint.decoder()


def test_a_path_without_a_model_is_told(tmp_path) -> None:
    with pytest.raises(ModelError, match=r"There is no model at .*nowhere'; choose a \.gguf file or a folder"):
        load_checkpoint(tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"has no config\.json and 0 \.gguf files"):
        load_checkpoint(tmp_path)
    with pytest.raises(ModelError, match="There is no model at"):
        load_checkpoint("bad\0path")


def test_a_tokenizer_with_more_tokens_than_the_embedding_is_refused(tmp_path) -> None:
    config = tiny_config(vocab_size=100)
    with pytest.raises(ModelError, match="264 tokens but an embedding of 100 rows"):
        load_checkpoint(write_gguf(tmp_path / "tiny.gguf", config, random_tensors(config)))
