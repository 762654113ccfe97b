"""The encoding buffer of CAPS (IV (1), Fig. 5): source packets wait until their unit is full.

A unit is sent before it is full when the flow has no more data, when nothing else is in flight (so always after a
timeout), or when the flush timer fires: nothing else would fill it. The coded packets are sent at once and do not count
against the window, since no acknowledgement says when one has left the network.

With ``ack = "decoded"`` and a systematic code the buffer only remembers the source packets, which have been sent
uncoded (the receiver knows their unit when it is closed), and the r repair packets follow when the unit is complete.
"""

from typing import Any

from capsim.hooks import inlined
from capsim.protocols.layers.params import Acknowledged
from capsim.protocols.layers.units import close_unit, full_unit_packets, measured, new_unit
from capsim.records import NONE


@inlined
def buffer_source(params: Any, coder: Any, sub: Any, packet: Any, now_ps: int) -> None:
    """Enter a new source packet into the encoding buffer."""
    if coder.unit_first >= coder.unit_next:
        coder.unit_first = packet.segment
        coder.unit_bytes = 0
        sub.send_wake_ps = now_ps + params.flush_ps if params.flush_ps else NONE
    coder.unit_next = packet.segment + 1
    coder.unit_bytes = max(coder.unit_bytes, packet.bytes)


@inlined
def nothing_to_wait_for(params: Any, coder: Any, sub: Any, now_ps: int) -> bool:
    """Return whether the unit is sent although it is not full."""
    no_more_data = coder.unit_next == params.coded_packets or (sub.final and coder.unit_next == sub.end)
    nothing_else_in_flight = sub.next_segment - sub.una <= coder.unit_next - coder.unit_first
    return no_more_data or nothing_else_in_flight or (sub.send_wake_ps != NONE and sub.send_wake_ps <= now_ps)


@inlined
def close_buffer(params: Any, own: Any, estimator: Any, sub: Any, counters: Any, now_ps: int) -> int:
    """Make a unit of what waits, if it is time; return 1 if so."""
    coder = own.subflow
    coder.unit_first = max(coder.unit_first, sub.una)  # what is acknowledged leaves the buffer
    waiting = coder.unit_next - coder.unit_first
    if waiting <= 0:
        sub.send_wake_ps = NONE
        return 0
    blocked, acks = measured(params, estimator, now_ps)
    full = full_unit_packets(params, sub, estimator, blocked, acks)
    if waiting < full and not nothing_to_wait_for(params, coder, sub, now_ps):
        return 0
    number = new_unit(own, sub, counters, coder.unit_first, now_ps)
    unit = own.units[number]
    unit.k = min(waiting, full)
    unit.packet_bytes = coder.unit_bytes
    close_unit(params, coder, unit, full, blocked, acks)
    if params.systematic and params.ack == Acknowledged.DECODED:
        unit.sent = unit.k
        coder.coded_packets += unit.k
    unit.left = unit.n - unit.sent
    coder.open_unit = number if unit.left else NONE
    coder.unit_first += unit.k
    if coder.unit_first >= coder.unit_next:
        sub.send_wake_ps = NONE
    return 1
