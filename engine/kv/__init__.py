"""KV managers by the name that a setting gives them."""

from collections.abc import Callable

from engine.kv.contiguous import ContiguousKV
from engine.kv.manager import KVManager
from engine.kv.paged import PagedKV
from engine.settings import Settings
from engine.trace.listener import Listener

MANAGERS: dict[str, Callable[[Settings, Listener], KVManager]] = {
    "paged": PagedKV,
    "max": ContiguousKV,
    "pow2": ContiguousKV,
    "oracle": ContiguousKV,
}
