"""The words of SmolLM2-135M-Instruct; needs the model on this machine."""

import pytest

pytestmark = pytest.mark.slow


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
