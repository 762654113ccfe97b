"""A sender that follows ``htsim_uec``: it never guesses what is lost.

Without ``-sleek``, ``UecSrc`` sends a packet again when a NACK for its header comes, or at its retransmission timer; it
neither counts duplicates nor looks at times, and sends no probe. What is delivered and what is in flight is RACK's
here (`TOLD_BY_HEADERS`).
"""

from dataclasses import replace
from typing import Any

from capsim.protocols.transports.rack import RACK, _miss, _plan, _take_new, only_header, take_delivered
from capsim.protocols.transports.tcp import echoed_mark, open_by_reply
from capsim.records import ACK, ESTABLISHED, NONE, RETRANSMITTED
from capsim.roles.hooks import DUPLICATE, HEADER, LOST


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take what is delivered; what a header names is lost."""
    if sub.state != ESTABLISHED or packet.kind != ACK:
        return open_by_reply(params, sub, packet, now_ps)
    memory, signals, before = own.subflow, echoed_mark(packet), sub.una
    if not packet.flags & RETRANSMITTED:
        rtt_ps = now_ps - packet.sent_ps
        memory.shortest_ps = rtt_ps if memory.shortest_ps == 0 else min(memory.shortest_ps, rtt_ps)
    take_delivered(params, own, sub, ring, packet, now_ps)
    if packet.ack > before:
        signals |= _take_new(params, memory, sub, ring, packet, now_ps)
    elif packet.ack == before and before < sub.high and not own.packet.trimmed:
        signals |= DUPLICATE
    told = only_header(own, sub, ring, packet)
    if told != NONE:
        _miss(own, sub, ring, told)
        signals |= LOST
    memory.look_at_ps = NONE
    _plan(params, memory, sub, 0, now_ps)
    return int(signals | (HEADER if own.packet.trimmed else 0))


TOLD_BY_HEADERS = replace(RACK, name="told_by_headers", on_ack=on_ack)
