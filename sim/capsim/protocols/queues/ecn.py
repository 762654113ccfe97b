"""ECN threshold: DropTail that marks an ECN-capable packet when it finds the queue at or above K (RFC 8257, 3.1).

RFC 8257 has switches mark. The queue of a sender's own NIC is no congestion of the network, and its host sees it
without a mark; so the NICs of hosts only drop, unless `at_nics` is set.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.records import ECN_CAPABLE
from capsim.roles.components import Queue
from capsim.roles.hooks import ACCEPT, MARK, REFUSE, has_room


@dataclass(frozen=True, kw_only=True)
class EcnParams:
    """Parameters of the threshold.

    Parameters
    ----------
    threshold_packets : int
        K: packets found in the queue; 20 at 1 Gbps, 65 at 10 Gbps (Alizadeh et al. 2010).
    at_nics : bool
        Whether the NICs of hosts mark too, not only the ports of switches.
    """

    threshold_packets: Annotated[int, bounds.QUEUE_PACKETS] = 20
    at_nics: bool = False

    @property
    def marks(self) -> bool:
        """Return whether it may mark: always."""
        return True


def admit(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Return REFUSE without room, MARK at the threshold of a port that marks, else ACCEPT."""
    if not has_room(port, packet, queue_packets, queue_bytes):
        return REFUSE
    if queue_packets < params.threshold_packets or not packet.flags & ECN_CAPABLE:
        return ACCEPT
    return MARK if params.at_nics or not port.of_host else ACCEPT


ECN = Queue(name="ecn", admit=admit, params=EcnParams())
