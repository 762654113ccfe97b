"""Labels (:mod:`capsim.base.labels`): a switch sends a packet where its label says; what has none goes by its hash."""

from typing import Any

from capsim.base.labels import next_digit
from capsim.protocols.balancers.ecmp import hashed
from capsim.records import NONE
from capsim.roles.components import Balancer


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
    """Return the path that the label names, else the hashed one."""
    if packet.label == NONE:
        return hashed(switch, packet, len(candidates))
    return next_digit(packet, len(candidates))


LABELLED = Balancer(name="labelled", choose=choose, reads_queues=False)
