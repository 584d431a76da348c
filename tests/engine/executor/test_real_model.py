"""SmolLM2-135M-Instruct against transformers on the same dequantised weights; needs the model on this machine."""

import pytest
import torch

from engine.executor.checkpoint import Checkpoint, load_checkpoint
from engine.executor.model_error import ModelError
from engine.executor.model_files import present_model
from tests.engine.executor.tiny_checkpoint import greedy, reference

pytestmark = pytest.mark.slow

PROMPTS = [
    "What is gravity?",
    "Erzähl mir einen Witz über Züge.",
    "列出三种水果。",
    "Write 3 lines about 🙂 and 1024.",
]


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    try:
        path = present_model()
    except ModelError as problem:
        pytest.skip(str(problem))
    if path is None:
        pytest.skip("the model was not fetched yet; `python -m scenarios live` fetches it")
    opened = load_checkpoint(path)
    if opened.config.hidden_size != 576:
        pytest.skip(f"KVSCOPE_MODEL names {opened.name}, another model")
    return opened


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Hello world 12345", [19556, 905, 216, 33, 34, 35, 36, 37]),
        ("'s I'LL", [506, 339, 23, 16421]),
        ("a\0b", [81, 190, 82]),
        ("½² Ⅷ", [16738, 19133, 216, 173, 223, 117]),
    ],
)
def test_text_is_cut_as_the_model_learned_it(checkpoint, text, ids) -> None:
    assert checkpoint.tokenizer.encode(text) == ids
    assert checkpoint.tokenizer.decode(ids) == text


def test_a_question_stands_in_the_format_of_smollm2(checkpoint) -> None:
    ids = checkpoint.tokenizer.ask("Hi")
    assert "".join(map(checkpoint.tokenizer.label, ids)) == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_greedy_answers_are_those_of_transformers(checkpoint) -> None:
    expected = reference(checkpoint.config, dict(checkpoint.tensors))
    model = checkpoint.decoder()
    for text in PROMPTS:
        prompt = checkpoint.tokenizer.ask(text)
        ids = expected.generate(torch.tensor([prompt]), max_new_tokens=64, do_sample=False, pad_token_id=0)
        assert greedy(model, prompt, 64) == ids[0, len(prompt) :].tolist(), text
