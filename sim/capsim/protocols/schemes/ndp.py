"""NDP (Handley et al. 2017): hosts start at full rate, full ports send headers on, receivers pull what comes after.

Senders spray: each packet has another entropy, all in turn in an order that changes (htsim, ``ECMP_FIB``), and switches
hash it. Control packets leave hosts and switches first; while data wait, ten of them for each packet of data (NDP). A
host sends its flows in turn, as htsim's does. A host's own buffer must hold the first windows of its flows: no header
tells of what is lost there (``host_buffer_packets``).
"""

from dataclasses import replace

from capsim.protocols.congestion.none import NO_CONGESTION
from capsim.protocols.marking.entropy import ENTROPY, Policy
from capsim.protocols.nics.round_robin import ROUND_ROBIN
from capsim.protocols.queues.trim import TRIM_QUEUE
from capsim.protocols.schemes import ecmp
from capsim.protocols.transports.ndp import NDP

STACK = replace(
    ecmp.STACK,
    transport=NDP,
    congestion=NO_CONGESTION,
    marking=replace(ENTROPY, params=replace(ENTROPY.params, policy=Policy.OBLIVIOUS)),
)
SCHEME = replace(
    ecmp.SCHEME,
    name="ndp",
    summary="full rate at once, full ports send headers on, receivers pull",
    short=STACK,
    long=STACK,
    queue=replace(TRIM_QUEUE, params=replace(TRIM_QUEUE.params, headers_per_data=10)),
    nic=replace(ROUND_ROBIN, params=replace(ROUND_ROBIN.params, control_first=True)),
    cite="Handley et al. 2017",
)
