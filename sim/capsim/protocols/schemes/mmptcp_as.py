"""MMPTCP_AS of mmptcp: MMPTCP with Auto Subflow, 8, 4 and 1 subflows through the core, in the pod, in the rack."""

from dataclasses import replace

from capsim.protocols.schemes import mmptcp
from capsim.protocols.sharing.mmptcp import MMPTCP, MmptcpParams

AUTO_SUBFLOW = replace(MMPTCP, params=MmptcpParams(joins=8, joins_in_pod=4, joins_in_rack=1))
STACK = replace(mmptcp.STACK, sharing=AUTO_SUBFLOW)
SCHEME = replace(mmptcp.SCHEME, name="mmptcp_as", summary="MMPTCP, subflows by distance", short=STACK, long=STACK)
