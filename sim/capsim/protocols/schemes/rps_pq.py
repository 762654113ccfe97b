"""RPS_pq: rps with two strict-priority classes at every port, short flows above long ones (CAPS, section IX)."""

from dataclasses import replace

from capsim.protocols.queues.priority import PRIORITY
from capsim.protocols.schemes import ecmp, rps

SCHEME = replace(
    rps.SCHEME,
    name="rps_pq",
    summary="RPS, short first, long pushed out",
    long=replace(ecmp.STACK, priority=1),
    queue=PRIORITY,
    cite="caps",
)
