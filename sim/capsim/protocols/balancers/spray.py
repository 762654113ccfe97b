"""Random packet spraying (Dixit et al. 2013): each packet takes an equal-cost port drawn uniformly, at every switch."""

from dataclasses import dataclass
from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.balancers.ecmp import hashed
from capsim.records import ACK
from capsim.roles.components import Balancer


@dataclass(frozen=True, kw_only=True)
class SprayParams:
    """Parameters of spraying.

    Parameters
    ----------
    round_robin : bool
        Ports in turn, one counter per switch, in place of a random draw (as the authors of CAPS did in ns-2).
    spray_acks : bool
        Whether acknowledgements are sprayed too; if not, they take the path of their hash.
    """

    round_robin: bool = False
    spray_acks: bool = True


@dataclass(frozen=True, kw_only=True)
class RpsParams(SprayParams):
    """Parameters of spraying at switches.

    Parameters
    ----------
    leaf_only : bool
        Whether only the first tier sprays, and the others hash by flow. Dixit et al. let every switch spray.
    """

    leaf_only: bool = False


@inlined
def sprayed(params: Any, state: Any, n_paths: int, u0: float) -> int:
    """Return the path of the next sprayed packet."""
    if params.round_robin:
        state.turn += 1
        return int(state.turn % n_paths)
    return int(u0 * n_paths)


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return a path at random, or the next in turn."""
    if (packet.kind == ACK and not params.spray_acks) or (params.leaf_only and switch.tier > 0):
        return hashed(switch, packet, len(candidates))
    return sprayed(params, own.switch, len(candidates), u0)


RPS = Balancer(
    name="rps",
    choose=choose,
    params=RpsParams(),
    memory={"switch": (("turn", "i8"),)},
    draws=True,
    reads_queues=False,
)
