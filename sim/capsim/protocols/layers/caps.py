"""The coding layer of CAPS, between TCP and IP: k source packets become k + r coded ones, and any k of these suffice.

The hooks are here; what they do stands in :mod:`~capsim.protocols.layers.per_packet` (ACK per packet),
:mod:`~capsim.protocols.layers.block` and :mod:`~capsim.protocols.layers.decoder` (ACK at decoding), which packets take
a host work in :mod:`~capsim.protocols.layers.work`, the parameters and their evidence in
:mod:`~capsim.protocols.layers.params`.
"""

from typing import Any

from capsim.hooks import KEEP, PASS, inlined
from capsim.protocols.layers.block import buffer_source, close_buffer
from capsim.protocols.layers.blocking import ESTIMATOR, note_rtt
from capsim.protocols.layers.decoder import collect_and_hold, release_held
from capsim.protocols.layers.params import Acknowledged, CodingParams
from capsim.protocols.layers.parts import part
from capsim.protocols.layers.per_packet import collect_packet, join_unit, renew
from capsim.protocols.layers.units import CODER, COUNTS, UNIT, UNIT_COLUMNS, next_packet
from capsim.protocols.layers.work import decodes, encodes
from capsim.records import CODED, DATA, NONE, RETRANSMITTED
from capsim.roles import Layer


def accept(params: Any, own: Any, flow: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Take a new source packet into its unit or into the buffer; with an ACK per packet, renew a retransmission."""
    return accept_source(params, own, own.subflow, sub, counters, packet, now_ps)


@inlined
def accept_source(params: Any, own: Any, estimator: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Do what `accept` does; `estimator` is of the subflow or of its host."""
    if packet.kind != DATA:
        return PASS
    if packet.flags & RETRANSMITTED:
        if params.ack == Acknowledged.DECODED:
            return PASS  # which packet is missing is known, and one packet makes no unit
        return renew(params, own, estimator, sub, packet, now_ps)
    if params.coded_packets and packet.segment >= params.coded_packets:
        return PASS
    if leaves_coded(params):
        return join_unit(params, own, estimator, sub, counters, packet, now_ps)
    buffer_source(params, own.subflow, sub, packet, now_ps)
    return PASS if params.systematic else KEEP


@inlined
def leaves_coded(params: Any) -> bool:
    """Return whether source packets leave at once as packets of a unit, so that nothing waits in the buffer."""
    return params.systematic and params.ack == Acknowledged.PACKET


def emit(params: Any, own: Any, flow: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Fill in the next packet of the unit that is being sent, or of the one that the buffer makes."""
    return emit_next(params, own, own.subflow, sub, counters, packet, now_ps)


@inlined
def emit_next(params: Any, own: Any, estimator: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Do what `emit` does; `estimator` is of the subflow or of its host."""
    while own.subflow.open_unit == NONE:
        if leaves_coded(params) or not close_buffer(params, own, estimator, sub, counters, now_ps):
            return 0
    next_packet(own, sub, packet, now_ps)
    return 1


def collect(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take a packet at the receiver; return 1 if it is delivered to TCP now."""
    if params.ack == Acknowledged.DECODED:
        return collect_and_hold(params, own, sub, ring, packet, now_ps)
    return collect_packet(own, packet, now_ps) if packet.kind == CODED else 1


def release(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Deliver the next source packet of decoded units; with an ACK per packet none is held."""
    if params.ack == Acknowledged.PACKET:
        return 0
    return release_held(params, own, sub, ring, packet, now_ps)


def observe(params: Any, own: Any, flow: Any, sub: Any, packet: Any, now_ps: int) -> int:
    """Enter the RTT of an acknowledgement."""
    note_rtt(params, own.subflow, packet, now_ps)
    return 0


CAPS_LAYER = Layer(
    name="caps",
    accept=accept,
    emit=emit,
    collect=collect,
    release=release,
    observe=observe,
    encodes=encodes,
    decodes=decodes,
    params=CodingParams(),
    memory={"subflow": (*CODER, *ESTIMATOR), "unit": UNIT},
    columns={"subflow": COUNTS, "unit": UNIT_COLUMNS},
    send_timer=True,
    part=part,
)
