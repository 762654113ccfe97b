"""DCTCP (RFC 8257): the receiver echoes each mark, the sender cuts its window by the fraction of marked bytes.

============================ ====== ======================= ==================
Quantity                     Symbol Name                    Source
============================ ====== ======================= ==================
estimate of marked fraction  alpha  ``own.subflow.alpha``   RFC 8257, 3.3
weight of a new observation  g      ``ewma_gain``           RFC 8257, 3.3
============================ ====== ======================= ==================

Losses are answered as by Reno, also in a window that a mark has reduced, and repaired by whatever transport it runs
over (RFC 8257, section 3.5). Marks reduce the window once per window of data, and not in that of a loss (RFC 3168,
section 6.1.2); it does not grow meanwhile. The fraction counts bytes as they arrive, as Linux does: a duplicate
acknowledgement reports one segment, so marks echoed during recovery count for the window they belong to. The
transport's data packets must be ECN-capable (``ecn``).

In place of at once, the window may come down in proportion to what is delivered, as in Linux and ns-3
(:mod:`capsim.protocols.congestion.proportional`): until all data outstanding at the mark are acknowledged, when it is
set to ssthresh, or a loss is found.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.congestion.proportional import Reduction, allowed_bytes
from capsim.protocols.congestion.reno import answer_loss, grow
from capsim.records import ESTABLISHED
from capsim.roles.components import Congestion
from capsim.roles.hooks import ACKED, DUPLICATE, EXPIRED, GROW, LOST, MARKED, OPENED


@dataclass(frozen=True, kw_only=True)
class DctcpParams:
    """Parameters of DCTCP.

    Parameters
    ----------
    ewma_gain : float
        g of RFC 8257, section 3.3.
    initial_alpha : float
        alpha before the first observation window (RFC 8257: 1).
    reduction : Reduction
        How a mark reduces the window (RFC 8257, section 3.4: at once; Linux, and ns-3 unless its recovery is
        TcpClassicRecovery: in proportion to what is delivered).
    """

    ewma_gain: Annotated[float, bounds.RATIO] = 1 / 16
    initial_alpha: Annotated[float, bounds.RATIO] = 1.0
    reduction: Reduction = Reduction.AT_ONCE


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Count marks; grow or shrink as Reno; cut the window at most once per window.

    A mark of the window in which a loss was found (up to `recover`) does not reduce it again.
    """
    memory = own.subflow
    if signals & OPENED:
        memory.alpha = params.initial_alpha
    new_bytes = 0
    if sub.state == ESTABLISHED:
        new_bytes = count(params, memory, sub, signals)
    answer_loss(sub, signals)
    if memory.cut_flight_bytes:
        end_reduction(memory, sub, signals)
    reduced = sub.una > sub.recover and (signals & MARKED or sub.una <= memory.reduced_until)
    if not reduced:
        if signals & GROW:
            grow(sub)
    elif sub.una > memory.reduced_until:
        begin_reduction(params, memory, sub, new_bytes)
    if memory.cut_flight_bytes and new_bytes:
        reduce(params, memory, sub, new_bytes)
    return 0


@inlined
def begin_reduction(params: Any, memory: Any, sub: Any, new_bytes: int) -> None:
    """Cut by alpha / 2: ssthresh, and the window unless it is to come down later."""
    cut = int(sub.cwnd_bytes * (1.0 - memory.alpha / 2.0))
    sub.ssthresh_bytes = max(cut, sub.mss_bytes)
    memory.reduced_until = sub.next_segment
    if params.reduction == Reduction.AT_ONCE:
        sub.cwnd_bytes = sub.ssthresh_bytes
        return
    in_flight_bytes = (sub.next_segment - sub.una) * sub.mss_bytes - memory.early_bytes
    if params.reduction == Reduction.PROPORTIONAL_NS3:
        memory.cut_flight_bytes = max(in_flight_bytes, sub.mss_bytes)
        memory.cut_delivered_bytes = new_bytes + sub.mss_bytes
    else:
        memory.cut_flight_bytes = in_flight_bytes + new_bytes
        memory.cut_delivered_bytes = 0


@inlined
def reduce(params: Any, memory: Any, sub: Any, new_bytes: int) -> None:
    """Set the window to what is in flight and what may be sent for an acknowledgement (RFC 6937, section 3)."""
    memory.cut_delivered_bytes += new_bytes
    flight_bytes = (sub.next_segment - sub.una) * sub.mss_bytes
    sub.cwnd_bytes = flight_bytes + allowed_bytes(
        params.reduction,
        flight_bytes - memory.early_bytes,
        sub.ssthresh_bytes,
        memory.cut_flight_bytes,
        memory.cut_delivered_bytes,
        new_bytes,
        (sub.next_segment - memory.reduced_until) * sub.mss_bytes,
        0,
        sub.mss_bytes,
    )


@inlined
def end_reduction(memory: Any, sub: Any, signals: int) -> None:
    """End a reduction that a loss has overtaken, or whose window is acknowledged: this is ssthresh then."""
    if signals & (LOST | EXPIRED):
        memory.cut_flight_bytes = 0
    elif sub.una > memory.reduced_until:
        memory.cut_flight_bytes = 0
        sub.cwnd_bytes = sub.ssthresh_bytes


@inlined
def count(params: Any, memory: Any, sub: Any, signals: int) -> int:
    """Return the bytes that this acknowledgement is the first to report; count them, update alpha as a window ends."""
    arrived = 0
    if signals & ACKED:
        arrived = max(sub.newly_acked_bytes - memory.early_bytes, 0)
        memory.early_bytes = max(memory.early_bytes - sub.newly_acked_bytes, 0)
    elif signals & DUPLICATE:
        arrived = sub.mss_bytes
        memory.early_bytes += arrived
    memory.acked_bytes += arrived
    if signals & MARKED:
        memory.marked_bytes += arrived
    if signals & ACKED:
        close_window(params, memory, sub)
    return arrived


@inlined
def close_window(params: Any, memory: Any, sub: Any) -> None:
    """Update alpha when the observation window ends (RFC 8257, section 3.3)."""
    if sub.una == sub.next_segment:
        memory.early_bytes = 0
    if sub.una > memory.window_end and memory.acked_bytes:
        fraction = memory.marked_bytes / memory.acked_bytes
        memory.alpha = (1.0 - params.ewma_gain) * memory.alpha + params.ewma_gain * fraction
        memory.acked_bytes = 0
        memory.marked_bytes = 0
        memory.window_end = sub.next_segment


DCTCP = Congestion(
    name="dctcp",
    react=react,
    reads_marks=True,
    params=DctcpParams(),
    memory={
        "subflow": (
            ("alpha", "f8"),
            ("acked_bytes", "i8"),  # in this observation window
            ("marked_bytes", "i8"),
            ("early_bytes", "i8"),  # counted when a duplicate ACK reported them, not yet acknowledged
            ("window_end", "i8"),
            ("reduced_until", "i8"),
            ("cut_flight_bytes", "i8"),  # RFC 6937: RecoverFS, while the window comes down; else 0
            ("cut_delivered_bytes", "i8"),  # RFC 6937: prr_delivered
        )
    },
)
