"""ECMP: one hashed path per flow, NewReno over DropTail. What every other scheme is compared with."""

from capsim.protocols.balancers.ecmp import ECMP
from capsim.protocols.congestion.reno import RENO
from capsim.protocols.layers.none import NO_LAYER
from capsim.protocols.marking.five_tuple import FIVE_TUPLE
from capsim.protocols.queues.droptail import DROPTAIL
from capsim.protocols.sharing.single import SINGLE
from capsim.protocols.transports.newreno import NEWRENO
from capsim.roles.components import Scheme, Stack

STACK = Stack(transport=NEWRENO, congestion=RENO, sharing=SINGLE, layer=NO_LAYER, marking=FIVE_TUPLE)
SCHEME = Scheme(
    name="ecmp",
    summary="one hashed path per flow",
    short=STACK,
    long=STACK,
    balancer=ECMP,
    queue=DROPTAIL,
    cite="RFC 2992",
)
