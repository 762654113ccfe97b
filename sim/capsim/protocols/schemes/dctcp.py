"""DCTCP over ECMP with an ECN threshold at every port."""

from dataclasses import replace

from capsim.protocols.queues.ecn import ECN
from capsim.protocols.schemes import ecmp
from capsim.protocols.transports.dctcp import DCTCP

SCHEME = replace(
    ecmp.SCHEME,
    name="dctcp",
    summary="ECMP, window cut by the marked fraction",
    transport=DCTCP,
    queue=ECN,
    cite="RFC 8257",
)
