"""MPTCP fully coupled (FC of MMPTCP's Table 8): the windows of eight subflows grow and shrink as one."""

from dataclasses import replace

from capsim.protocols.congestion.fully_coupled import FULLY_COUPLED
from capsim.protocols.schemes import mptcp

STACK = replace(mptcp.STACK, congestion=FULLY_COUPLED)
SCHEME = replace(
    mptcp.SCHEME,
    name="mptcp_fc",
    summary="8 subflows, fully coupled windows",
    short=STACK,
    long=STACK,
    cite="mmptcp",
)
