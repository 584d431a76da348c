"""A model as it lies on disk: the sizes of the decoder, its tensors by name, its tokenizer.

Two kinds can be opened: a GGUF file, and a folder with config.json, tokenizer.json and safetensors (or with one GGUF
file). Opening reads heads and tokenizer only; the tensors are read when a decoder is made of them.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.executor.folder_tokenizer import folder_tokenizer
from engine.executor.gguf_file import GGUFFile
from engine.executor.gguf_llama import GGUFTensors, gguf_config
from engine.executor.gguf_tokenizer import gguf_tokenizer
from engine.executor.llama import Llama
from engine.executor.llama_config import LlamaConfig
from engine.executor.memory import require_memory
from engine.executor.model_error import ModelError
from engine.executor.safetensors_folder import FolderTensors, folder_config
from engine.executor.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model that can be made into a decoder. `tensors` has Hugging Face's names and reads each when asked."""

    config: LlamaConfig
    tensors: Mapping[str, torch.Tensor]
    tokenizer: Tokenizer
    name: str

    def decoder(self, dtype: torch.dtype = torch.float32, device: str | torch.device = "cpu") -> Llama:
        """The decoder with its weights in memory. Raises ModelError where they do not fit or cannot be read."""
        change = "close other programs or choose a smaller model"
        widest = max(self.config.vocab_size, self.config.intermediate_size) * self.config.hidden_size
        # A tied embedding lies there twice: by rows for looking up, packed for the logits.
        num_bytes = (self.config.num_parameters + self.config.tied * widest) * dtype.itemsize
        if torch.device(device).type == "cpu":
            # One tensor is in hand at a time: as stored, dequantised, and in its new dtype.
            require_memory(num_bytes + 3 * 4 * widest, f"{self.name} in {_short(dtype)}", change)
        try:
            return Llama(self.config, self.tensors, dtype, device)
        except (MemoryError, RuntimeError) as problem:
            if isinstance(problem, RuntimeError) and "memory" not in str(problem).lower():
                raise
            raise ModelError(
                f"{self.name} in {_short(dtype)} needs {num_bytes / 1e6:,.0f} MB, more than is free; {change}."
            ) from None


def load_checkpoint(path: Path | str) -> Checkpoint:
    """Open a GGUF file or a folder. Raises ModelError with one sentence for whatever is wrong with it."""
    path = Path(os.path.expanduser(path))
    try:
        if path.is_dir():
            return _folder(path)
        if path.is_file():
            return _gguf(path)
    except MemoryError:
        raise ModelError(f"There is too little memory to open {path.name}; close other programs.") from None
    except (OSError, ValueError) as problem:
        if isinstance(problem, ModelError):
            raise
        raise ModelError(f"{str(path)[-80:]!r} cannot be opened; choose a .gguf file or a model folder.") from None
    raise ModelError(f"There is no model at {str(path)[-200:]!r}; choose a .gguf file or a folder with config.json.")


def _gguf(path: Path) -> Checkpoint:
    file = GGUFFile(path)
    config = gguf_config(file)
    return _fitting(Checkpoint(config, GGUFTensors(file, config), gguf_tokenizer(file), path.stem))


def _folder(folder: Path) -> Checkpoint:
    if not (folder / "config.json").is_file():
        files = sorted(folder.glob("*.gguf"))
        if len(files) != 1:
            raise ModelError(f"{folder.name} has no config.json and {len(files)} .gguf files; name one of them.")
        return _gguf(files[0])
    config = folder_config(folder)
    return _fitting(Checkpoint(config, FolderTensors(folder, config), folder_tokenizer(folder), folder.resolve().name))


def _fitting(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint, when every token of its tokenizer has a row of the embedding."""
    num_tokens, num_rows = checkpoint.tokenizer.vocab_size, checkpoint.config.vocab_size
    if num_tokens > num_rows:
        raise ModelError(f"{checkpoint.name} has {num_tokens} tokens but an embedding of {num_rows} rows.")
    return checkpoint


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
