"""Freeway, reconstructed: paths of their own for short and for long flows, divided by load; NewReno at the hosts."""

from dataclasses import replace

from capsim.protocols.balancers.freeway import FREEWAY
from capsim.protocols.schemes import ecmp

SCHEME = replace(
    ecmp.SCHEME,
    name="freeway",
    summary="short, long flows on their own paths",
    reconstructed=True,
    balancer=FREEWAY,
    cite="freeway2014",
)
