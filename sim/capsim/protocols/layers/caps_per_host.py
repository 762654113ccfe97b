"""The coding layer of CAPS with one blocking probability for all subflows of a host (another variant of VI-A)."""

from dataclasses import replace
from typing import Any

from capsim.protocols.layers.blocking import ESTIMATOR, note_rtt
from capsim.protocols.layers.caps import CAPS_LAYER, accept_source, emit_next
from capsim.protocols.layers.units import CODER, UNIT


def accept(params: Any, own: Any, flow: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Take a new source packet into its unit or into the buffer."""
    return accept_source(params, own, own.host, sub, counters, packet, now_ps)


def emit(params: Any, own: Any, flow: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Fill in the next packet of the unit that is being sent, or of the one that the buffer makes."""
    return emit_next(params, own, own.host, sub, counters, packet, now_ps)


def observe(params: Any, own: Any, flow: Any, sub: Any, packet: Any, now_ps: int) -> int:
    """Enter the RTT of an acknowledgement."""
    note_rtt(params, own.host, packet, now_ps)
    return 0


CAPS_LAYER_PER_HOST = replace(
    CAPS_LAYER,
    name="caps_per_host",
    accept=accept,
    emit=emit,
    observe=observe,
    memory={"subflow": CODER, "host": ESTIMATOR, "unit": UNIT},
)
