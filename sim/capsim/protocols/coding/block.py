"""The coding layer of CAPS: between TCP and IP, k source packets become k + r coded ones, and any k of these suffice.

Sender: what TCP hands down waits in the encoding buffer until a *unit* is full (k packets, by default as many as the
window holds). It goes early when nothing could fill it: the flow has no more data, nothing else is in flight, TCP has
gone back after a timeout, or the flush timer fires. The n = k + r coded packets leave at once and do not count against
the window. Retransmissions go in clear: which packet is missing is known then, and one packet makes no unit.

Receiver: coded packets are held until k of their unit have come; then the k source packets go up to TCP together,
units in order, so that TCP sees no reordering. Later packets of the unit are dropped. A retransmission goes up at
once and counts as one more packet of its unit. A unit that cannot be decoded is repaired by TCP.

Counted, not computed: a unit is decoded when k packets have arrived, as for an MDS code.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from capsim.hooks import Coding, inlined
from capsim.protocols.coding.blocking import (
    Threshold,
    observe,
    optimal_unit_packets,
    repair_packets,
    roll_period,
)
from capsim.records import CODED, DATA, NONE, RECEIVED, RETRANSMITTED
from capsmodel._checks import require

PPM = 1_000_000


class UnitSize(IntEnum):
    """How many packets fill a unit: the window (caps VI-A), the optimum of Eq. 4 (VI-C), or a fixed number."""

    WINDOW = 0
    OPTIMAL = 1
    FIXED = 2


class Release(IntEnum):
    """When a decoded unit goes up to TCP: after all earlier ones, or at once."""

    IN_ORDER = 0
    DECODED = 1


@dataclass(frozen=True, kw_only=True)
class BlockParams:
    """Parameters of the coding layer; where CAPS leaves a point open, the note says so.

    Parameters
    ----------
    unit_size : UnitSize
        What fills a unit.
    fixed_packets : int
        k for ``UnitSize.FIXED`` (the authors' ns-2 code: 10).
    max_overhead : float
        Largest r / k. The formula has no limit as p_B goes to 1 (open; the authors' code: 0.2).
    initial_blocking_prob : float
        p_B before the first sampling period with an acknowledgement (open).
    sampling_s : float
        Sampling period of p_B, in seconds (VII: 200 us).
    rtt_factor : float
        An RTT is large above this multiple of the usual one.
    threshold : Threshold
        Which RTT is the usual one.
    flush_s : float
        Longest wait of a packet in the encoding buffer, in seconds; 0 for no limit (open).
    release : Release
        When a decoded unit goes up.
    coded_packets : int
        Only the first so many packets of a flow are coded; 0 for all (CAPS_dark: 100 KB).
    rtt_short_s, rtt_long_s, packet_s : float
        For the optimum of Eq. 4: RTT of free and of blocked paths, time of a packet on the link, in seconds.
    """

    unit_size: UnitSize = UnitSize.WINDOW
    fixed_packets: int = 10
    max_overhead: float = 1.0
    initial_blocking_prob: float = 0.0
    sampling_s: float = 200e-6
    rtt_factor: float = 2.0
    threshold: Threshold = Threshold.SMOOTHED
    flush_s: float = 0.0
    release: Release = Release.IN_ORDER
    coded_packets: int = 0
    rtt_short_s: float = 100e-6
    rtt_long_s: float = 3e-3
    packet_s: float = 12e-6

    def __post_init__(self) -> None:
        require(self.fixed_packets >= 1, f"coding.fixed_packets = {self.fixed_packets}, but a unit has at least 1")
        # The packet pool keeps room for the repair packets of a whole window.
        require(self.max_overhead <= 1000, f"coding.max_overhead = {self.max_overhead:g}, but 1000 is the most")
        require(self.initial_blocking_prob < 1, "coding.initial_blocking_prob must lie in [0, 1)")
        require(self.sampling_s >= 1e-12, "coding.sampling_s must be at least a picosecond")


def accept(params: Any, conn: Any, packet: Any, now_ps: int) -> int:
    """Put a new source packet into the encoding buffer; let everything else pass."""
    in_clear = packet.kind != DATA or packet.flags & RETRANSMITTED
    if in_clear or (params.coded_packets and packet.segment >= params.coded_packets):
        return 0
    if conn.unit_first >= conn.unit_next:
        conn.unit_first = packet.segment
        conn.unit_bytes = 0
        conn.flush_ps = now_ps + params.flush_ps if params.flush_ps else NONE
    conn.unit_next = packet.segment + 1
    conn.unit_bytes = max(conn.unit_bytes, packet.bytes)
    return 1


@inlined
def measured(params: Any, estimator: Any) -> tuple[int, int]:
    """Return n_L and n of the last sampling period that had any, or what stands for them before."""
    if estimator.known_acks:
        return estimator.known_blocked, estimator.known_acks
    return int(params.initial_blocking_prob * PPM + 0.5), PPM


@inlined
def full_unit_packets(params: Any, conn: Any, blocked: int, acks: int) -> int:
    """Return k: how many packets fill a unit now."""
    if params.unit_size == UnitSize.FIXED:
        return params.fixed_packets
    window = max(conn.cwnd_bytes // conn.mss_bytes, 1)
    if params.unit_size == UnitSize.OPTIMAL:
        return optimal_unit_packets(params, window, blocked, acks)
    return window


@inlined
def nothing_to_wait_for(params: Any, conn: Any, now_ps: int) -> bool:
    """Return whether the encoding buffer must go although the unit is not full."""
    no_more_data = conn.unit_next in (conn.n_segments, params.coded_packets)
    nothing_else_in_flight = conn.next_segment - conn.una <= conn.unit_next - conn.unit_first
    gone_back = conn.next_segment < conn.unit_next
    return no_more_data or nothing_else_in_flight or gone_back or (conn.flush_ps != NONE and conn.flush_ps <= now_ps)


@inlined
def close_unit(params: Any, conn: Any, estimator: Any, units: Any, counters: Any, now_ps: int) -> int:
    """Make a unit of what waits, if it is time; return 1 if so."""
    conn.unit_first = max(conn.unit_first, conn.una)  # what is acknowledged leaves the buffer
    waiting = conn.unit_next - conn.unit_first
    if waiting <= 0:
        conn.flush_ps = NONE
        return 0
    roll_period(params, estimator, now_ps)
    blocked, acks = measured(params, estimator)
    full = full_unit_packets(params, conn, blocked, acks)
    if waiting < full and not nothing_to_wait_for(params, conn, now_ps):
        return 0
    number = counters.units
    counters.units += 1
    unit = units[number]
    unit.conn = conn.id
    unit.k = min(waiting, full)
    unit.n = unit.k + repair_packets(params, unit.k, blocked, acks)
    unit.arrived = 0
    unit.first = conn.unit_first
    unit.sent_ps = now_ps
    unit.decoded_ps = NONE
    unit.next = NONE
    unit.released = 0
    append_unit(conn, units, number)
    conn.unit_first += unit.k
    if conn.unit_first >= conn.unit_next:
        conn.flush_ps = NONE
    conn.open_unit = number
    conn.emitted = 0
    conn.units += 1
    conn.repair_packets += unit.n - unit.k
    return 1


@inlined
def append_unit(conn: Any, units: Any, number: int) -> None:
    """Add a unit to the chain of those that the receiver has not released."""
    if conn.first_unit == NONE:
        conn.first_unit = number
    else:
        units[conn.last_unit].next = number
    conn.last_unit = number


def emit(params: Any, conn: Any, estimator: Any, units: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Fill in the next packet of the unit that is being sent, or of the next one if it is ready."""
    if conn.open_unit == NONE and not close_unit(params, conn, estimator, units, counters, now_ps):
        return 0
    unit = units[conn.open_unit]
    packet.kind = CODED
    packet.flags = 0
    packet.bytes = conn.unit_bytes
    packet.priority = conn.priority
    packet.segment = unit.first
    packet.ack = 0
    packet.unit = conn.open_unit
    packet.position = conn.emitted
    packet.sent_ps = now_ps
    conn.coded_packets += 1
    conn.emitted += 1
    if conn.emitted == unit.n:
        conn.open_unit = NONE
    return 1


def collect(params: Any, conn: Any, segments: Any, units: Any, packet: Any, now_ps: int) -> int:
    """Count a coded packet for its unit and keep it; let a packet in clear pass, counting it too."""
    if packet.kind == CODED:
        count_arrival(conn, units[packet.unit], now_ps)
        return 0
    if packet.kind == DATA and is_missing(conn, segments, packet.segment):
        number = conn.first_unit
        while number != NONE:
            unit = units[number]
            if unit.first <= packet.segment < unit.first + unit.k and unit.decoded_ps == NONE and not unit.released:
                count_arrival(conn, unit, now_ps)
            number = unit.next
    return 1


@inlined
def is_missing(conn: Any, segments: Any, segment: int) -> bool:
    """Return whether TCP has not had this segment yet."""
    return segment >= conn.receive_next and not segments[conn.ring + (segment & conn.ring_mask)] & RECEIVED


@inlined
def count_arrival(conn: Any, unit: Any, now_ps: int) -> None:
    """Count one independent packet of a unit; the k-th decodes it."""
    if unit.decoded_ps != NONE or unit.released:
        conn.late_packets += 1
        return
    unit.arrived += 1
    if unit.arrived == unit.k:
        unit.decoded_ps = now_ps
        conn.units_decoded += 1


@inlined
def next_unit(params: Any, conn: Any, units: Any) -> int:
    """Return a decoded unit that may go up now, or NONE; forget units that TCP has repaired without decoding."""
    while conn.first_unit != NONE:
        unit = units[conn.first_unit]
        repaired = unit.decoded_ps == NONE and conn.receive_next >= unit.first + unit.k
        if not unit.released and not repaired:
            break
        if repaired:
            unit.released = 1
            conn.units_stalled += 1
        conn.first_unit = unit.next
    number = conn.first_unit
    while number != NONE:
        unit = units[number]
        if unit.decoded_ps != NONE and not unit.released:
            return number
        number = unit.next if params.release == Release.DECODED else NONE
    return NONE


def release(params: Any, conn: Any, segments: Any, units: Any, packet: Any, now_ps: int) -> int:
    """Hand on the next source packet of the decoded units, leaving out what TCP has had in clear."""
    while True:
        while conn.release_next < conn.release_end:
            segment = conn.release_next
            conn.release_next += 1
            if is_missing(conn, segments, segment):
                packet.kind = DATA
                packet.flags = 0
                packet.bytes = conn.mss_bytes
                packet.priority = conn.priority
                packet.segment = segment
                packet.ack = 0
                packet.unit = conn.release_unit
                packet.sent_ps = units[conn.release_unit].sent_ps
                return 1
        number = next_unit(params, conn, units)
        if number == NONE:
            return 0
        unit = units[number]
        unit.released = 1
        conn.release_unit = number
        conn.release_next = unit.first
        conn.release_end = unit.first + unit.k


BLOCK = Coding(
    name="block",
    accept=accept,
    emit=emit,
    collect=collect,
    release=release,
    observe=observe,
    params=BlockParams(),
    coded="short",
)
