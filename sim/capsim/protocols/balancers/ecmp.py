"""ECMP: a hash of the addresses and port numbers, salted by the switch, picks one port for the life of a flow.

Without the salt, all tiers would cut the flows in the same way and part of the paths would stay empty. The
acknowledgements hash independently (reversed tuple).
"""

from typing import Any

from capsim.hooks import Balancer, inlined
from capsim.randomness import mix


@inlined
def hashed(switch: Any, packet: Any, n_paths: int) -> int:
    """Return the path index of the packet's flow at this switch."""
    return mix(packet.hash ^ switch.salt) % n_paths


def choose(
    params: Any,
    state: Any,
    switch: Any,
    conn: Any,
    packet: Any,
    ports: Any,
    candidates: Any,
    now_ps: int,
    u0: float,
) -> int:
    """Return the path that the hash names."""
    return hashed(switch, packet, len(candidates))


ECMP = Balancer(name="ecmp", choose=choose, reads_queues=False)
