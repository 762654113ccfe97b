"""DropTail: a port takes a packet while there is room for it, in packets and in bytes."""

from typing import Any

from capsim.base.inlined import inlined
from capsim.records import NONE
from capsim.roles.components import Queue
from capsim.roles.hooks import ACCEPT, REFUSE


@inlined
def has_room(port: Any, packet: Any, queue_packets: int, queue_bytes: int) -> bool:
    """Return whether the packet fits into the queue."""
    fits_packets = port.limit_packets == NONE or queue_packets < port.limit_packets
    return fits_packets and (port.limit_bytes == NONE or queue_bytes + packet.bytes <= port.limit_bytes)


def admit(params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int) -> int:
    """Return ACCEPT while there is room, else REFUSE."""
    return ACCEPT if has_room(port, packet, queue_packets, queue_bytes) else REFUSE


DROPTAIL = Queue(name="droptail", admit=admit)
