"""CDCPS: all packets of all flows are coded and sprayed; a large RTT is one above the average of all.

Hosts do what ``caps_decode`` does for short flows: k packets wait for each other, k + r coded ones leave, and TCP gets
a unit when it is decoded, in order (cdcps IV). What the paper leaves open is a parameter of the layer, and its default
is that of CAPS, which the code is taken from: no more than k repair packets, sampling periods of 200 us, p_B = 1/6
before the first. Units have 8 packets, the only number in the paper (its numeric example).
"""

from dataclasses import replace

from capsim.protocols.balancers.spray import RPS
from capsim.protocols.layers.blocking import Threshold
from capsim.protocols.layers.params import UnitSize
from capsim.protocols.schemes import caps_decode, ecmp

CODING = replace(
    caps_decode.LAYER.params, unit_size=UnitSize.FIXED, fixed_packets=8, rtt_factor=1.0, threshold=Threshold.AVERAGE
)
STACK = replace(ecmp.STACK, layer=replace(caps_decode.LAYER, params=CODING))
SCHEME = replace(
    ecmp.SCHEME,
    name="cdcps",
    summary="all flows coded and sprayed",
    short=STACK,
    long=STACK,
    balancer=RPS,
    cite="cdcps",
)
