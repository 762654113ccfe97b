"""Packet scatter with the documented habits of its authors' ns-3 code (see `mptcp_ns3`): `tcp_ns3` on random paths."""

from dataclasses import replace

from capsim.protocols.schemes import ps
from capsim.protocols.transports.newreno_ns3 import NEWRENO_NS3

STACK = replace(ps.STACK, transport=NEWRENO_NS3)
SCHEME = replace(ps.SCHEME, name="ps_ns3", summary="PS as in the authors' ns-3 code", short=STACK, long=STACK)
