"""A model in memory, and live engines on it: everything between a prompt as text and an answer as text.

The weights are read once; every engine has its own KV tensors, settings and trace. This is the door to the files that
need torch: whoever wants a model imports this module when it is asked for one.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.executor.model_error import ModelError
from engine.live import LiveEngine
from engine.settings import Settings

try:
    import torch

    from engine.executor.checkpoint import Checkpoint, load_checkpoint
    from engine.executor.llama import Llama
    from engine.executor.model_files import Progress, default_model
    from engine.executor.paged_torch import TorchExecutor
except ModuleNotFoundError as missing:
    package = (missing.name or "").partition(".")[0]
    if package == "engine":
        raise
    raise ModelError(f"A live model needs the package {package!r}, which is not installed; install it.") from None
except (ImportError, OSError, MemoryError) as problem:
    if (getattr(problem, "name", "") or "").startswith("engine"):
        raise
    raise ModelError(
        f"The packages of a live model cannot be loaded ({' '.join(str(problem).split())[:120] or 'no memory'}); where "
        "memory is short, close other programs."
    ) from None

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """Weights in one dtype on one device, with what belongs to them."""

    checkpoint: Checkpoint
    decoder: Llama

    @property
    def name(self) -> str:
        return self.checkpoint.name

    @property
    def device(self) -> str:
        """ "cpu", or the name of the GPU."""
        device = self.decoder.device
        return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type

    @property
    def dtype(self) -> str:
        return str(self.decoder.dtype).removeprefix("torch.")

    @property
    def context(self) -> int:
        """Tokens of prompt and answer that the model was made for."""
        return self.checkpoint.config.max_position

    @property
    def stop_token_ids(self) -> tuple[int, ...]:
        return self.checkpoint.tokenizer.eos_ids

    @property
    def words(self) -> list[str]:
        """What to write on each token."""
        tokenizer = self.checkpoint.tokenizer
        return [tokenizer.label(token_id) for token_id in range(tokenizer.vocab_size)]

    def encode(self, prompt: str, raw: bool = False) -> list[int]:
        """The tokens of a prompt, as a user's message in the format of the model, or as it stands."""
        tokenizer = self.checkpoint.tokenizer
        return tokenizer.encode(prompt) if raw else tokenizer.ask(prompt)

    def decode(self, token_ids: Sequence[int]) -> str:
        return self.checkpoint.tokenizer.decode(token_ids)

    def settings(self, settings: Settings) -> Settings:
        """The same, with no more context than the model has."""
        most = settings.max_model_len
        return settings.with_(max_model_len=self.context if most is None else min(most, self.context))

    def engine(
        self,
        settings: Settings,
        *,
        name: str = "live",
        vocabulary: Sequence[str] = (),
        clock: Callable[[], float] = time.perf_counter,
    ) -> LiveEngine:
        """A live engine with memory of its own. Raises SettingsError where that memory cannot be had."""
        chosen = self.settings(settings)
        executor = TorchExecutor(self.decoder, chosen)
        return LiveEngine(chosen, executor, name=name, vocabulary=vocabulary, clock=clock)


def load_model(
    path: Path | str | None = None,
    *,
    dtype: str | None = None,
    device: str | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> LoadedModel:
    """The model at `path`, or the one that comes along; `progress` is told of the bytes fetched, `stop` can end that.

    Without `device` a GPU is taken where there is one; without `dtype` float32 on a CPU and bfloat16 on a GPU.
    Raises ModelError.
    """
    has_gpu = torch.cuda.is_available()
    wanted = device or ("cuda" if has_gpu else "cpu")
    if wanted.partition(":")[0] not in ("cpu", "cuda")[: 1 + has_gpu]:
        raise ModelError(f"device is {device!r}; this machine has cpu{' and cuda' * has_gpu}.")
    try:
        where = torch.device(wanted)
    except RuntimeError:
        raise ModelError(f"device is {device!r}; write cpu, cuda or cuda:0.") from None
    kind = dtype or ("bfloat16" if where.type == "cuda" else "float32")
    if kind not in DTYPES:
        raise ModelError(f"dtype is {dtype!r}; choose one of {', '.join(DTYPES)}.")
    checkpoint = load_checkpoint(path if path is not None else default_model(progress, stop))
    return LoadedModel(checkpoint, checkpoint.decoder(DTYPES[kind], where))
