"""CAPS: short flows are coded and sprayed; long flows hash while short flows are about and spray otherwise."""

from dataclasses import replace

from capsim.protocols.balancers.caps import CAPS
from capsim.protocols.coding.block import BLOCK
from capsim.protocols.schemes import ecmp

SCHEME = replace(
    ecmp.SCHEME,
    name="caps",
    summary="coded and sprayed short flows, adaptive long flows",
    balancer=CAPS,
    coding=BLOCK,
    cite="caps",
)
