"""Strict priority with two classes and one limit: a short flow's packet pushes out the last waiting long-flow packet.

The papers name ECMP_pq and RPS_pq without defining the buffer; this is the variant that keeps the total buffer equal to
that of the schemes without priorities (our reconstruction). Acknowledgements have the class of their flow, also in the
NICs of hosts: those of a long flow wait behind short flows' data, and give way to it at a full port.
"""

from dataclasses import dataclass
from typing import Any

from capsim.roles.components import Queue
from capsim.roles.hooks import ACCEPT, EVICT, REFUSE, has_room


@dataclass(frozen=True, kw_only=True)
class PriorityParams:
    """Parameters of the strict-priority queue.

    Parameters
    ----------
    push_out : bool
        Whether an arriving packet of the upper class may take the place of the last waiting one of the lower class.
    """

    push_out: bool = True


def admit(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Return ACCEPT while there is room, then EVICT for the upper class and REFUSE for the lower."""
    if has_room(port, packet, queue_packets, queue_bytes):
        return ACCEPT
    return EVICT if params.push_out and packet.priority == 0 else REFUSE


PRIORITY = Queue(name="priority", admit=admit, params=PriorityParams(), by_priority=True)
