"""Tahoe's windows (Jacobson 1988) as in ns-2's ``Agent/TCP``: half of the window, not of FlightSize, and start again.

============================ ==================================================== =======================
Event                        What follows                                         Source
============================ ==================================================== =======================
third duplicate ACK, timeout ssthresh = max(window / 2, 2 MSS), cwnd = 1 MSS      ns-2, ``slowdown``
============================ ==================================================== =======================
"""

from typing import Any

from capsim.protocols.congestion.reno import grow
from capsim.roles.components import Congestion
from capsim.roles.hooks import EXPIRED, GROW, LOST


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Grow as Reno; start again after a loss."""
    if signals & GROW:
        grow(sub)
    if signals & (LOST | EXPIRED):
        window = min(sub.cwnd_bytes, sub.max_window_bytes)
        sub.ssthresh_bytes = max(window // 2, 2 * sub.mss_bytes)
        sub.cwnd_bytes = sub.mss_bytes
    return 0


TAHOE = Congestion(name="tahoe", react=react)
