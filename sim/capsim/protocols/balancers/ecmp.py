"""ECMP (equal-cost multipath): a hash of addresses and port numbers, and of the switch, picks one port for a flow.

The switch adds a number of its own to the hash (salt). Without it, all tiers would divide the flows in the same way and
part of the paths would carry nothing. Acknowledgements have a hash of their own (reversed tuple).
"""

from typing import Any

from capsim.hooks import inlined
from capsim.randomness import mix
from capsim.roles import Balancer


@inlined
def hashed(switch: Any, packet: Any, n_paths: int) -> int:
    """Return the path index of the packet's flow at this switch."""
    return mix(packet.hash ^ switch.salt) % n_paths


def choose(
    params: Any,
    own: Any,
    switch: Any,
    sub: Any,
    packet: Any,
    ports: Any,
    candidates: Any,
    now_ps: int,
    u0: float,
) -> int:
    """Return the path that the hash names."""
    return hashed(switch, packet, len(candidates))


ECMP = Balancer(name="ecmp", choose=choose, reads_queues=False)
