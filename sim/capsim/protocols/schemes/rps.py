"""RPS: random packet spraying, with TCP unchanged above it (threshold 3), so that reordering costs what it costs."""

from dataclasses import replace

from capsim.protocols.balancers.spray import RPS
from capsim.protocols.schemes import ecmp

SCHEME = replace(ecmp.SCHEME, name="rps", summary="each packet takes a random path", balancer=RPS, cite="dixit2013")
