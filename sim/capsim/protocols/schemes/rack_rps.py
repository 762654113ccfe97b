"""Random packet spraying with losses found by time: a late packet is not at once a lost one (RACK-TLP, RFC 8985)."""

from dataclasses import replace

from capsim.protocols.balancers.spray import RPS
from capsim.protocols.schemes import rack

SCHEME = replace(
    rack.SCHEME, name="rack_rps", summary="each packet takes a random path, losses found by time", balancer=RPS
)
