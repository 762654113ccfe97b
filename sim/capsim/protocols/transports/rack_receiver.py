"""The receiver under RACK: blocks (RFC 2018), duplicates reported (RFC 2883), acknowledgements that may be put off.

============================ ============================================================ ======================
Packet                       Acknowledgement                                              Source
============================ ============================================================ ======================
in order                     for each `ack_every`-th, or `ack_delay_s` after the first    RFC 1122, 4.2.3.2
out of order, fills a gap    at once                                                      RFC 5681, section 4.2
arrived before               at once; its segment is the first block (D-SACK)             RFC 2883, section 4
last of what is sent         at once, as Linux does where the sender says so (PSH, FIN)   -
its mark is another one      at once for those before it, with their mark                 RFC 8257, section 3.2
only its header has come     at once, with its number; its time tells which copy it was   NDP (2017), section 3.2
============================ ============================================================ ======================

An acknowledgement for several packets echoes the first one's time, so its round trip has the delay in it (RFC 7323,
section 4.3). A block for a duplicate takes the place of the oldest block where there is no room for one more.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.transports.receiver import note_arrival
from capsim.protocols.transports.sack_blocks import BlockParams, reply_with_blocks, report_blocks
from capsim.records import CONGESTION_EXPERIENCED, DATA, HANDSHAKE_ACK, NONE, RETRANSMITTED, TRIMMED


@dataclass(frozen=True, kw_only=True)
class LateAckParams(BlockParams):
    """Parameters of TCP, of blocks, and of acknowledgements that are put off.

    Parameters
    ----------
    ack_every : int
        Packets in order for which one acknowledgement is sent: 1 for each, 2 as RFC 1122, 4.2.3.2, asks at least.
    ack_delay_s : float
        How long an acknowledgement is put off at most, in seconds: 40 ms in Linux, 200 ms in ns-3.
    """

    ack_every: Annotated[int, bounds.WINDOW_PACKETS] = 1
    ack_delay_s: Annotated[float, bounds.ACK_DELAY_S] = 0.04

    @property
    def receive_timer(self) -> bool:
        """Whether acknowledgements are put off, for which the receiver has a timer."""
        return self.ack_every > 1


def on_data(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Acknowledge a packet at once, or put that off."""
    if packet.kind == HANDSHAKE_ACK:
        return 0
    own.packet.duplicate, own.packet.trimmed = 0, 0
    if packet.flags & TRIMMED:
        own.packet.trimmed = packet.segment + 1
        packet.flags |= RETRANSMITTED  # no measure of a round trip, nor a duplicate
    if packet.kind != DATA or packet.flags & TRIMMED:
        return reply_with_blocks(params, own, sub, packet)
    segment, expected, duplicates = packet.segment, sub.receive_next, sub.duplicate_packets
    note_arrival(sub, ring, packet)
    report_blocks(params, own.subflow, sub, ring, segment)
    if params.ack_every > 1:
        in_order = segment == expected and sub.highest_received == segment
        at_once = not in_order or (sub.receive_next == sub.end and sub.final)
        if put_off(params, own, sub, packet, expected, at_once, now_ps):
            return 0
    reply_with_blocks(params, own, sub, packet)
    if sub.duplicate_packets > duplicates:
        report_duplicate(params, own, packet, segment)
    if params.ack_every > 1 and own.subflow.answers_before:
        packet.ack = expected
        own.subflow.answers_before = 0
    return 1


@inlined
def report_duplicate(params: Any, own: Any, packet: Any, segment: int) -> None:
    """Say in an acknowledgement which segment has come once more; the oldest block gives way to that."""
    own.packet.duplicate = segment + 1
    last = params.sack_blocks - 1
    if own.packet.sack_end[last]:
        own.packet.sack_first[last], own.packet.sack_end[last] = 0, 0
    else:
        packet.bytes += params.sack_block_bytes + (0 if own.packet.sack_end[0] else params.sack_option_bytes)


@inlined
def put_off(params: Any, own: Any, sub: Any, packet: Any, expected: int, at_once: bool, now_ps: int) -> bool:
    """Count a packet as not acknowledged; return whether that stays so, else let `packet` answer all that are not.

    Where its mark differs from that of those before it, it answers these, and its own acknowledgement is put off; one
    that should leave at once follows at once.
    """
    memory = own.subflow
    mark, again, sent_ps = packet.flags & CONGESTION_EXPERIENCED, packet.flags & RETRANSMITTED, packet.sent_ps
    if memory.unacked and mark != memory.mark:
        packet.sent_ps, packet.flags = memory.echo_ps, memory.echo_again | memory.mark
        packet.segment = expected - 1
        memory.unacked, memory.mark, memory.echo_ps, memory.echo_again = 1, mark, sent_ps, again
        sub.receive_wake_ps = now_ps if at_once else now_ps + params.ack_delay_ps
        memory.answers_before = 1
        return False
    if memory.unacked == 0:
        memory.mark, memory.echo_ps, memory.echo_again = mark, sent_ps, again
        sub.receive_wake_ps = now_ps + params.ack_delay_ps
    memory.unacked += 1
    if memory.unacked < params.ack_every and not at_once:
        return True
    packet.sent_ps, packet.flags = memory.echo_ps, memory.echo_again | mark
    memory.unacked = 0
    sub.receive_wake_ps = NONE
    return False


def on_receive_timer(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Acknowledge what has come since the last acknowledgement."""
    memory = own.subflow
    sub.receive_wake_ps = NONE
    if memory.unacked == 0:
        return 0
    memory.unacked = 0
    packet.kind = DATA  # of which it is the acknowledgement
    packet.flags = memory.echo_again | memory.mark
    packet.sent_ps = memory.echo_ps
    packet.segment = sub.receive_next - 1
    packet.priority = sub.priority
    packet.unit = NONE
    own.packet.duplicate, own.packet.trimmed = 0, 0
    return reply_with_blocks(params, own, sub, packet)
