"""MPTCP_TCP of mmptcp: long flows by MPTCP with eight subflows, short flows by TCP on a hashed path."""

from dataclasses import replace

from capsim.protocols.schemes import ecmp, mptcp

SCHEME = replace(
    mptcp.SCHEME, name="mptcp_tcp", summary="long flows MPTCP, short flows TCP", short=ecmp.STACK, cite="mmptcp"
)
