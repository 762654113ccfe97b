"""The coding layer of CAPS, between TCP and IP: k source packets become k + r coded ones, and any k of these suffice.

The hooks are here; what they do stands in :mod:`~capsim.protocols.coding.per_packet` (ACK per packet),
:mod:`~capsim.protocols.coding.block` and :mod:`~capsim.protocols.coding.decoder` (ACK at decoding), the parameters and
their evidence in :mod:`~capsim.protocols.coding.params`.
"""

from typing import Any

from capsim.hooks import KEEP, PASS, Coding, inlined
from capsim.protocols.coding.block import buffer_source, close_buffer
from capsim.protocols.coding.blocking import observe
from capsim.protocols.coding.decoder import collect_and_hold, release_held
from capsim.protocols.coding.params import Acknowledged, CodingParams
from capsim.protocols.coding.per_packet import collect_packet, join_unit, renew
from capsim.protocols.coding.units import next_packet
from capsim.records import CODED, DATA, NONE, RETRANSMITTED


def accept(params: Any, conn: Any, estimator: Any, units: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Take a new source packet into its unit or into the buffer; with an ACK per packet, renew a retransmission."""
    if packet.kind != DATA:
        return PASS
    if packet.flags & RETRANSMITTED:
        if params.ack == Acknowledged.DECODED:
            return PASS  # which packet is missing is known, and one packet makes no unit
        return renew(params, conn, estimator, units, packet, now_ps)
    if params.coded_packets and packet.segment >= params.coded_packets:
        return PASS
    if leaves_coded(params):
        return join_unit(params, conn, estimator, units, counters, packet, now_ps)
    buffer_source(params, conn, packet, now_ps)
    return PASS if params.systematic else KEEP


@inlined
def leaves_coded(params: Any) -> bool:
    """Return whether source packets leave at once as packets of a unit, so that nothing waits in the buffer."""
    return params.systematic and params.ack == Acknowledged.PACKET


def emit(params: Any, conn: Any, estimator: Any, units: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Fill in the next packet of the unit that is being sent, or of the one that the buffer makes."""
    while conn.open_unit == NONE:
        if leaves_coded(params) or not close_buffer(params, conn, estimator, units, counters, now_ps):
            return 0
    next_packet(conn, units, packet, now_ps)
    return 1


def collect(params: Any, conn: Any, segments: Any, units: Any, packet: Any, now_ps: int) -> int:
    """Take a packet at the receiver; return 1 if it is delivered to TCP now."""
    if params.ack == Acknowledged.DECODED:
        return collect_and_hold(params, conn, segments, units, packet, now_ps)
    return collect_packet(conn, units, packet, now_ps) if packet.kind == CODED else 1


def release(params: Any, conn: Any, segments: Any, units: Any, packet: Any, now_ps: int) -> int:
    """Deliver the next source packet of decoded units; with an ACK per packet none is held."""
    if params.ack == Acknowledged.PACKET:
        return 0
    return release_held(params, conn, segments, units, packet, now_ps)


CAPS_CODING = Coding(
    name="caps",
    accept=accept,
    emit=emit,
    collect=collect,
    release=release,
    observe=observe,
    params=CodingParams(),
    coded="short",
)
