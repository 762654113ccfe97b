"""DC2-MTCP: IETF-MPTCP, whose subflows repair each other's losses by a few coded packets.

What lies below is that of `ietf_mptcp`, eight subflows included; the paper runs two and four.
"""

from dataclasses import replace

from capsim.protocols.layers.dc2 import DC2
from capsim.protocols.schemes import ietf_mptcp

STACK = replace(ietf_mptcp.STACK, layer=DC2)
SCHEME = replace(ietf_mptcp.SCHEME, name="dc2mtcp", summary="MPTCP, a few packets coded", short=STACK, long=STACK)
