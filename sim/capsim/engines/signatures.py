"""The signature of each kind of hook as Numba types (in words: :mod:`capsim.hooks`)."""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from capsim import records
from capsim.engines.jit import GENERIC, compiled_hook, record_type
from capsim.hooks import COMPONENTS, Scheme

TRANSPORT_HOOKS = ("open", "send", "receive", "hear", "expire")
CODING_HOOKS = ("accept", "emit", "collect", "release", "observe")
HOOK_NAMES = ("choose", "admit", *TRANSPORT_HOOKS, *CODING_HOOKS)


def signatures(own: Any) -> dict[str, Any]:
    """Return the signature of each kind of hook; `own` maps a component to the type of its parameter record."""
    conn, packet, port = (record_type(dtype) for dtype in (records.CONNECTION, records.PACKET, records.PORT))
    estimator, counters = record_type(records.ESTIMATOR), record_type(records.COUNTERS)
    flags, integer, real = types.uint8[::1], types.int64, types.float64
    units, ports = types.Array(record_type(records.UNIT), 1, "C"), types.Array(port, 1, "C")
    transport, coding, switch = own["transport"], own["coding"], record_type(records.SWITCH)
    end_host = integer(transport, conn, flags, packet, integer)
    decoder = integer(coding, conn, flags, units, packet, integer)
    return {
        "choose": integer(own["balancer"], own["state"], switch, conn, packet, ports, types.int32[::1], integer, real),
        "admit": integer(own["queue"], port, packet, integer, integer),
        "open": integer(transport, conn, integer),
        "send": end_host,
        "receive": end_host,
        "hear": end_host,
        "expire": integer(transport, conn, flags, integer),
        "accept": integer(coding, conn, estimator, units, counters, packet, integer),
        "emit": integer(coding, conn, estimator, units, counters, packet, integer),
        "collect": decoder,
        "release": decoder,
        "observe": integer(coding, conn, estimator, packet, integer),
    }


# What the loop sees. A record is passed by its address, so a hook that was compiled for the parameter record of its
# own scheme can be called as if it took this one: one compiled loop fits all schemes.
HOOK_TYPES = signatures(dict.fromkeys((*COMPONENTS, "state"), record_type(GENERIC)))


_compiled_hook = cache(compiled_hook)


def compiled_hooks(scheme: Scheme, params: dict[str, np.ndarray[Any, Any]], state: np.dtype[Any]) -> dict[str, Any]:
    """Return the hooks of `scheme` compiled as C functions, by name."""
    own = {name: record_type(params[name].dtype) for name in COMPONENTS} | {"state": record_type(state)}
    functions: dict[str, Any] = {"choose": scheme.balancer.choose, "admit": scheme.queue.admit}
    functions |= {name: getattr(scheme.transport, name) for name in TRANSPORT_HOOKS}
    functions |= {name: getattr(scheme.coding, name) for name in CODING_HOOKS}
    kinds = signatures(own)
    return {name: _compiled_hook(functions[name], kinds[name]) for name in HOOK_NAMES}
