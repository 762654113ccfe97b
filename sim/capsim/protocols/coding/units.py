"""What all encoders of CAPS share: how large a unit is, how many repair packets it gets, its next packet.

================================ ======== =============================== ===============================
Quantity                         Symbol   Name                            Source
================================ ======== =============================== ===============================
ACKs with a large RTT, and all   n_L, n   ``measured``                    caps u (VI-B) blocking
source packets of a unit         k        ``full_unit_packets``           caps VI-A, VI-C
packets of a unit                k + r    ``unit.n``, 0 while it fills    caps u (VI-B) redundancy
================================ ======== =============================== ===============================
"""

from typing import Any

from capsim.hooks import inlined
from capsim.protocols.coding.blocking import remembered_unit_packets, repair_packets, roll_period
from capsim.protocols.coding.params import UnitSize
from capsim.records import CODED, NONE

PARTS = 36_036_000  # 1 to 16 and 1000 divide it: in such parts 1/6, 0.3 and 0.125 are exact, and so is ceil(r)


@inlined
def measured(params: Any, estimator: Any, now_ps: int) -> tuple[int, int]:
    """Return n_L and n of the last sampling period that had any, or what stands for them before."""
    roll_period(params, estimator, now_ps)
    if params.sampling_ps == 0 and estimator.acks:
        return estimator.blocked, estimator.acks
    if estimator.known_acks:
        return estimator.known_blocked, estimator.known_acks
    return int(params.initial_blocking_prob * PARTS + 0.5), PARTS


@inlined
def full_unit_packets(params: Any, conn: Any, estimator: Any, blocked: int, acks: int) -> int:
    """Return k: how many packets fill a unit now."""
    if params.unit_size == UnitSize.FIXED:
        return params.fixed_packets
    window = min(max(conn.cwnd_bytes // conn.mss_bytes, 1), conn.ring_mask + 1)  # no more can be in flight
    if params.unit_size == UnitSize.OPTIMAL and blocked:
        return remembered_unit_packets(params, estimator, window, blocked, acks)
    return window


@inlined
def new_unit(conn: Any, units: Any, counters: Any, first: int, now_ps: int) -> int:
    """Begin a unit with segment `first`, without packets yet; return its number."""
    number = counters.units
    counters.units += 1
    unit = units[number]
    unit.conn = conn.id
    unit.k = 0
    unit.n = 0
    unit.sent = 0
    unit.left = 0
    unit.packet_bytes = 0
    unit.arrived = 0
    unit.first = first
    unit.sent_ps = now_ps
    unit.decoded_ps = NONE
    unit.next = NONE
    unit.released = 0
    unit.stalled = 0
    if conn.first_unit == NONE:
        conn.first_unit = number
    else:
        units[conn.last_unit].next = number
    conn.last_unit = number
    conn.units += 1
    return number


@inlined
def close_unit(params: Any, conn: Any, unit: Any, full: int, blocked: int, acks: int) -> None:
    """Fix r of a unit that has its k source packets, `full` if it is full."""
    r = repair_packets(params, unit.k, blocked, acks)
    if unit.k < full and not params.repair_partial:
        r = 0
    unit.n = unit.k + r
    conn.repair_packets += r


@inlined
def name_packet(unit: Any, number: int, packet: Any) -> None:
    """Make `packet` one of the unit, with a position that no other packet of the unit has."""
    packet.kind = CODED
    packet.segment = unit.first
    packet.unit = number
    packet.position = unit.sent
    unit.sent += 1


@inlined
def next_packet(conn: Any, units: Any, packet: Any, now_ps: int) -> None:
    """Fill in the next packet of the unit that is being sent."""
    unit = units[conn.open_unit]
    name_packet(unit, conn.open_unit, packet)
    packet.flags = 0
    packet.bytes = unit.packet_bytes
    packet.priority = conn.priority
    packet.ack = 0
    packet.sent_ps = now_ps
    conn.coded_packets += 1
    unit.left -= 1
    if unit.left == 0:
        conn.open_unit = NONE
