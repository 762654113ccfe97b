"""pFabric's ports (Alizadeh et al. 2013, section 4.1): small buffers, served and emptied by a number in each packet.

A smaller ``packet.priority`` is more urgent. The packet with the largest number is lost when the buffer is full, of
equal ones the latest, so the arriving one if none is worse. The packet with the smallest number says which flow is
served, and the earliest waiting packet of that flow is sent: later packets of a flow have smaller numbers, and without
this rule its first packets would wait for the last.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.roles.components import Queue
from capsim.roles.hooks import ACCEPT, EVICT, has_room


@dataclass(frozen=True, kw_only=True)
class PfabricQueueParams:
    """Parameters of a port.

    Parameters
    ----------
    buffer_bytes : int
        Room of each port, those of hosts included, whatever the fabric has (the paper: 36 KB, two bandwidth-delay
        products); 0 for the buffers of the fabric.
    earliest_first : bool
        Whether the earliest packet of the chosen flow is sent (section 4.1.1), or the one with the smallest number.
    """

    buffer_bytes: Annotated[int, bounds.PORT_BYTES] = 36_000
    earliest_first: bool = True


def admit(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Return ACCEPT while there is room, else EVICT."""
    if params.buffer_bytes:
        return ACCEPT if queue_bytes + packet.bytes <= params.buffer_bytes else EVICT
    return ACCEPT if has_room(port, packet, queue_packets, queue_bytes) else EVICT


def take(params: Any, own: Any, port: Any, packets: Any, now_ps: int) -> int:
    """Return the earliest packet of the flow whose packet is most urgent.

    Of packets that came at one time the sender sent the one with the larger number first: what remains only shrinks.
    """
    chosen = port.wait_head
    first = packets[chosen]
    number = first.next if params.earliest_first else port.wait_head
    while params.earliest_first and number >= 0:
        packet, best = packets[number], packets[chosen]
        if packet.sub == first.sub and packet.target == first.target:
            same_time = packet.enqueue_ps == best.enqueue_ps
            if packet.enqueue_ps < best.enqueue_ps or (same_time and packet.priority > best.priority):
                chosen = number
        number = packet.next
    return int(chosen)


PFABRIC = Queue(name="pfabric", admit=admit, take=take, params=PfabricQueueParams(), by_priority=True)
