"""The encoding buffer of CAPS (IV (1), Fig. 5): source packets wait until their unit is full.

A unit is sent before it is full when the flow has no more data, when nothing else is in flight (so always after a
timeout), or when the flush timer fires: nothing else would fill it. The coded packets are sent at once and do not count
against the window, since no acknowledgement says when one has left the network.

With ``ack = "decoded"`` and a systematic code the buffer only remembers the source packets, which have been sent
uncoded (the receiver knows their unit when it is closed), and the r repair packets follow when the unit is complete.
"""

from typing import Any

from capsim.hooks import inlined
from capsim.protocols.coding.params import Acknowledged
from capsim.protocols.coding.units import close_unit, full_unit_packets, measured, new_unit
from capsim.records import NONE


@inlined
def buffer_source(params: Any, conn: Any, packet: Any, now_ps: int) -> None:
    """Enter a new source packet into the encoding buffer."""
    if conn.unit_first >= conn.unit_next:
        conn.unit_first = packet.segment
        conn.unit_bytes = 0
        conn.flush_ps = now_ps + params.flush_ps if params.flush_ps else NONE
    conn.unit_next = packet.segment + 1
    conn.unit_bytes = max(conn.unit_bytes, packet.bytes)


@inlined
def nothing_to_wait_for(params: Any, conn: Any, now_ps: int) -> bool:
    """Return whether the unit is sent although it is not full."""
    no_more_data = conn.unit_next in (conn.n_segments, params.coded_packets)
    nothing_else_in_flight = conn.next_segment - conn.una <= conn.unit_next - conn.unit_first
    return no_more_data or nothing_else_in_flight or (conn.flush_ps != NONE and conn.flush_ps <= now_ps)


@inlined
def close_buffer(params: Any, conn: Any, estimator: Any, units: Any, counters: Any, now_ps: int) -> int:
    """Make a unit of what waits, if it is time; return 1 if so."""
    conn.unit_first = max(conn.unit_first, conn.una)  # what is acknowledged leaves the buffer
    waiting = conn.unit_next - conn.unit_first
    if waiting <= 0:
        conn.flush_ps = NONE
        return 0
    blocked, acks = measured(params, estimator, now_ps)
    full = full_unit_packets(params, conn, estimator, blocked, acks)
    if waiting < full and not nothing_to_wait_for(params, conn, now_ps):
        return 0
    number = new_unit(conn, units, counters, conn.unit_first, now_ps)
    unit = units[number]
    unit.k = min(waiting, full)
    unit.packet_bytes = conn.unit_bytes
    close_unit(params, conn, unit, full, blocked, acks)
    if params.systematic and params.ack == Acknowledged.DECODED:
        unit.sent = unit.k
        conn.coded_packets += unit.k
    unit.left = unit.n - unit.sent
    conn.open_unit = number if unit.left else NONE
    conn.unit_first += unit.k
    if conn.unit_first >= conn.unit_next:
        conn.flush_ps = NONE
    return 1
