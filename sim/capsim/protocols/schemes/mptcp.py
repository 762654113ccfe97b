"""MPTCP: eight subflows on hashed paths, linked increases (RFC 6356)."""

from dataclasses import replace

from capsim.protocols.congestion.lia import LIA
from capsim.protocols.schemes import ecmp
from capsim.protocols.sharing.mptcp import MPTCP

STACK = replace(ecmp.STACK, congestion=LIA, sharing=MPTCP)
SCHEME = replace(
    ecmp.SCHEME, name="mptcp", summary="eight subflows, linked increases", short=STACK, long=STACK, cite="RFC 6356"
)
