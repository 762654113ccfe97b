"""A transport like Ultra Ethernet's: selective ACKs, NACKs of trimmed packets, entropies, windows by delays and marks.

The transport, NSCC and the entropies are those of its public simulator (uet-htsim); what is left out of these their
modules say. Switches trim, and mark what leaves above a fifth of the bandwidth-delay product. The numbers are for a
leaf-spine with links of 1 Gbit/s and 12.5 us; a profile sets those of other rates.
"""

from dataclasses import replace

from capsim.protocols.congestion.nscc import NSCC
from capsim.protocols.marking.entropy import ENTROPY, Policy
from capsim.protocols.nics.round_robin import ROUND_ROBIN
from capsim.protocols.queues.trim import TRIM_QUEUE
from capsim.protocols.schemes import ecmp
from capsim.protocols.transports.uet import UET

BDP, LOW, HIGH = (packets * 1500 for packets in (12, 3, 10))  # 0.2 and 0.8 of the product, rounded up
STACK = replace(
    ecmp.STACK,
    transport=UET,
    congestion=NSCC,
    marking=replace(ENTROPY, params=replace(ENTROPY.params, policy=Policy.MIXED)),
)
SCHEME = replace(
    ecmp.SCHEME,
    name="uet",
    summary="learned paths, windows by delays and marks, trimming, NACKs",
    short=STACK,
    long=STACK,
    queue=replace(
        TRIM_QUEUE,
        params=replace(TRIM_QUEUE.params, limit_bytes=BDP, mark_low_bytes=LOW, mark_high_bytes=HIGH),
    ),
    nic=replace(ROUND_ROBIN, params=replace(ROUND_ROBIN.params, control_first=True)),
    cite="Ultra Ethernet 1.0 (2025)",
)
