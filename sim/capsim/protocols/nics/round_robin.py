"""Round robin: the connections of a host take turns at its NIC, so that none waits behind the backlog of another.

A connection is a subflow in one direction: what Linux' ``fq`` sees as a socket, an RDMA NIC as a queue pair. So two
copies of a flow have two turns and eight subflows have eight; a subflow whose packets are sprayed over many paths has
one. The acknowledgements of a subflow take turns at its receiver, as a connection of their own.

Each packet has the number of a turn: the one after that of the packet before it in its connection, but not below the
turn that the port is at. So a pause saves no turns, a new connection begins in the present turn, behind those that
still have it, and one alone is served in order of arrival. This is start-time fair queueing (Goyal, Vin and Cheng,
1997) round robin. With turns of a number of bytes it shares bytes as deficit round robin does (Shreedhar and Varghese,
1995).

=========== ======================== =====================================================================
What        Connection               Turn
=========== ======================== =====================================================================
Linux, fq   socket                   two packets of the MTU by deficits; sockets that were idle come first
htsim       flow, in three classes   one packet
RDMA NICs   queue pair               some packets, as the vendor chose
=========== ======================== =====================================================================

Which packets the port takes, marks or loses, its queue decides, as without turns: all connections share its room.
Linux' ``fq`` keeps 100 packets of each.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.records import CODED, DATA, NONE
from capsim.roles.components import Nic


@dataclass(frozen=True, kw_only=True)
class RoundRobinParams:
    """Parameters of turns.

    Parameters
    ----------
    quantum_bytes : int
        Bytes that a connection sends in a turn, with headers; what its last packet exceeds them by is taken off its
        next turns (Linux: 3028). 0: one packet, whatever its size.
    control_first : bool
        Whether acknowledgements and handshakes leave before all data, in order of arrival, without turns (htsim).
    """

    quantum_bytes: Annotated[int, bounds.TURN_BYTES] = 0
    control_first: bool = False


def rank(params: Any, own: Any, port: Any, packet: Any, now_ps: int) -> int:
    """Return the turn in which a packet leaves; `own.direction.next` is the first turn, or byte, of the next packet."""
    if params.control_first and packet.kind != DATA and packet.kind != CODED:
        return NONE
    if params.quantum_bytes == 0:
        turn = max(own.direction.next, port.turn)
        own.direction.next = turn + 1
        return int(turn)
    begin = max(own.direction.next, port.turn * params.quantum_bytes)
    own.direction.next = begin + packet.bytes
    return int(begin // params.quantum_bytes)


ROUND_ROBIN = Nic(name="round_robin", rank=rank, params=RoundRobinParams(), memory={"direction": (("next", "i8"),)})
