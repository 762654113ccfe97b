"""The switch of CAPS (Algorithm 1): short flows are sprayed; long flows hash while short flows are about, else spray.

A flow is long here once the switch has routed 100 KB of it. Every 500 us a switch looks back: if a packet of a short
flow came in the last period, the mode is ON for the next. The timer is read off the clock when a packet comes
(``now // T``), which is the same as a timer that runs from time 0: the mode matters to packets only.

========================== ====== ======================= ==================
Quantity                   Symbol Name                    Source
========================== ====== ======================= ==================
bytes of a flow so far     fs[i]  ``conn.routed_bytes``   caps Algorithm 1
border of short and long   s_L    ``threshold_bytes``     caps Algorithm 1
sampling interval          T      ``mode_period_s``       caps Algorithm 1
mode of short flows        sfmode ``state.mode``          caps Algorithm 1
========================== ====== ======================= ==================

The counter lives at the first switch of the flow; acknowledgements count as a flow of their own.
"""

from dataclasses import dataclass
from typing import Any

from capsim.hooks import Balancer, inlined
from capsim.protocols.balancers.ecmp import hashed
from capsim.protocols.balancers.spray import SprayParams, sprayed
from capsim.records import ACK
from capsmodel._checks import require


@dataclass(frozen=True, kw_only=True)
class CapsBalancerParams(SprayParams):
    """Parameters of spraying, and of Algorithm 1.

    Parameters
    ----------
    threshold_bytes : int
        s_L.
    mode_period_s : float
        T, in seconds.
    """

    threshold_bytes: int = 100_000
    mode_period_s: float = 500e-6

    def __post_init__(self) -> None:
        require(self.mode_period_s >= 1e-12, "balancer.mode_period_s must be at least a picosecond")


@inlined
def update_mode(params: Any, state: Any, now_ps: int) -> None:
    """Do what the timer does at every multiple of T (Algorithm 1, lines 3-8)."""
    period = now_ps // params.mode_period_ps
    if period != state.period:
        state.mode = state.seen if period == state.period + 1 else 0
        state.seen = 0
        state.period = period


@inlined
def size_so_far(switch: Any, conn: Any, packet: Any) -> int:
    """Count the packet at its first switch, and return fs[i] (Algorithm 1, line 9)."""
    is_ack = packet.kind == ACK
    if switch.tier == 0:
        if is_ack:
            conn.routed_ack_bytes += packet.bytes
        else:
            conn.routed_bytes += packet.bytes
    return conn.routed_ack_bytes if is_ack else conn.routed_bytes


def choose(
    params: Any,
    state: Any,
    switch: Any,
    conn: Any,
    packet: Any,
    ports: Any,
    candidates: Any,
    now_ps: int,
    u0: float,
) -> int:
    """Return the hashed path for a long flow in mode ON, else a sprayed one (Algorithm 1, lines 9-13)."""
    update_mode(params, state, now_ps)
    is_long = size_so_far(switch, conn, packet) >= params.threshold_bytes
    if not is_long:
        state.seen = 1
    if (is_long and state.mode) or (packet.kind == ACK and not params.spray_acks):
        return hashed(switch, packet, len(candidates))
    return sprayed(params, state, len(candidates), u0)


CAPS = Balancer(
    name="caps",
    choose=choose,
    params=CapsBalancerParams(),
    state=(("turn", "i8"), ("mode", "i8"), ("seen", "i8"), ("period", "i8")),
    draws=True,
    reads_queues=False,
)
