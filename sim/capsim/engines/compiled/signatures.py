"""The signature of each hook of :mod:`capsim.roles.hooks` as Numba types, and the hooks of a run, compiled."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types

from capsim import records
from capsim.engines.compiled.aliasing import record_type
from capsim.engines.compiled.jit import compiled_hook
from capsim.engines.own_memory import param_record
from capsim.roles.hooks import HOOKS, Hook, hooks_of
from capsim.roles.own import HEADER, OWN, TABLES, first_record, scopes_of

GENERIC = np.dtype(HEADER)  # a record of which only the address is known
_INTEGER, _REAL = types.int64, types.float64

# Types of the arguments that are the same for all components
_TYPES = {
    "flow": record_type(records.FLOW),
    "sub": record_type(records.SUBFLOW),
    "subs": types.Array(record_type(records.SUBFLOW), 1, "C"),
    "ring": types.uint8[::1],
    "maps": types.int32[::1],
    "data": types.int32[::1],
    "packet": record_type(records.PACKET),
    "packets": types.Array(record_type(records.PACKET), 1, "C"),
    "counters": record_type(records.COUNTERS),
    "switch": record_type(records.SWITCH),
    "port": record_type(records.PORT),
    "ports": types.Array(record_type(records.PORT), 1, "C"),
    "candidates": types.int64[::1],
    "signals": _INTEGER,
    "queue_packets": _INTEGER,
    "queue_bytes": _INTEGER,
    "now_ps": _INTEGER,
    "u0": _REAL,
}


def signature(name: str, params: Any, memory: Callable[[str], Any]) -> Any:
    """Return the signature of the hook `name`.

    Parameters
    ----------
    name : str
        Key of HOOKS.
    params : numba type
        Of the parameter record.
    memory : callable
        From a scope to the Numba type of one record of own memory.
    """
    parts = [
        types.Array(memory(scope), 1, "A")
        if scope in ("units", "segments", "paths", "ports", "back_paths")
        else memory(scope)
        for scope in scopes_of(name)
    ]
    known = _TYPES | {"params": params, "own": types.BaseTuple.from_types(parts, OWN[name])}
    return _INTEGER(*(known[argument] for argument in HOOKS[name].arguments))


# What the loop sees. A record is passed by its address, so a hook that was compiled for the records of its own
# component can be called as if it took these: one compiled loop fits all schemes.
_ANY_RECORD = record_type(GENERIC)
HOOK_TYPES = {name: signature(name, _ANY_RECORD, lambda _: _ANY_RECORD) for name in HOOKS}


def compiled_hooks(component: Any) -> dict[str, Any]:
    """Return the hooks of a component, compiled, by name; None for those that it has not."""
    params = param_record(component.params).dtype
    scopes = dict.fromkeys(TABLES.get(scope, scope) for name in hooks_of(component.role) for scope in scopes_of(name))
    memory = tuple((scope, first_record(component.own_fields, scope).dtype) for scope in scopes)
    hooks = {name: component.hook(name) for name in hooks_of(component.role)}
    return {name: hook and _compiled(name, hook, params, memory) for name, hook in hooks.items()}


@cache
def _compiled(name: str, hook: Hook, params: np.dtype[Any], memory: tuple[tuple[str, np.dtype[Any]], ...]) -> Any:
    records = dict(memory)
    kinds = signature(name, record_type(params), lambda scope: record_type(records[TABLES.get(scope, scope)]))
    return compiled_hook(hook, kinds)
