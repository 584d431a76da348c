"""KV managers by the name that the settings give them (`Settings.manager`)."""

from collections.abc import Callable

from engine.kv.contiguous import ContiguousKV
from engine.kv.hashed import HashedKV
from engine.kv.manager import KVManager
from engine.kv.paged import PagedKV
from engine.kv.radix import RadixKV
from engine.settings import Settings
from engine.trace.listener import Listener

MANAGERS: dict[str, Callable[[Settings, Listener], KVManager]] = {
    "paged": PagedKV,
    "hashed": HashedKV,
    "max": ContiguousKV,
    "pow2": ContiguousKV,
    "oracle": ContiguousKV,
    "radix": RadixKV,
}
