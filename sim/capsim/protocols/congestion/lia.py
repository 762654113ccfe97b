"""LIA, the linked increases of MPTCP (RFC 6356): the subflows of a flow take together what one TCP would take.

=============================== ========= ======================= ==================
Quantity                        Symbol    Name                    Source
=============================== ========= ======================= ==================
aggressiveness of the flow      alpha     ``alpha``               RFC 6356, eq. 2
=============================== ========= ======================= ==================

Slow start and the answer to losses are Reno's. Windows are bytes; windows and times go into products as floats, since
whole picoseconds would leave 63 bits.
"""

from dataclasses import dataclass
from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.congestion.reno import answer_loss, grow
from capsim.records import CLOSED, NONE, SYN_SENT
from capsim.roles.components import Congestion
from capsim.roles.hooks import GROW


@dataclass(frozen=True, kw_only=True)
class LiaParams:
    """Parameters of linked increases.

    Parameters
    ----------
    capped : bool
        Whether no subflow grows faster than one TCP would (RFC 6356, eq. 1). Without the cap it is what the authors'
        code of mmptcp calls Linked_Increases.
    """

    capped: bool = True


@inlined
def takes_part(sub: Any) -> bool:
    """Return whether a subflow is coupled with the others: it is open, and new data are granted to it."""
    return sub.state != CLOSED and sub.state != SYN_SENT and not sub.final


@inlined
def coupling(flow: Any, subs: Any) -> tuple[float, int]:
    """Return what `alpha` and `total_window_bytes` do, by one pass over the subflows: an acknowledgement needs both."""
    total_bytes, total, best, rates = 0, 0.0, 0.0, 0.0
    number = flow.first_sub
    while number != NONE:
        sub = subs[number]
        if takes_part(sub):
            total_bytes += sub.cwnd_bytes
            if sub.srtt_ps:
                window, rtt = float(sub.cwnd_bytes), float(sub.srtt_ps)
                total += window
                best = max(best, window / (rtt * rtt))
                rates += window / rtt
        number = sub.next_sub
    return (total * best / (rates * rates) if rates > 0.0 else 0.0), total_bytes


@inlined
def alpha(flow: Any, subs: Any) -> float:
    """Return alpha over the coupled subflows that have measured a round trip (RFC 6356, eq. 2); 0 if none has."""
    return coupling(flow, subs)[0]


@inlined
def total_window_bytes(flow: Any, subs: Any) -> int:
    """Return the sum of the windows of the coupled subflows."""
    return coupling(flow, subs)[1]


@inlined
def grow_linked(params: Any, flow: Any, sub: Any, subs: Any) -> None:
    """Open the window in congestion avoidance by the smaller of the linked increase and TCP's own (RFC 6356, eq. 1).

    TCP's own is what Reno adds here, one increase for each acknowledgement (RFC 5681, eq. 3); the linked one counts
    bytes. They differ from eq. 1 where one acknowledgement covers several segments.
    """
    acked_mss = float(sub.newly_acked_bytes) * float(sub.mss_bytes)
    aggressiveness, total_bytes = coupling(flow, subs)
    linked = aggressiveness * acked_mss / float(total_bytes)
    alone = float(sub.mss_bytes) * float(sub.mss_bytes) / float(sub.cwnd_bytes)
    added = min(linked, alone) if params.capped else linked
    sub.cwnd_bytes = min(sub.cwnd_bytes + max(1, int(added)), sub.max_window_bytes)


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Grow as Reno in slow start or alone, else by the linked increase; shrink as Reno."""
    if signals & GROW:
        if flow.n_subs == 1 or sub.final or sub.cwnd_bytes < sub.ssthresh_bytes:
            grow(sub)
        else:
            grow_linked(params, flow, sub, subs)
    answer_loss(sub, signals)
    return 0


LIA = Congestion(name="lia", react=react, params=LiaParams())
