"""Reno's windows (RFC 5681): slow start, congestion avoidance, half of FlightSize after a loss.

============================ ============== ====================== ====================
Quantity                     Symbol         Name                   Source
============================ ============== ====================== ====================
congestion window            cwnd           ``sub.cwnd_bytes``     RFC 5681, section 3.1
slow-start threshold         ssthresh       ``sub.ssthresh_bytes`` RFC 5681, eq. 4
============================ ============== ====================== ====================
"""

from typing import Any

from capsim.base.inlined import inlined
from capsim.roles.components import Congestion
from capsim.roles.hooks import EXPIRED, EXPIRED_AGAIN, GROW, LOST


@inlined
def grow(sub: Any) -> None:
    """Open the window for an acknowledgement of new data: slow start or congestion avoidance (RFC 5681, eq. 2, 3)."""
    mss = sub.mss_bytes
    if sub.cwnd_bytes < sub.ssthresh_bytes:
        sub.cwnd_bytes += min(sub.newly_acked_bytes, mss)
    else:
        sub.cwnd_bytes += max(1, mss * mss // sub.cwnd_bytes)
    sub.cwnd_bytes = min(sub.cwnd_bytes, sub.max_window_bytes)


@inlined
def halve(sub: Any) -> None:
    """Set ssthresh to half of what was in flight, at least two segments (RFC 5681, eq. 4)."""
    sub.ssthresh_bytes = max(sub.lost_flight_bytes // 2, 2 * sub.mss_bytes)


@inlined
def answer_loss(sub: Any, signals: int) -> None:
    """Halve after a loss; after a timeout begin with one segment, and halve at the first one of a segment only."""
    if signals & LOST:
        halve(sub)
        sub.cwnd_bytes = sub.ssthresh_bytes
    if signals & EXPIRED:
        if not signals & EXPIRED_AGAIN:
            halve(sub)
        sub.cwnd_bytes = sub.mss_bytes


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Grow for new data, shrink after a loss."""
    if signals & GROW:
        grow(sub)
    answer_loss(sub, signals)
    return 0


RENO = Congestion(name="reno", react=react)
