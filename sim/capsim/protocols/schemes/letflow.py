"""LetFlow: flowlets take random paths; NewReno at the hosts."""

from dataclasses import replace

from capsim.protocols.balancers.letflow import LETFLOW
from capsim.protocols.schemes import ecmp

SCHEME = replace(
    ecmp.SCHEME, name="letflow", summary="each flowlet takes a random path", balancer=LETFLOW, cite="letflow2017"
)
