"""ECN threshold: DropTail that marks an ECN-capable packet when it finds the queue at or above K (RFC 8257, 3.1)."""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim import bounds
from capsim.hooks import ACCEPT, MARK, REFUSE
from capsim.protocols.queues.droptail import has_room
from capsim.records import ECN_CAPABLE
from capsim.roles import Queue


@dataclass(frozen=True, kw_only=True)
class EcnParams:
    """Parameters of the threshold.

    Parameters
    ----------
    threshold_packets : int
        K: packets found in the queue; 20 at 1 Gbps, 65 at 10 Gbps (Alizadeh et al. 2010).
    """

    threshold_packets: Annotated[int, bounds.QUEUE_PACKETS] = 20


def admit(params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int) -> int:
    """Return REFUSE without room, MARK at the threshold, else ACCEPT."""
    if not has_room(port, packet, queue_packets, queue_bytes):
        return REFUSE
    return MARK if queue_packets >= params.threshold_packets and packet.flags & ECN_CAPABLE else ACCEPT


ECN = Queue(name="ecn", admit=admit, params=EcnParams())
