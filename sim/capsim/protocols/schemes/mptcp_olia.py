"""MPTCP with OLIA: eight subflows, opportunistic linked increases."""

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
