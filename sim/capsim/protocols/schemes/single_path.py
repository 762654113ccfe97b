"""Single path: all flows on the first of the equal-cost paths. A comparison with it shows what multipath gains."""

from dataclasses import replace

from capsim.protocols.balancers.single_path import SINGLE_PATH
from capsim.protocols.schemes import ecmp

SCHEME = replace(
    ecmp.SCHEME, name="single_path", summary="all flows on one path (control)", balancer=SINGLE_PATH, cite="capsmodel"
)
