"""A block code with repetition as fallback over random packet spraying, as reliable RDMA layers have it.

Behind the 32 packets of a block leave 8 repair packets; any 32 of the 40 decode it. A block that is not decoded 25 us
after its last packet is left to the transport: its acknowledgements report what has come, and RACK repeats the rest.
SDR-RDMA (Khalilov et al. 2025) compares such a code with selective repetition over long links. Its (32, 8) is what
``fixed_packets`` and ``min_repair`` say here, with ``max_overhead`` 0 for neither more nor less; with ``min_repair`` 0
too, repetition is left. The 25 us are ``request_s``: a quarter of a round trip of 100 us, as the reordering window of
RACK (RFC 8985, section 6.2).

The window is that of TCP: the source packets fill it, and a block that the transport has to repair halves it. Repair
packets are not part of it. A packet that is acknowledged before its block is full leaves the block, so that small
windows cost fewer repair packets. What is missing is repeated whole, not only as much as the code lacks.
"""

from dataclasses import replace

from capsim.protocols.layers.caps import CAPS_LAYER
from capsim.protocols.layers.params import Acknowledged, UnitSize
from capsim.protocols.schemes import rack_rps

CODING = replace(
    CAPS_LAYER.params,
    ack=Acknowledged.DECODED,
    unit_size=UnitSize.FIXED,
    fixed_packets=32,
    min_repair=8,
    max_overhead=0.0,
    request_s=25e-6,
)
STACK = replace(rack_rps.SCHEME.short, layer=replace(CAPS_LAYER, params=CODING))
SCHEME = replace(
    rack_rps.SCHEME,
    name="ec_rack",
    summary="sprayed blocks of 32 with 8 repair packets, then repeats",
    short=STACK,
    long=STACK,
    cite="arXiv:2505.05366, RFC 8985",
)
