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
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.congestion.reno import answer_loss, grow
from capsim.records import ESTABLISHED
from capsim.roles.components import Congestion
from capsim.roles.hooks import ACKED, DUPLICATE, GROW, MARKED, OPENED


@dataclass(frozen=True, kw_only=True)
class DctcpParams:
    """Parameters of DCTCP.

    Parameters
    ----------
    ewma_gain : float
        g of RFC 8257, section 3.3.
    initial_alpha : float
        alpha before the first observation window (RFC 8257: 1).
    """

    ewma_gain: Annotated[float, bounds.RATIO] = 1 / 16
    initial_alpha: Annotated[float, bounds.RATIO] = 1.0


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Count marks; grow or shrink as Reno; cut the window at most once per window.

    A mark of the window in which a loss was found (up to `recover`) does not reduce it again.
    """
    memory = own.subflow
    if signals & OPENED:
        memory.alpha = params.initial_alpha
    if sub.state == ESTABLISHED:
        count(params, memory, sub, signals)
    answer_loss(sub, signals)
    reduced = sub.una > sub.recover and (signals & MARKED or sub.una <= memory.reduced_until)
    if not reduced:
        if signals & GROW:
            grow(sub)
    elif sub.una > memory.reduced_until:
        cut = int(sub.cwnd_bytes * (1.0 - memory.alpha / 2.0))
        sub.cwnd_bytes = max(cut, sub.mss_bytes)
        sub.ssthresh_bytes = sub.cwnd_bytes
        memory.reduced_until = sub.next_segment
    return 0


@inlined
def count(params: Any, memory: Any, sub: Any, signals: int) -> None:
    """Count the bytes that this acknowledgement is the first to report; update alpha when a window ends."""
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
    params=DctcpParams(),
    memory={
        "subflow": (
            ("alpha", "f8"),
            ("acked_bytes", "i8"),  # in this observation window
            ("marked_bytes", "i8"),
            ("early_bytes", "i8"),  # counted when a duplicate ACK reported them, not yet acknowledged
            ("window_end", "i8"),
            ("reduced_until", "i8"),
        )
    },
)
