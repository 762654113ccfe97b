"""ECMP: one hashed path per flow, NewReno over DropTail. What every other scheme is compared with."""

from capsim.hooks import Scheme
from capsim.protocols.balancers.ecmp import ECMP
from capsim.protocols.coding.none import NO_CODING
from capsim.protocols.queues.droptail import DROPTAIL
from capsim.protocols.replication import NO_REPLICATION
from capsim.protocols.transports.newreno import NEWRENO

SCHEME = Scheme(
    name="ecmp",
    summary="one hashed path per flow",
    transport=NEWRENO,
    balancer=ECMP,
    coding=NO_CODING,
    queue=DROPTAIL,
    replication=NO_REPLICATION,
    cite="RFC 2992",
)
