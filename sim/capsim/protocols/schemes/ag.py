"""AG, reconstructed: trains of packets that are longer where paths differ more; NewReno at the hosts."""

from dataclasses import replace

from capsim.protocols.balancers.granularity import GRANULARITY
from capsim.protocols.schemes import ecmp

SCHEME = replace(
    ecmp.SCHEME,
    name="ag",
    summary="trains, longer on unequal paths",
    reconstructed=True,
    balancer=GRANULARITY,
    cite="ag2019",
)
