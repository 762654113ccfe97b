r"""Losses on links: what decides whether a packet that has crossed one is lost, in both engines.

The fates of a link's packets are a chain of two states (Gilbert 1960), of which one loses all packets and has the share
p of them. Counted in packets, the chain goes on with the next packet, however late. In time it goes on whether packets
come or not: the state that a packet has found is forgotten with the time, and the next one is lost with probability
:math:`p + (s - p) e^{-t/m}` a time t later, where s is 1 behind a packet that was lost and 0 behind one that arrived,
and m = (1 - p) d for runs that last d on average.
"""

from math import exp
from typing import Any

from capsim.base.inlined import inlined


@inlined
def loss_chance(port: Any, loss: Any, now_ps: int) -> float:
    """Return the probability that the packet which crosses the link of a port now is lost."""
    if loss.memory_ps == 0.0:
        return float(port.loss_prob)
    return float(port.loss_prob + (loss.last - port.loss_prob) * exp((loss.last_ps - now_ps) / loss.memory_ps))


@inlined
def note_fate(port: Any, loss: Any, lost: bool, now_ps: int) -> None:
    """Keep what has become of the packet that has crossed the link."""
    if loss.memory_ps == 0.0:
        port.loss_prob = loss.behind_lost if lost else loss.behind_arrived
    else:
        loss.last, loss.last_ps = 1.0 if lost else 0.0, now_ps
