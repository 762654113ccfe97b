"""CAPS_dark: CAPS without knowledge of sizes (VII). Each flow is coded until it has sent 100 KB (69 segments).

The switch counts too: a flow is long when 100 KB of its packets have come, headers and repair packets included.
"""

from dataclasses import replace

from capsim.protocols.balancers.caps import LongFrom
from capsim.protocols.schemes import caps

BALANCER = replace(caps.SCHEME.balancer, params=replace(caps.SCHEME.balancer.params, long_from=LongFrom.THRESHOLD))
CODING = replace(caps.SCHEME.coding, coded="all", params=replace(caps.SCHEME.coding.params, coded_packets=69))
SCHEME = replace(
    caps.SCHEME,
    name="caps_dark",
    summary="CAPS that learns sizes as flows go on",
    balancer=BALANCER,
    coding=CODING,
    known_sizes=False,
)
