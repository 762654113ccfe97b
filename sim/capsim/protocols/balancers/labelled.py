"""Labels (:mod:`capsim.base.labels`): a switch sends a packet where its label says; what has none goes by its hash."""

from capsim.base.labels import next_digit
from capsim.protocols.balancers.ecmp import hashed
from capsim.records import NONE
from capsim.roles.components import Balancer


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return the path that the label names, else the hashed one."""
    if packet.label == NONE:
        return hashed(switch, packet, len(candidates))
    return next_digit(packet, len(candidates))


LABELLED = Balancer(name="labelled", choose=choose, reads_queues=False)
