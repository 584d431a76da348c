"""The real model for the slow tests: its checkpoint, its decoder and the answers of transformers, each made once."""

import pytest


@pytest.fixture(scope="session")
def checkpoint():
    """SmolLM2-135M-Instruct as it lies on this machine."""
    from engine.executor.checkpoint import load_checkpoint
    from engine.executor.model_error import ModelError
    from engine.executor.model_files import present_model

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


@pytest.fixture(scope="session")
def decoder(checkpoint):
    return checkpoint.decoder()


@pytest.fixture(scope="session")
def answers(checkpoint, decoder):
    """What transformers answers to each prompt, with the logits of every token."""
    from tests.engine.executor.parity import answers_of_transformers

    return answers_of_transformers(checkpoint, decoder)
