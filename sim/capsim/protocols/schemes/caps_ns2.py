"""CAPS_ns2: what the authors' public ns-2 code does, as far as it differs from their paper.

Units of 10 packets with 2 repair packets, the values that it ships with: its rule for r asks for r < k / 5 first, which
2 of 10 is not, so r never changes. A last unit of fewer than 10 gets none. A retransmission takes ceil(r / 2) copies
along. TCP is Tahoe, spraying takes the ports in turn, and instead of Algorithm 1 each long flow has a path of its own
from its first packet, in order of appearance.

Initial window, timers and a packet ahead of the data that measures the RTT are settings of their scripts, not of the
scheme: here they are those of the scenario, as for all schemes.
"""

from dataclasses import replace

from capsim.protocols.balancers.own_paths import OWN_PATHS
from capsim.protocols.congestion import tahoe as windows
from capsim.protocols.layers.params import UnitSize
from capsim.protocols.schemes import caps, ecmp
from capsim.protocols.transports.tahoe import TAHOE

LAYER = replace(
    caps.STACK.layer,
    params=replace(
        caps.STACK.layer.params,
        unit_size=UnitSize.FIXED,
        fixed_packets=10,
        max_overhead=0.0,
        min_repair=2,
        repair_partial=False,
        resend_copies=0.5,
    ),
)
LONG = replace(ecmp.STACK, transport=TAHOE, congestion=windows.TAHOE)
SCHEME = replace(
    caps.SCHEME,
    name="caps_ns2",
    summary="CAPS as in the authors' ns-2 code",
    short=replace(LONG, layer=LAYER),
    long=LONG,
    balancer=replace(OWN_PATHS, params=replace(OWN_PATHS.params, round_robin=True)),
)
