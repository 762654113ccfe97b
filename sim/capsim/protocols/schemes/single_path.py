"""Single path: all flows on the first of the equal-cost paths; what multipath is worth is the distance from here."""

from dataclasses import replace

from capsim.protocols.balancers.single_path import SINGLE_PATH
from capsim.protocols.schemes import ecmp

SCHEME = replace(
    ecmp.SCHEME, name="single_path", summary="all flows on one path (control)", balancer=SINGLE_PATH, cite="capsmodel"
)
