"""DRILL: packets take the shortest of two sampled queues and of the one remembered; NewReno at the hosts."""

from dataclasses import replace

from capsim.protocols.balancers.drill import DRILL
from capsim.protocols.schemes import ecmp

SCHEME = replace(
    ecmp.SCHEME, name="drill", summary="each packet to the shortest of sampled queues", balancer=DRILL, cite="drill2017"
)
