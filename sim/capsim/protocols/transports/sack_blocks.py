"""Blocks of TCP with selective acknowledgement (RFC 2018): the receiver reports what it has received, the sender reads.

While a segment is missing, blocks grow by one segment from one acknowledgement to the next, or not at all. So both ends
pass over what they know of a long block, and do not look at each segment of a window for each packet.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.transports.receiver import note_arrival, turn_round
from capsim.protocols.transports.tcp import TcpParams, holds
from capsim.records import DATA, HANDSHAKE_ACK, RECEIVED

BLOCKS = "(sack_blocks,)i4"
BLOCK_MEMORY = (
    ("sack_first", BLOCKS),  # at the receiver: blocks reported last, newest first
    ("sack_end", BLOCKS),
    ("known_first", "i4"),  # at the sender: a long block that it has read, all of it SACKED or acknowledged
    ("known_end", "i4"),
)


@dataclass(frozen=True, kw_only=True)
class BlockParams(TcpParams):
    """Parameters of TCP, and of the blocks in acknowledgements.

    Parameters
    ----------
    sack_blocks : int
        Blocks that an acknowledgement has room for: 3 beside a time stamp, 4 without (RFC 2018, section 3).
    sack_option_bytes : int
        By how much the option with its padding makes an acknowledgement with blocks longer, in bytes (RFC 2018).
    sack_block_bytes : int
        By how much each block makes it longer, in bytes (RFC 2018, section 3).
    """

    unread: ClassVar = frozenset({"full_ack_option"})

    sack_blocks: Annotated[int, bounds.SACK_BLOCKS] = 3
    sack_option_bytes: Annotated[int, bounds.OPTION_BYTES] = 4
    sack_block_bytes: Annotated[int, bounds.OPTION_BYTES] = 8


@inlined
def on_data(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Acknowledge each packet, with the blocks received above the cumulative acknowledgement."""
    if packet.kind == HANDSHAKE_ACK:
        return 0
    if packet.kind == DATA:
        segment = packet.segment
        note_arrival(sub, ring, packet)
        report_blocks(params, own.subflow, sub, ring, segment)
    return reply_with_blocks(params, own, sub, packet)


@inlined
def reply_with_blocks(params: Any, own: Any, sub: Any, packet: Any) -> int:
    """Turn the packet into an acknowledgement with the blocks."""
    turn_round(params, sub, packet)
    for index in range(params.sack_blocks):
        own.packet.sack_first[index] = own.subflow.sack_first[index]
        own.packet.sack_end[index] = own.subflow.sack_end[index]
        if own.packet.sack_end[index]:
            packet.bytes += params.sack_block_bytes + (params.sack_option_bytes if index == 0 else 0)
    return 1


@inlined
def report_blocks(params: Any, memory: Any, sub: Any, ring: Any, segment: int) -> None:
    """Put the block of the segment that came first (RFC 2018, section 4), keep the others, remove what it covers."""
    if segment < sub.receive_next and memory.sack_end[0] == 0:
        return
    first, end = segment, segment
    if segment >= sub.receive_next:
        if memory.sack_first[0] < segment == memory.sack_end[0]:
            first = max(memory.sack_first[0], sub.receive_next)
        while first > sub.receive_next and holds(sub, ring, first - 1, RECEIVED):
            first -= 1
        while end <= sub.highest_received and holds(sub, ring, end, RECEIVED):
            end += 1
    kept_first, kept_end = first, end
    filled = 0
    for index in range(params.sack_blocks):
        old_first, old_end = memory.sack_first[index], memory.sack_end[index]
        memory.sack_first[index] = 0
        memory.sack_end[index] = 0
        if kept_end > kept_first:
            memory.sack_first[filled] = kept_first
            memory.sack_end[filled] = kept_end
            filled += 1
        covered = old_first >= first and old_end <= end
        stale = covered or old_end <= sub.receive_next
        kept_first, kept_end = (0, 0) if stale else (old_first, old_end)
    if filled < params.sack_blocks and kept_end > kept_first:
        memory.sack_first[filled] = kept_first
        memory.sack_end[filled] = kept_end


@inlined
def past_known(memory: Any, segment: int) -> int:
    """Return the first segment from `segment` on that the block known does not hold."""
    return memory.known_end if memory.known_first <= segment < memory.known_end else segment


@inlined
def know(memory: Any, sub: Any, first: int, end: int) -> None:
    """Remember a block that has been read, if it is longer than the one known or that is acknowledged."""
    if end - first >= memory.known_end - memory.known_first or memory.known_end <= sub.una:
        memory.known_first, memory.known_end = first, end
