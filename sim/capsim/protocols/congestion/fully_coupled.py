"""Fully coupled windows (Han et al. 2006, Kelly and Voice 2005): the windows of a flow grow and shrink as one.

================ ============================================================ ==============================
Event            What follows                                                 Source
================ ============================================================ ==============================
acknowledgement  window += MSS^2 / T, T the sum of the coupled windows        authors' ns-3 code of mmptcp
loss             ssthresh = max(window - T / 2, least window), window = it    authors' ns-3 code of mmptcp
timeout          as Reno: half of what this subflow had in flight             authors' ns-3 code of mmptcp
================ ============================================================ ==============================

The paper of MMPTCP names the algorithm (its Table 8) and prints no formula. Slow start is each subflow's own.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.protocols.congestion.lia import total_window_bytes
from capsim.protocols.congestion.reno import answer_loss, grow
from capsim.roles.components import Congestion
from capsim.roles.hooks import GROW, LOST


@dataclass(frozen=True, kw_only=True)
class FullyCoupledParams:
    """Parameters of fully coupled windows.

    Parameters
    ----------
    least_window_segments : int
        A loss leaves at least so many segments of the window. 2 is the authors' rule; htsim has 1.
    """

    least_window_segments: Annotated[int, bounds.WINDOW_PACKETS] = 2


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Grow by MSS^2 / T, give up T / 2 after a loss; alone, or without new data, as Reno."""
    alone = flow.n_subs == 1 or sub.final
    if signals & GROW:
        if alone or sub.cwnd_bytes < sub.ssthresh_bytes:
            grow(sub)
        else:
            more = max(1, sub.mss_bytes * sub.mss_bytes // total_window_bytes(flow, subs))
            sub.cwnd_bytes = min(sub.cwnd_bytes + more, sub.max_window_bytes)
    if signals & LOST and not alone:
        left = sub.cwnd_bytes - total_window_bytes(flow, subs) // 2
        sub.ssthresh_bytes = max(left, params.least_window_segments * sub.mss_bytes)
        sub.cwnd_bytes = sub.ssthresh_bytes
    else:
        answer_loss(sub, signals)
    return 0


FULLY_COUPLED = Congestion(name="fully_coupled", react=react, params=FullyCoupledParams())
