"""DCTCP over ECMP with an ECN threshold at every port of a switch."""

from dataclasses import replace

from capsim.protocols.congestion.dctcp import DCTCP
from capsim.protocols.queues.ecn import ECN
from capsim.protocols.schemes import ecmp

NEWRENO = ecmp.STACK.transport
STACK = replace(ecmp.STACK, transport=replace(NEWRENO, params=replace(NEWRENO.params, ecn=True)), congestion=DCTCP)
SCHEME = replace(
    ecmp.SCHEME,
    name="dctcp",
    summary="ECMP, window cut by the marked fraction",
    short=STACK,
    long=STACK,
    queue=ECN,
    cite="RFC 8257",
)
