"""MPTCP with the documented habits of the ns-3 code of MMPTCP's authors, which `mptcp` does not have.

First RTO 1.5 s, windows of 65,535 bytes per subflow, SYNs of further subflows sent once, round robin that waits for
them, no acknowledgement of the stream, a receiver that refuses what it has buffered. Each is a parameter.
"""

from dataclasses import replace

from capsim.protocols.schemes import mptcp
from capsim.protocols.sharing.ns3 import MPTCP_NS3
from capsim.protocols.transports.newreno_ns3 import NEWRENO_NS3

STACK = replace(mptcp.STACK, transport=NEWRENO_NS3, sharing=MPTCP_NS3)
SCHEME = replace(
    mptcp.SCHEME, name="mptcp_ns3", summary="MPTCP as in the authors' ns-3 code", short=STACK, long=STACK, cite="mmptcp"
)
