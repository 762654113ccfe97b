"""MPTCP with OLIA: eight subflows, opportunistic linked increases.

Perfect clocks and drop-tail queues distort any comparison of couplings: the acknowledgements of a flow keep step with
the queue, only a flow that grows meets it full, and the slower it grows the more it keeps. OLIA then seems hardly
better than no coupling, and LIA unfair. Compare couplings with a jitter of hosts, or with random losses.
"""

from dataclasses import replace

from capsim.protocols.congestion.olia import OLIA
from capsim.protocols.schemes import mptcp

STACK = replace(mptcp.STACK, congestion=OLIA)
SCHEME = replace(
    mptcp.SCHEME,
    name="mptcp_olia",
    summary="eight subflows, opportunistic linked increases",
    short=STACK,
    long=STACK,
    cite="draft-khalili-mptcp-congestion-control",
)
