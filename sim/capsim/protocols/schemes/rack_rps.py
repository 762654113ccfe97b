"""Random packet spraying with losses found by time: a late packet is not at once a lost one (RACK-TLP, RFC 8985).

Its reordering window is a quarter of the *shortest* round trip, less than one full queue, so that packets which a queue
delays count as lost, and the window is halved for nothing: flows of 2 MB of a permutation of 128 hosts at 100 Gbps
without a loss take 309 us (four seeds), 223 us with NewReno and a threshold of 300 duplicates, and 474 us with one of
three. RFC 8985 has no better rule; Linux undoes the halving when D-SACK (RFC 3708) or time stamps (RFC 3522) show it
to be in vain, which is not modelled.
"""

from dataclasses import replace

from capsim.protocols.balancers.spray import RPS
from capsim.protocols.schemes import rack

SCHEME = replace(
    rack.SCHEME, name="rack_rps", summary="each packet takes a random path, losses found by time", balancer=RPS
)
