"""The switch of CAPS (Algorithm 1): short flows are sprayed; long flows hash while there are short flows, else spray.

Every 500 us a switch looks back: if a packet of a short flow came in the last period, the mode is ON for the next. The
period is computed from the time when a packet comes (``now // T``), which is the same as a timer that runs from time 0,
since only packets use the mode.

========================== ====== ======================= ==================
Quantity                   Symbol Name                    Source
========================== ====== ======================= ==================
bytes of a flow so far     fs[i]  ``own.subflow.bytes``   caps Algorithm 1
threshold of long flows    s_L    ``threshold_bytes``     caps Algorithm 1
sampling interval          T      ``mode_period_s``       caps Algorithm 1
mode of short flows        sfmode ``own.switch.mode``     caps Algorithm 1
========================== ====== ======================= ==================

The counter lives at the first switch of the flow and counts packets in the direction of the data. An acknowledgement
has the class of the flow that it belongs to.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.balancers.ecmp import hashed
from capsim.protocols.balancers.spray import SprayParams, sprayed
from capsim.records import ACK, SYN_ACK
from capsim.roles.components import Balancer


class ModeCounts(IntEnum):
    """Which packets of short flows switch the mode ON: those in the direction of the data, or all."""

    DATA = 0
    ALL = 1


class LongFrom(IntEnum):
    """When a flow is long: if its known size is, from its first packet; or once s_L bytes of it have come."""

    START = 0
    THRESHOLD = 1


@dataclass(frozen=True, kw_only=True)
class CapsBalancerParams(SprayParams):
    """Parameters of spraying, and of Algorithm 1.

    Parameters
    ----------
    threshold_bytes : int
        s_L, for ``long_from = "threshold"``.
    mode_period_s : float
        T, in seconds.
    mode_counts : ModeCounts
        Which packets of short flows switch the mode ON. Algorithm 1 says "a packet"; where the authors' ns-2 code
        samples, it counts data and never ACKs.
    long_from : LongFrom
        When a flow is long. ``"start"`` needs a scheme with known sizes. Section VII has CAPS count bytes for the case
        that the size is not known (CAPS_dark); in the ns-2 code of CAPS long flows are long from their first packet,
        though Algorithm 1 prints the counter without that condition.
    """

    threshold_bytes: Annotated[int, bounds.THRESHOLD_BYTES] = 100_000
    mode_period_s: Annotated[float, bounds.PERIOD_S] = 500e-6
    mode_counts: ModeCounts = ModeCounts.DATA
    long_from: LongFrom = LongFrom.START

    @property
    def needs_sizes(self) -> bool:
        """Whether sizes of flows must be known."""
        return self.long_from == LongFrom.START


@inlined
def update_mode(params: Any, state: Any, now_ps: int) -> None:
    """Do what the timer does at every multiple of T (Algorithm 1, lines 3-8)."""
    period = now_ps // params.mode_period_ps
    if period != state.period:
        state.mode = state.seen if period == state.period + 1 else 0
        state.seen = 0
        state.period = period


@inlined
def goes_back(packet: Any) -> bool:
    """Return whether a packet goes from the receiver of a flow to its sender."""
    return packet.kind in (ACK, SYN_ACK)


@inlined
def is_long(params: Any, passed: Any, switch: Any, sub: Any, packet: Any) -> bool:
    """Count the packet at its first switch; return whether its flow is long (Algorithm 1, lines 9-10)."""
    if switch.tier == 0 and not goes_back(packet):
        passed.bytes += packet.bytes
    if params.long_from == LongFrom.START:
        return sub.short == 0
    return passed.bytes >= params.threshold_bytes


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return the hashed path for a long flow in mode ON, else a sprayed one (Algorithm 1, lines 9-13)."""
    state = own.switch
    update_mode(params, state, now_ps)
    long = is_long(params, own.subflow, switch, sub, packet)
    back = goes_back(packet)
    if not long and (not back or params.mode_counts == ModeCounts.ALL):
        state.seen = 1
    if (long and state.mode) or (back and not params.spray_acks):
        return hashed(switch, packet, len(candidates))
    return sprayed(params, state, len(candidates), u0)


CAPS = Balancer(
    name="caps",
    choose=choose,
    params=CapsBalancerParams(),
    memory={
        "switch": (("turn", "i8"), ("mode", "i8"), ("seen", "i8"), ("period", "i8")),
        "subflow": (("bytes", "i8"),),
    },
    draws=True,
    reads_queues=False,
)
