"""J: wider systems that the texts name."""

from scenarios.acceptance.row import Row

ROWS = (
    Row("J01", "Frontend primitives", "B", "a program whose fork and join drive the tree"),
    Row("J02", "Compressed finite-state machine", "B", "chains of single exits decode in one step"),
    Row("J03", "API speculative execution", "B", "a card"),
    Row("J04", "SGLang results", "P", "up to 6.4 x throughput, 3.7 x latency"),
    Row("J05", "Prefill and decode split", "B", "two pools and a KV transfer"),
    Row("J06", "Offload tiers", "B", "a second pool with its bandwidth"),
    Row("J07", "Speculative decoding", "B", "lookahead slots, accept and reject"),
    Row("J08", "KV quantisation, GQA, MQA", "B", "bytes per token as a control"),
    Row("J09", "Presets", "B", "FasterTransformer, Orca, vLLM, Sarathi-Serve, SGLang, TensorRT-LLM, TGI, nano-vllm"),
    Row("J10", "Defaults to mirror", "B", "vLLM: block 16, chunked, prefix caching; SGLang: radix, page 1"),
    Row("J11", "Loads of the SGLang paper", "B", "named presets with the right shape of sharing"),
    Row("J12", "Earlier systems", "B", "Clipper, Nexus, LMQL, Guidance: cards"),
)
