"""The compiled engine: the callers of the hooks (:mod:`~capsim.engines.callers`), as kernels."""

from typing import Any

from capsim.engines import compiled_tables, pointers
from capsim.engines.callers import callers
from capsim.engines.jit import inlined_kernel, kernel


def _named(module: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


_names = _named(pointers) | _named(compiled_tables) | pointers.hook_at | {"int_at": pointers.int64_at}
EVERY_PACKET = ("send", "on_data", "on_ack", "react", "choose", "admit")  # of most schemes
hooks = {name: (inlined_kernel if name in EVERY_PACKET else kernel)(caller) for name, caller in callers(_names).items()}
admit, take, evict = (hooks[name] for name in ("admit", "take", "evict"))
