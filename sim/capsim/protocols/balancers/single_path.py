"""Single path: every packet takes the first equal-cost port. The smallest example of a balancer."""

from typing import Any

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
    """Return the first path."""
    return 0


SINGLE_PATH = Balancer(name="single_path", choose=choose, reads_queues=False)
