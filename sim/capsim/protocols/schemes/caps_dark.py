"""CAPS_dark: CAPS without knowledge of sizes (VII). Each flow is coded until it has sent 100 KB (69 segments).

The switch counts too: a flow is long when 100 KB of its packets have come, headers and repair packets included.
"""

from dataclasses import replace

from capsim.protocols.balancers.caps import LongFrom
from capsim.protocols.schemes import caps

BALANCER = replace(caps.SCHEME.balancer, params=replace(caps.SCHEME.balancer.params, long_from=LongFrom.THRESHOLD))
LAYER = replace(caps.STACK.layer, params=replace(caps.STACK.layer.params, coded_packets=69))
STACK = replace(caps.STACK, layer=LAYER)
SCHEME = replace(
    caps.SCHEME,
    name="caps_dark",
    summary="CAPS, sizes learned as flows go on",
    short=STACK,
    long=STACK,
    balancer=BALANCER,
    known_sizes=False,
)
