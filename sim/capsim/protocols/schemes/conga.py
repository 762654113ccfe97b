"""CONGA: flowlets take the path that leaves have measured as least loaded; NewReno at the hosts."""

from dataclasses import replace

from capsim.protocols.balancers.conga import CONGA
from capsim.protocols.schemes import ecmp

SCHEME = replace(
    ecmp.SCHEME, name="conga", summary="each flowlet takes the least loaded path", balancer=CONGA, cite="conga2014"
)
