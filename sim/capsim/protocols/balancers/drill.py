"""DRILL (Ghorbani et al. 2017): each packet takes the shortest of d sampled queues and of the best one remembered."""

from dataclasses import dataclass
from typing import Any

from capsim.hooks import inlined
from capsim.roles import Balancer


@dataclass(frozen=True, kw_only=True)
class DrillParams:
    """Parameters of DRILL(d, m) with m = 1.

    Parameters
    ----------
    second_sample : bool
        Whether two queues are sampled, d = 2 (the paper's choice), or one, d = 1.
    """

    second_sample: bool = True


@inlined
def shorter(ports: Any, candidates: Any, one: int, other: int) -> int:
    """Return the candidate with fewer bytes in its queue; of equals the first named."""
    return other if ports[candidates[other]].queue_bytes < ports[candidates[one]].queue_bytes else one


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
    """Return the shortest of the sampled queues and of the one remembered for this destination leaf."""
    count = len(candidates)
    sample = int(u0 * count * count)  # one uniform number gives two independent samples
    best = sample % count
    if params.second_sample:
        best = shorter(ports, candidates, best, sample // count)
    if own.towards.last < count:
        best = shorter(ports, candidates, best, own.towards.last)
    own.towards.last = best
    return int(best)


DRILL = Balancer(name="drill", choose=choose, params=DrillParams(), memory={"towards": (("last", "i8"),)}, draws=True)
