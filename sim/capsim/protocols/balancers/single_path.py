"""Single path: every packet takes the first equal-cost port. The smallest example of a balancer."""

from capsim.roles.components import Balancer


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return the first path."""
    return 0


SINGLE_PATH = Balancer(name="single_path", choose=choose, reads_queues=False)
