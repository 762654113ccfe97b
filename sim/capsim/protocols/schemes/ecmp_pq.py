"""ECMP_pq: ecmp with two strict-priority classes at every port, short flows above long ones (CAPS, section IX)."""

from dataclasses import replace

from capsim.protocols.queues.priority import PRIORITY
from capsim.protocols.schemes import ecmp

SCHEME = replace(
    ecmp.SCHEME,
    name="ecmp_pq",
    summary="ECMP, short first, long pushed out",
    long=replace(ecmp.STACK, priority=1),
    queue=PRIORITY,
    cite="caps",
)
