"""MMPTCP: packet scatter for the first 100 kB, then MPTCP over eight subflows with linked increases.

Limited transmit is off, as in the paper; ``mmptcp_lt`` has it, ``mmptcp_as`` the number of subflows by distance.
"""

from dataclasses import replace

from capsim.protocols.congestion.lia import LIA
from capsim.protocols.schemes import ps
from capsim.protocols.sharing.mmptcp import MMPTCP

STACK = replace(ps.STACK, congestion=LIA, sharing=MMPTCP)
SCHEME = replace(ps.SCHEME, name="mmptcp", summary="scattered first, then 8 subflows", short=STACK, long=STACK)
