"""MMPTCP_UC of mmptcp (Table 8): each subflow of the second phase is a TCP of its own."""

from dataclasses import replace

from capsim.protocols.congestion.reno import RENO
from capsim.protocols.schemes import mmptcp

STACK = replace(mmptcp.STACK, congestion=RENO)
SCHEME = replace(mmptcp.SCHEME, name="mmptcp_uc", summary="MMPTCP, subflows not coupled", short=STACK, long=STACK)
