"""Packet scatter: each data packet of a flow's first subflow has a source port of its own, a new one when it is resent.

Switches that hash addresses and port numbers (ECMP) so send each packet on a random path. Acknowledgements, handshakes
and further subflows keep one source port, as in the authors' code of MMPTCP.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.randomness import mix
from capsim.records import CODED, DATA
from capsim.roles.components import Marking


@dataclass(frozen=True, kw_only=True)
class ScatterParams:
    """Parameters of packet scatter.

    Parameters
    ----------
    source_ports : int
        Source ports to draw from. The paper of MMPTCP leaves the number open; its authors' code has 65530.
    """

    source_ports: Annotated[int, bounds.SOURCE_PORTS] = 65_530


def mark(params: Any, own: Any, flow: Any, sub: Any, packet: Any, u0: float) -> int:
    """Return the hash of the subflow with a drawn source port."""
    if sub.number or (packet.kind != DATA and packet.kind != CODED):
        return int(sub.hash)
    return mix(sub.hash ^ (1 + int(u0 * params.source_ports)))


SCATTER = Marking(name="scatter", mark=mark, params=ScatterParams(), draws=True)
