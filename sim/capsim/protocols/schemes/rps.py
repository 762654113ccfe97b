"""RPS: random packet spraying, with an unchanged TCP (threshold 3), which takes reordering for loss."""

from dataclasses import replace

from capsim.protocols.balancers.spray import RPS
from capsim.protocols.schemes import ecmp

SCHEME = replace(ecmp.SCHEME, name="rps", summary="each packet takes a random path", balancer=RPS, cite="dixit2013")
