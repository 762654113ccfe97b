"""MMPTCP with the documented habits of its authors' ns-3 code (see `mptcp_ns3`): seven subflows after the first."""

from dataclasses import replace

from capsim.protocols.schemes import mmptcp
from capsim.protocols.sharing.ns3 import MMPTCP_NS3
from capsim.protocols.transports.newreno_ns3 import NEWRENO_NS3

STACK = replace(mmptcp.STACK, transport=NEWRENO_NS3, sharing=MMPTCP_NS3)
SCHEME = replace(
    mmptcp.SCHEME, name="mmptcp_ns3", summary="MMPTCP as in the authors' ns-3 code", short=STACK, long=STACK
)
