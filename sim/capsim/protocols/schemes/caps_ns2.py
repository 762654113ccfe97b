"""CAPS_ns2: CAPS with the choices of its authors' public ns-2 code where it differs from the paper.

Spraying in turn, a systematic code, units of 10, r rounded down and at most 20%, an RTT large from 200 us on and above
twice the mean of all, p_B over all acknowledgements. Not modelled: Tahoe (NewReno here), long flows that keep one path
each in order of appearance (Algorithm 1 here), r that stays at its limit once there (10 + 2 by default), copies of
retransmissions, and a receiver that takes any arrival for the next source packet.
"""

from dataclasses import replace

from capsim.protocols.coding.block import UnitSize
from capsim.protocols.coding.blocking import Rounding, Threshold
from capsim.protocols.schemes import caps

BALANCER = replace(caps.SCHEME.balancer, params=replace(caps.SCHEME.balancer.params, round_robin=True))
CODING = replace(
    caps.SCHEME.coding,
    params=replace(
        caps.SCHEME.coding.params,
        unit_size=UnitSize.FIXED,
        fixed_packets=10,
        max_overhead=0.2,
        rounding=Rounding.FLOOR,
        systematic=True,
        sampling_s=0.0,
        large_rtt_floor_s=200e-6,
        threshold=Threshold.AVERAGE,
    ),
)
SCHEME = replace(
    caps.SCHEME,
    name="caps_ns2",
    summary="CAPS with the choices of its authors' ns-2 code",
    balancer=BALANCER,
    coding=CODING,
)
