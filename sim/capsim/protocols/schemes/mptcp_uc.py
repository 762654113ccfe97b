"""MPTCP without coupling (UC of MMPTCP's Table 8): each of eight subflows is a TCP of its own."""

from dataclasses import replace

from capsim.protocols.congestion.reno import RENO
from capsim.protocols.schemes import mptcp

STACK = replace(mptcp.STACK, congestion=RENO)
SCHEME = replace(
    mptcp.SCHEME, name="mptcp_uc", summary="8 subflows, a TCP each", short=STACK, long=STACK, cite="mmptcp"
)
