"""Parts of schemes that follow ``htsim_uec`` where capsim's own do not: a sender that never guesses, marks, penalties.

Without ``-sleek``, ``UecSrc`` sends a packet again when a NACK for its header comes, or at its retransmission timer; it
neither counts duplicates nor looks at times, and sends no probe. What is delivered and what is in flight is RACK's
here. ``CompositeQueue`` sends headers and control packets before data, also where it trims nothing, and marks data by
what they leave behind. ``UecMpBitmap`` takes one penalty a packet, from the first entropy that it passes over; capsim
takes one from each.
"""

from dataclasses import replace
from typing import Any

from capsim.base.inlined import inlined
from capsim.base.randomness import mix
from capsim.protocols.marking.entropy import ENTROPY, in_turn
from capsim.protocols.queues.trim import TRIM_QUEUE
from capsim.protocols.transports.rack import RACK, _miss, _plan, _take_new, only_header, take_delivered
from capsim.protocols.transports.tcp import echoed_mark, open_by_reply
from capsim.records import ACK, CONGESTION_EXPERIENCED, DATA, ESTABLISHED, NONE, RETRANSMITTED
from capsim.roles.hooks import ACCEPT, DUPLICATE, LOST, REFUSE, has_room


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
    return int(signals)


def admit(params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int) -> int:
    """Return REFUSE without room, else ACCEPT."""
    return ACCEPT if has_room(port, packet, queue_packets, queue_bytes) else REFUSE


def take(params: Any, own: Any, port: Any, packets: Any, now_ps: int) -> int:
    """Take the first, which has a mark if more data than the limit stay behind it."""
    number = port.wait_head
    behind_bytes = port.data_bytes - packets[number].bytes
    if not port.of_host and packets[number].kind == DATA and behind_bytes > params.limit_bytes:
        packets[number].flags |= CONGESTION_EXPERIENCED
    return int(number)


@inlined
def passing_over(params: Any, memory: Any, u0: float) -> int:
    """Return the next entropy without penalties; of those passed over the first loses one."""
    found, passed = in_turn(params, memory, u0), 0
    while memory.penalties[found] > 0 and passed <= params.entropies:
        memory.penalties[found] -= passed == 0
        passed += 1
        found = in_turn(params, memory, u0)
    return found


def mark(params: Any, own: Any, flow: Any, sub: Any, packet: Any, u0: float) -> int:
    """Choose an entropy for a packet of data and return the hash that it makes."""
    if packet.kind != DATA:
        return int(sub.hash)
    packet.entropy = passing_over(params, own.subflow, u0)
    return int(sub.hash) if packet.entropy == 0 else mix(sub.hash ^ packet.entropy)


TOLD_BY_HEADERS = replace(RACK, name="told_by_headers", on_ack=on_ack)
MARKS_LEFT_BEHIND = replace(TRIM_QUEUE, name="marks_left_behind", admit=admit, take=take)
ONE_PENALTY = replace(ENTROPY, name="one_penalty", mark=mark)
