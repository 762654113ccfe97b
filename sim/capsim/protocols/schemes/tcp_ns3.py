"""TCP with the documented habits of the ns-3 code of MMPTCP's authors: one hashed path per flow (see `mptcp_ns3`)."""

from dataclasses import replace

from capsim.protocols.schemes import ecmp
from capsim.protocols.transports.newreno_ns3 import NEWRENO_NS3

STACK = replace(ecmp.STACK, transport=NEWRENO_NS3)
SCHEME = replace(
    ecmp.SCHEME,
    name="tcp_ns3",
    summary="TCP as in the authors' ns-3 code",
    short=STACK,
    long=STACK,
    cite="mmptcp",
)
