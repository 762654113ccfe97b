"""MMPTCP_LT of mmptcp: MMPTCP with limited transmit, a new segment for each duplicate below the threshold."""

from dataclasses import replace

from capsim.protocols.schemes import mmptcp
from capsim.protocols.transports.newreno import NEWRENO

STACK = replace(mmptcp.STACK, transport=NEWRENO)
SCHEME = replace(mmptcp.SCHEME, name="mmptcp_lt", summary="MMPTCP with limited transmit", short=STACK, long=STACK)
