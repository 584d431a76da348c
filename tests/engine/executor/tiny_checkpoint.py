"""A Llama of a few thousand random weights, written in each format that can be read, and the same one in transformers."""

import json
from pathlib import Path

import gguf
import numpy as np
import tokenizers
import torch
from safetensors.torch import save_file
from tokenizers import decoders, models, pre_tokenizers
from transformers import LlamaConfig as ReferenceConfig
from transformers import LlamaForCausalLM

from engine.executor.gguf_llama import INNER, OUTER, to_neighbours
from engine.executor.llama_config import LlamaConfig
from engine.executor.vocabulary import byte_of_character

CHARACTERS = sorted(byte_of_character(), key=byte_of_character().__getitem__)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = [("h", "e"), ("l", "l"), ("he", "ll"), ("Ġ", "w"), ("1", "2")]
TOKENS = [*SPECIAL, *CHARACTERS, *(left + right for left, right in MERGES)]
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def tiny_config(**changes) -> LlamaConfig:
    """Nine query heads share three KV heads, as in SmolLM2."""
    sizes = {
        "vocab_size": len(TOKENS),
        "hidden_size": 72,
        "intermediate_size": 96,
        "num_layers": 2,
        "num_heads": 9,
        "num_kv_heads": 3,
        "head_dim": 8,
        "max_position": 128,
        "rope_theta": 100_000.0,
    }
    return LlamaConfig(**{**sizes, **changes})


def random_tensors(config: LlamaConfig, seed: int = 0) -> dict[str, torch.Tensor]:
    """Weights by name, large enough that each part of a layer matters to the logits."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, shape in config.shapes().items():
        values = torch.randn(shape, generator=generator)
        tensors[name] = 1 + values / 10 if len(shape) == 1 else values * 2 / shape[1] ** 0.5
    return tensors


def reference(config: LlamaConfig, tensors: dict[str, torch.Tensor], dtype=torch.float32, **rope) -> LlamaForCausalLM:
    """The same model in transformers; `rope` are its parameters of rotary positions."""
    shape = ReferenceConfig(
        vocab_size=config.vocab_size,
        hidden_size=config.hidden_size,
        intermediate_size=config.intermediate_size,
        num_hidden_layers=config.num_layers,
        num_attention_heads=config.num_heads,
        num_key_value_heads=config.num_kv_heads,
        head_dim=config.head_dim,
        max_position_embeddings=config.max_position,
        rms_norm_eps=config.rms_norm_eps,
        tie_word_embeddings=config.tied,
        rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta, **rope},
        bos_token_id=None,
        eos_token_id=None,
    )
    model = LlamaForCausalLM(shape).to(dtype)
    missing, unexpected = model.load_state_dict(
        {name: tensor.to(dtype) for name, tensor in tensors.items()}, strict=False
    )
    assert unexpected == [] and missing in ([], ["lm_head.weight"] if config.tied else [])
    model.tie_weights()
    return model.eval()


def write_gguf(path: Path, config: LlamaConfig, tensors: dict[str, torch.Tensor], words: str = "smollm") -> Path:
    """The model as a converter of llama.cpp would write it."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_layers)
    writer.add_context_length(config.max_position)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_heads)
    writer.add_head_count_kv(config.num_kv_heads)
    writer.add_key_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(words)
    writer.add_token_list(TOKENS)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(TOKENS) - len(SPECIAL)))
    writer.add_token_merges([" ".join(pair) for pair in MERGES])
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in tensors.items():
        values = tensor.numpy()
        if "q_proj" in name:
            values = to_neighbours(values, config.num_heads)
        elif "k_proj" in name:
            values = to_neighbours(values, config.num_kv_heads)
        writer.add_tensor(_stored_name(name), np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_folder(folder: Path, config: LlamaConfig, tensors: dict[str, torch.Tensor], num_shards: int = 1) -> Path:
    """The model as transformers saves it."""
    folder.mkdir(exist_ok=True)
    values = {
        "model_type": "llama",
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "num_key_value_heads": config.num_kv_heads,
        "head_dim": config.head_dim,
        "max_position_embeddings": config.max_position,
        "rope_theta": config.rope_theta,
        "rms_norm_eps": config.rms_norm_eps,
        "tie_word_embeddings": config.tied,
        "hidden_act": "silu",
        "eos_token_id": 2,
    }
    (folder / "config.json").write_text(json.dumps(values))
    tiny_merger().save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE, "eos_token": "<|im_end|>"}))
    if num_shards == 1:
        save_file(tensors, folder / "model.safetensors")
        return folder
    names = list(tensors)
    weight_map = {}
    for shard in range(num_shards):
        part = {name: tensors[name] for name in names[shard::num_shards]}
        save_file(part, folder / f"part-{shard}.safetensors")
        weight_map |= dict.fromkeys(part, f"part-{shard}.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return folder


def tiny_merger() -> tokenizers.Tokenizer:
    """The tokenizer of the tiny model, put together by hand."""
    merger = tokenizers.Tokenizer(models.BPE({token: index for index, token in enumerate(TOKENS)}, MERGES))
    digits = pre_tokenizers.Digits(individual_digits=True)
    merger.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    merger.decoder = decoders.ByteLevel()
    merger.add_special_tokens(SPECIAL)
    return merger


class DenseAttention:
    """Attention of one sequence with its keys and values in one growing tensor a layer."""

    def __init__(self) -> None:
        self.held: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        if layer in self.held:
            k, v = (torch.cat(pair) for pair in zip(self.held[layer], (k, v), strict=True))
        self.held[layer] = k, v
        places = torch.arange(len(k))
        mask = places[None] <= places[len(k) - len(q) :, None]
        q, k, v = (heads.transpose(0, 1)[None] for heads in (q, k, v))
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return out[0].transpose(0, 1)


def greedy(model, prompt: list[int], num_tokens: int) -> list[int]:
    """The best tokens after a prompt, computed prompt first, then one by one."""
    attend, new, ids = DenseAttention(), list(prompt), []
    while len(ids) < num_tokens:
        start = len(prompt) + len(ids) - len(new)
        positions = torch.arange(start, start + len(new))
        logits = model.forward(torch.tensor(new), positions, attend, torch.tensor([len(new) - 1]))
        new = [int(logits.argmax())]
        ids += new
    return ids


def _stored_name(name: str) -> str:
    outer = {theirs: stored for stored, theirs in OUTER.items()}
    if name in outer:
        return outer[name]
    _, _, layer, part = name.removesuffix(".weight").split(".", 3)
    inner = {theirs: stored for stored, theirs in INNER.items()}
    return f"blk.{layer}.{inner[part]}.weight"
