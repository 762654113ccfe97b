"""PS_TCP as in the authors' ns-3 code of mmptcp: short flows by TCP keep the threshold of scattered ones."""

from dataclasses import replace

from capsim.protocols.schemes import ps_tcp
from capsim.protocols.sharing.scattered import SCATTERED

SCHEME = replace(
    ps_tcp.SCHEME,
    name="ps_tcp_ns3",
    summary="PS_TCP, short flows with the threshold of PS",
    short=replace(ps_tcp.SHORT, sharing=SCATTERED),
)
