"""PS_TCP as in the authors' ns-3 code of mmptcp: `ps_ns3` for long flows, `tcp_ns3` for short flows.

Short flows keep the threshold of scattered ones.
"""

from dataclasses import replace

from capsim.protocols.schemes import ps_ns3, tcp_ns3
from capsim.protocols.sharing.scattered import SCATTERED

SCHEME = replace(
    ps_ns3.SCHEME,
    name="ps_tcp_ns3",
    summary="PS_TCP as in the authors' ns-3 code",
    short=replace(tcp_ns3.STACK, sharing=SCATTERED),
)
