"""IETF-MPTCP of dc2mtcp: linked increases, the subflow with the least round trip, reinjection after a timeout."""

from dataclasses import replace

from capsim.protocols.schemes import mptcp
from capsim.protocols.sharing.ietf_mptcp import IETF_MPTCP

STACK = replace(mptcp.STACK, sharing=IETF_MPTCP)
SCHEME = replace(
    mptcp.SCHEME,
    name="ietf_mptcp",
    summary="MPTCP, resends elsewhere at timeout",
    short=STACK,
    long=STACK,
    cite="dc2mtcp",
)
