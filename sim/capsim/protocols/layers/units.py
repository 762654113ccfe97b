"""Shared by all encoders of CAPS: how large a unit is, how many repair packets it gets, its next packet.

================================ ======== =============================== ===============================
Quantity                         Symbol   Name                            Source
================================ ======== =============================== ===============================
ACKs with a large RTT, and all   n_L, n   ``measured``                    caps u (VI-B) blocking
source packets of a unit         k        ``full_unit_packets``           caps VI-A, VI-C
packets of a unit                k + r    ``unit.n``, 0 while it fills    caps u (VI-B) redundancy
================================ ======== =============================== ===============================
"""

from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.layers.blocking import remembered_unit_packets, repair_packets, roll_period
from capsim.protocols.layers.marks import WAITING_MARKS
from capsim.protocols.layers.params import UnitSize
from capsim.records import CODED, NONE

# What the layer keeps for each subflow, at both ends
CODER = (
    ("unit_first", "i8"),  # first segment in the encoding buffer
    ("unit_next", "i8"),  # one above the last
    ("unit_bytes", "i8"),  # size of the largest packet in it
    ("unit_flags", "i4"),  # whether its packets can be marked
    ("fill_unit", "i4", NONE),  # whose source packets are leaving one by one, or NONE
    ("fill_packets", "i4"),  # how many of them make it full
    ("open_unit", "i4", NONE),  # of which packets are to be sent now, or NONE
    ("first_unit", "i4", NONE),  # oldest unit not yet acknowledged (ACK per packet) or released (at decoding)
    ("last_unit", "i4", NONE),
    ("release_unit", "i4", NONE),
    ("release_next", "i8"),  # segments [release_next, release_end) wait to be delivered to the transport
    ("release_end", "i8"),
    ("release_flags", "i4"),  # of the packet after which they may be delivered
    ("release_sent_ps", "i8"),  # when that packet was sent
    ("held_packets", "i8"),  # source packets that wait behind a gap
    ("held_end", "i8"),  # one above the last of them so far
    ("repeated", "i8", NONE),  # a retransmission that is delivered after what is held, or NONE
    ("asked_end", "i8"),  # below it what is missing is left to the transport
    ("awaited_unit", "i4", NONE),  # the unit of the first gap from there on, or NONE
    ("over_ps", "i8", NONE),  # since when no more of its packets are under way, or NONE
    ("coded_packets", "i8"),
    ("repair_packets", "i8"),
    ("units", "i8"),
    ("units_decoded", "i8"),
    ("units_stalled", "i8"),
    ("units_asked", "i8"),
    ("late_packets", "i8"),
    *WAITING_MARKS,
)
COUNTS = {
    "coded_packets": "packets sent for coding units, source and repair; retransmissions not counted",
    "repair_packets": "of these, packets beyond the k of their unit, copies that go with retransmissions among them",
    "units": "coding units sent",
    "units_decoded": "of these, decoded at the receiver (source packets retransmitted uncoded count towards k)",
    "units_stalled": "of the units, short of k packets when a retransmission of one of their packets came",
    "units_asked": "of the units, no longer waited for with `request_s`, so that what is missing is repeated",
    "late_packets": "coded packets that came after their unit was decoded",
}
UNIT = (
    ("sub", "i4"),
    ("k", "i4"),
    ("n", "i4"),
    ("sent", "i4"),  # packets so far, retransmissions included: the position of the next one
    ("left", "i4"),  # packets to be sent now
    ("packet_bytes", "i4"),  # of a coded packet: as the largest source packet
    ("arrived_packets", "i4"),
    ("dependent_packets", "i4"),
    ("first_segment", "i8"),
    ("sent_ps", "i8"),
    ("decoded_ps", "i8"),  # NONE: never
    ("next", "i4"),  # later unit of the same subflow
    ("released", "u1"),
    ("stalled", "u1"),
    ("over", "u1"),  # its last packet has come
)
UNIT_COLUMNS = {
    "first_segment": "first of its source packets",
    "k": "source packets",
    "n": "packets sent for it, k + r",
    "arrived_packets": "independent packets at the receiver",
    "dependent_packets": "packets that told it nothing new before it was decoded; 0 where packets carry no payload",
    "stalled": "whether fewer than k had come when a retransmission of one of its packets came",
    "sent_s": "when the unit was closed and sent, in seconds",
    "decoded_s": "when the receiver could decode, in seconds; NaN = never",
}

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
def full_unit_packets(params: Any, sub: Any, estimator: Any, blocked: int, acks: int) -> int:
    """Return k: how many packets fill a unit now."""
    if params.unit_size == UnitSize.FIXED:
        return params.fixed_packets
    window_bytes = sub.cwnd_bytes + sub.inflation_bytes
    window = min(max(window_bytes // sub.mss_bytes, 1), sub.ring_mask + 1)  # no more can be in flight
    if params.unit_size == UnitSize.OPTIMAL and blocked:
        return remembered_unit_packets(params, estimator, window, blocked, acks)
    return window


@inlined
def new_unit(own: Any, sub: Any, counters: Any, first: int, now_ps: int) -> int:
    """Begin a unit with segment `first`, without packets yet; return its number."""
    number = counters.units
    counters.units += 1
    coder, unit = own.subflow, own.units[number]
    unit.sub = sub.id
    unit.k = 0
    unit.n = 0
    unit.sent = 0
    unit.left = 0
    unit.packet_bytes = 0
    unit.arrived_packets = 0
    unit.dependent_packets = 0
    unit.first_segment = first
    unit.sent_ps = now_ps
    unit.decoded_ps = NONE
    unit.next = NONE
    unit.released = 0
    unit.stalled = 0
    unit.over = 0
    if coder.first_unit == NONE:
        coder.first_unit = number
    else:
        own.units[coder.last_unit].next = number
    coder.last_unit = number
    coder.units += 1
    return number


@inlined
def close_unit(params: Any, coder: Any, unit: Any, full: int, blocked: int, acks: int) -> None:
    """Fix r of a unit that has its k source packets, `full` if it is full."""
    r = repair_packets(params, unit.k, blocked, acks)
    if unit.k < full and not params.repair_partial:
        r = 0
    unit.n = unit.k + r
    coder.repair_packets += r


@inlined
def name_packet(unit: Any, number: int, packet: Any) -> None:
    """Make `packet` one of the unit, with a position that no other packet of the unit has."""
    packet.kind = CODED
    packet.segment = unit.first_segment
    packet.unit = number
    packet.position = unit.sent
    unit.sent += 1


@inlined
def next_packet(own: Any, sub: Any, packet: Any, now_ps: int) -> None:
    """Fill in the next packet of the unit that is being sent."""
    coder = own.subflow
    unit = own.units[coder.open_unit]
    name_packet(unit, coder.open_unit, packet)
    packet.flags = coder.unit_flags
    packet.bytes = unit.packet_bytes
    packet.priority = sub.priority
    packet.ack = 0
    packet.sent_ps = now_ps
    coder.coded_packets += 1
    unit.left -= 1
    if unit.left == 0:
        coder.open_unit = NONE
