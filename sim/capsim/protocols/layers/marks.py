"""Shared by all layers that code: packets that the layer makes can be marked (ECN), and their marks are echoed.

A coded packet can be marked if the source packets of its subflow can (RFC 3168, section 5), so that coded traffic slows
down where other traffic does. What marks an acknowledgement is the data packet that it answers; a coded packet that the
layer keeps has none. Its mark waits for the next data packet that is delivered to the transport without one, so that
the share of marked acknowledgements, from which DCTCP computes its window (RFC 8257, section 3.3), is that of marked
packets. Of the packets of a unit, k + r, no more can be echoed than there are acknowledgements: at most `most` marks
wait, so that none tells of a queue that is long gone.
"""

from typing import Any

from capsim.base.inlined import inlined
from capsim.records import CONGESTION_EXPERIENCED, DATA, ECN_CAPABLE

WAITING_MARKS = (("waiting_marks", "i4"),)  # of a subflow: of packets that caused no acknowledgement


@inlined
def capable(packet: Any) -> int:
    """Return the flag with which packets that are coded from `packet` are sent."""
    return int(packet.flags & ECN_CAPABLE)


@inlined
def keep_mark(memory: Any, packet: Any, most: int) -> None:
    """Remember the mark of a packet that the layer keeps or drops."""
    if packet.flags & CONGESTION_EXPERIENCED:
        memory.waiting_marks = min(memory.waiting_marks + 1, most)


@inlined
def echo_mark(memory: Any, packet: Any) -> None:
    """Let a data packet that is delivered to the transport take a waiting mark along, if it has none itself."""
    if memory.waiting_marks and packet.kind == DATA and not packet.flags & CONGESTION_EXPERIENCED:
        packet.flags |= CONGESTION_EXPERIENCED
        memory.waiting_marks -= 1
