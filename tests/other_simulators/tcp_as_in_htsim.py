"""The windows of htsim's TCP and DCTCP (``tcp.cpp`` and ``dctcp.cpp`` of csg-htsim), where they differ from the RFCs.

TCP, beside RFC 5681 and RFC 6582:

* a loss halves cwnd, not FlightSize;
* an acknowledgement opens the window by what it leaves unused of it, at most a segment, and by nothing where more is in
  flight (``inflate_window``);
* the acknowledgement that ends a recovery sets cwnd to ssthresh, or to a segment and what is in flight; RFC 6582,
  section 3.2, step 3, counts at least a segment as in flight.

DCTCP, beside RFC 8257:

* alpha begins with 0 and takes one step when as many acknowledgements have come as cwnd had segments, marked or not;
  each step cuts the window by alpha / 2, whether or not one of them had a mark;
* a mark ends slow start, and cuts nothing by itself.
"""

from dataclasses import replace
from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.congestion.reno import RENO
from capsim.roles.hooks import ACKED, DUPLICATE, EXPIRED, GROW, LOST, MARKED


@inlined
def inflate(sub: Any) -> None:
    """Open the window by what is unused of it."""
    unused_bytes = sub.cwnd_bytes - (sub.next_segment - sub.una) * sub.mss_bytes
    opened = min(unused_bytes, sub.mss_bytes)
    if opened < 0:
        return
    if sub.cwnd_bytes < sub.ssthresh_bytes:
        sub.cwnd_bytes += min(sub.ssthresh_bytes - sub.cwnd_bytes, opened)
    else:
        sub.cwnd_bytes += opened * sub.mss_bytes // sub.cwnd_bytes


def react_reno(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Grow for new data, shrink after a loss; begin with a segment after a recovery that leaves nothing in flight."""
    memory = own.subflow
    if memory.recovering and not sub.in_recovery and not signals & EXPIRED:
        if sub.una == sub.next_segment:
            sub.cwnd_bytes = min(sub.ssthresh_bytes, sub.mss_bytes)
    elif signals & GROW:
        inflate(sub)
    if signals & (LOST | EXPIRED):
        sub.ssthresh_bytes = max(sub.cwnd_bytes // 2, 2 * sub.mss_bytes)
        sub.cwnd_bytes = sub.mss_bytes if signals & EXPIRED else sub.ssthresh_bytes
    memory.recovering = sub.in_recovery
    return 0


def react_dctcp(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Count marks; cut by alpha once a window, then grow. No case loses a packet."""
    memory, mss = own.subflow, sub.mss_bytes
    if memory.window_bytes == 0:
        memory.window_bytes = 2 * mss
    if signals & (ACKED | DUPLICATE):
        memory.seen += 1
        if signals & MARKED:
            memory.marked += 1
            sub.ssthresh_bytes = min(sub.ssthresh_bytes, sub.cwnd_bytes)
        if memory.seen * mss >= memory.window_bytes:
            memory.alpha = 15.0 / 16.0 * memory.alpha + 1.0 / 16.0 * (memory.marked / memory.seen)
            memory.seen, memory.marked = 0, 0
            if memory.alpha > 0:
                sub.cwnd_bytes = max(int(sub.cwnd_bytes * (1 - memory.alpha / 2)), mss)
                sub.ssthresh_bytes = sub.cwnd_bytes
            memory.window_bytes = sub.cwnd_bytes
    if signals & GROW:
        inflate(sub)
    return 0


RENO_AS_IN_HTSIM = replace(RENO, name="reno_as_in_htsim", react=react_reno, memory={"subflow": (("recovering", "i8"),)})
DCTCP_AS_IN_HTSIM = replace(
    RENO,
    name="dctcp_as_in_htsim",
    react=react_dctcp,
    memory={"subflow": (("seen", "i8"), ("marked", "i8"), ("window_bytes", "i8"), ("alpha", "f8"))},
)
