"""DRILL(d, m) (Ghorbani et al. 2017): a packet takes the shortest of d queues drawn and of m queues remembered.

The remembered ones are the m shortest of those that were compared for the packet before. They are kept for each set of
ports that a switch chooses from, whatever the destination behind it.

======================= ====== ===============================
Quantity                Symbol Name
======================= ====== ===============================
queues drawn            d      ``samples``
queues remembered       m      ``memories``, ``own.set.queue``
======================= ====== ===============================
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.base.randomness import MASK, mix
from capsim.records import NONE
from capsim.roles.components import Balancer

MOST = int(bounds.SAMPLES.largest)
HASHES = float(MASK + 1)  # how many there are
QUEUES = (("queue", f"({MOST},)i4", NONE), ("drawn", f"({MOST},)i4"))


class MemoryPer(IntEnum):
    """What a switch remembers queues for: each set of candidates, each leaf of destination, or all packets."""

    SET = 0
    LEAF = 1
    SWITCH = 2


@dataclass(frozen=True, kw_only=True)
class DrillParams:
    """Parameters of DRILL.

    Parameters
    ----------
    samples : int
        d: queues that are drawn for a packet; the publication recommends DRILL(2, 1).
    memories : int
        m: the least loaded queues that are remembered from packet to packet.
    distinct : bool
        Whether the d queues are different ones. The publication says "d random" ones; public code draws different ones.
    memory_per : MemoryPer
        ``"set"`` as published. ``"leaf"`` is what public code does (it has one memory for each destination). The paper
        of CDCPS has DRILL compare "the port used last": ``"switch"``, whatever the ports were chosen from.
    """

    samples: Annotated[int, bounds.SAMPLES] = 2
    memories: Annotated[int, bounds.MEMORIES] = 1
    distinct: bool = True
    memory_per: MemoryPer = MemoryPer.SET


@inlined
def enter(kept: Any, size: int, path: int, ports: Any, candidates: Any) -> None:
    """Enter a candidate into the `size` shortest, behind those with as many bytes; the last one falls out."""
    queue_bytes = ports[candidates[path]].queue_bytes
    for place in range(size):
        if kept.queue[place] == path:
            return
    place = size
    while place > 0:
        before = kept.queue[place - 1]
        if before != NONE and ports[candidates[before]].queue_bytes <= queue_bytes:
            break
        if place < size:
            kept.queue[place] = before
        place -= 1
    if place < size:
        kept.queue[place] = path


@inlined
def renew(kept: Any, size: int, ports: Any, candidates: Any) -> None:
    """Put the remembered candidates in the order of their queues now; forget those that routes have removed."""
    for place in range(size):
        path = kept.queue[place]
        kept.queue[place] = NONE
        if NONE < path < len(candidates):
            enter(kept, place + 1, path, ports, candidates)


@inlined
def sample(kept: Any, number: int, distinct: bool, n_paths: int, u: float) -> int:
    """Return the sample `number`; if they are to be distinct, one of those not drawn yet."""
    if not distinct:
        return int(u * n_paths)
    path = int(u * (n_paths - number))
    place = 0
    while place < number and kept.drawn[place] <= path:  # those drawn stand in ascending order
        path += 1
        place += 1
    for later in range(number, place, -1):
        kept.drawn[later] = kept.drawn[later - 1]
    kept.drawn[place] = path
    return path


@inlined
def shortest(params: Any, kept: Any, ports: Any, candidates: Any, u0: float) -> int:
    """Return the shortest of the queues drawn and remembered, the remembered one if equal; remember the m shortest."""
    size, count, bits = max(params.memories, 1), len(candidates), int(u0 * HASHES)
    if params.memories == 0:
        kept.queue[0] = NONE
    else:
        renew(kept, size, ports, candidates)
    samples = min(params.samples, count) if params.distinct else params.samples
    for number in range(samples):
        u = u0 if number == 0 else float(mix((bits + number) & MASK)) / HASHES
        enter(kept, size, sample(kept, number, params.distinct, count, u), ports, candidates)
    return int(kept.queue[0])


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return the shortest of the queues drawn and of those remembered."""
    if params.memory_per == MemoryPer.SET:
        return shortest(params, own.set, ports, candidates, u0)
    if params.memory_per == MemoryPer.LEAF:
        return shortest(params, own.towards, ports, candidates, u0)
    return shortest(params, own.switch, ports, candidates, u0)


DRILL = Balancer(
    name="drill",
    choose=choose,
    params=DrillParams(),
    memory={"set": QUEUES, "towards": QUEUES, "switch": QUEUES},
    draws=True,
)
