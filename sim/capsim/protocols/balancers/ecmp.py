"""ECMP (equal-cost multipath): a hash of addresses and port numbers, and of the switch, picks one port for a flow.

The switch adds a number of its own to the hash (salt). Without it, all tiers would divide the flows in the same way and
part of the paths would carry nothing. Acknowledgements have a hash of their own (reversed tuple).
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from capsim.base.inlined import inlined
from capsim.base.randomness import mix
from capsim.roles.components import Balancer


class Split(IntEnum):
    """How hashes are divided among ports: by their remainder, or in regions of equal size (hash-threshold)."""

    MODULO = 0
    REGIONS = 1


@dataclass(frozen=True, kw_only=True)
class EcmpParams:
    """Parameters of ECMP.

    Parameters
    ----------
    split : Split
        ``"regions"`` is the method of RFC 2992, section 2; ``"modulo"`` the modulo-N of its comparison (section 3),
        which most simulators have. Both give each port the same share of the flows. When one of N ports fails, regions
        move a quarter to a half of the flows to another port, and modulo N all but 1/N of them.
    """

    split: Split = Split.MODULO


@inlined
def hashed(switch: Any, packet: Any, n_paths: int) -> int:
    """Return the path index of the packet's flow at this switch."""
    return mix(packet.hash ^ switch.salt) % n_paths


@inlined
def region(switch: Any, packet: Any, n_paths: int) -> int:
    """Return it by regions: the hash has 32 bits."""
    return (mix(packet.hash ^ switch.salt) * n_paths) >> 32


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return the path that the hash names."""
    if params.split == Split.REGIONS:
        return region(switch, packet, len(candidates))
    return hashed(switch, packet, len(candidates))


ECMP = Balancer(name="ecmp", choose=choose, params=EcmpParams(), reads_queues=False)
