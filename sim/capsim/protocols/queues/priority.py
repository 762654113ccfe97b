"""Strict priority with two classes and one limit: a short flow's packet pushes out the last waiting long-flow packet.

The papers name ECMP_pq and RPS_pq without defining the buffer; this is the reading that keeps the total buffer equal
to that of the schemes without priorities (our reconstruction).
"""

from dataclasses import dataclass
from typing import Any

from capsim.hooks import ACCEPT, PUSH_OUT, REFUSE, Queue
from capsim.protocols.queues.droptail import has_room


@dataclass(frozen=True, kw_only=True)
class PriorityParams:
    """Parameters of the strict-priority queue.

    Parameters
    ----------
    push_out : bool
        Whether an arriving packet of the upper class may take the place of the last waiting one of the lower class.
    """

    push_out: bool = True


def admit(params: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int) -> int:
    """Return ACCEPT while there is room, then PUSH_OUT for the upper class and REFUSE for the lower."""
    if has_room(port, packet, queue_packets, queue_bytes):
        return ACCEPT
    return PUSH_OUT if params.push_out and packet.priority == 0 else REFUSE


PRIORITY = Queue(name="priority", admit=admit, params=PriorityParams(), classes=2)
