"""Each long flow on a path of its own, short flows sprayed: what the authors of CAPS do in ns-2, not Algorithm 1.

Long flows get paths in the order in which their first packets come to their first switch, and begin again with the
first path when all are taken. There is no mode and no hash, so no two meet before that. Their acknowledgements take the
path of the same number.
"""

from dataclasses import dataclass
from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.balancers.ecmp import hashed
from capsim.protocols.balancers.spray import SprayParams, sprayed
from capsim.records import ACK, SYN_ACK
from capsim.roles.components import Balancer


@dataclass(frozen=True, kw_only=True)
class OwnPathsParams(SprayParams):
    """Parameters of spraying; acknowledgements of a long flow keep to its path in any case."""

    @property
    def needs_sizes(self) -> bool:
        """Whether sizes of flows must be known."""
        return True


@inlined
def own_path(state: Any, taken: Any, switch: Any, n_paths: int) -> int:
    """Return the path of a long flow; in a fabric of more tiers the flows of one lower path take all the upper ones."""
    if taken.place == 0:
        state.long_flows += 1
        taken.place = state.long_flows
        taken.n_paths = n_paths
    order = taken.place - 1
    if switch.tier > 0:
        order //= taken.n_paths
    return int(order % n_paths)


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return the flow's own path if it is long, else a sprayed one."""
    if sub.short == 0:
        return own_path(own.switch, own.subflow, switch, len(candidates))
    if packet.kind in (ACK, SYN_ACK) and not params.spray_acks:
        return hashed(switch, packet, len(candidates))
    return sprayed(params, own.switch, len(candidates), u0)


OWN_PATHS = Balancer(
    name="own_paths",
    choose=choose,
    params=OwnPathsParams(),
    memory={
        "switch": (("turn", "i8"), ("long_flows", "i8")),
        "subflow": (("place", "i8"), ("n_paths", "i8")),  # `place` from 1, in the order of first packets
    },
    draws=True,
    reads_queues=False,
)
