"""pFabric (Alizadeh et al. 2013): the packet of the flow with the least left goes first, and hosts start at full rate.

Packets are sprayed in turn at each switch, as in the paper's ns-2 code. The numbers of the paper belong to 10 Gbit/s
and 14.6 us; at another rate the window is the bandwidth-delay product, the buffers are twice as large and the timer is
three round trips: ``transport = {initial_window_packets, most_window_packets, rto_s}``, ``queue = {buffer_bytes}``.
"""

from dataclasses import replace

from capsim.protocols.balancers.spray import RPS
from capsim.protocols.congestion.tahoe import TAHOE
from capsim.protocols.queues import pfabric as queues
from capsim.protocols.schemes import ecmp
from capsim.protocols.transports.pfabric import PFABRIC

STACK = replace(ecmp.STACK, transport=PFABRIC, congestion=TAHOE)
SCHEME = replace(
    ecmp.SCHEME,
    name="pfabric",
    summary="the flow with the least left goes first",
    short=STACK,
    long=STACK,
    balancer=replace(RPS, params=replace(RPS.params, round_robin=True)),
    queue=queues.PFABRIC,
    cite="alizadeh2013",
)
