"""MMPTCP_FC of mmptcp (Table 8): the subflows of the second phase are fully coupled."""

from dataclasses import replace

from capsim.protocols.congestion.fully_coupled import FULLY_COUPLED
from capsim.protocols.schemes import mmptcp

STACK = replace(mmptcp.STACK, congestion=FULLY_COUPLED)
SCHEME = replace(mmptcp.SCHEME, name="mmptcp_fc", summary="MMPTCP, fully coupled windows", short=STACK, long=STACK)
