"""DCTCP with the rules in which ns-3.44's ``TcpDctcp`` and ``TcpLinuxReno`` differ from capsim."""

from dataclasses import dataclass, fields, replace
from typing import Any

from capsim import Scheme
from capsim.base.inlined import inlined
from capsim.protocols.congestion.dctcp import DCTCP, DctcpParams, begin_reduction, count, end_reduction, reduce
from capsim.protocols.congestion.proportional import Reduction
from capsim.protocols.congestion.reno import answer_loss, grow
from capsim.records import ESTABLISHED
from capsim.roles.hooks import ACKED, GROW, MARKED, OPENED


@dataclass(frozen=True, kw_only=True)
class Ns3DctcpParams(DctcpParams):
    """Parameters of DCTCP; each rule is ns-3's unless it is switched off.

    Parameters
    ----------
    late_first_window : bool
        Whether the first observation window begins at the first acknowledgement (RFC 8257, section 3.3: it ends there).
    end_at_last : bool
        Whether a window ends when the last byte outstanding at its beginning is acknowledged (RFC 8257, section 3.3
        step 3: when more is).
    cut_by_old_alpha : bool
        Whether a cut uses alpha before the acknowledgement that brings the mark is counted (RFC 8257, section 3.3
        step 9: after).
    whole_segments : bool
        Whether the window grows by a segment when a window of segments is acknowledged (RFC 5681, section 3.1,
        recommends it; capsim has MSS²/cwnd at each acknowledgement, eq. 3).
    below_a_segment : bool
        Whether a cut may leave less than a segment, so that the sender waits for its timer.
    """

    late_first_window: bool = True
    end_at_last: bool = True
    cut_by_old_alpha: bool = True
    whole_segments: bool = True
    below_a_segment: bool = True


@inlined
def grow_by_segments(params: Any, memory: Any, sub: Any) -> None:
    """Grow as ``TcpLinuxReno::IncreaseWindow``."""
    if not params.whole_segments:
        grow(sub)
        return
    if sub.cwnd_bytes < sub.ssthresh_bytes:
        sub.cwnd_bytes = min(sub.cwnd_bytes + sub.newly_acked_bytes, sub.ssthresh_bytes)
        return
    window = max(sub.cwnd_bytes // sub.mss_bytes, 1)
    if memory.counted >= window:
        memory.counted = 0
        sub.cwnd_bytes += sub.mss_bytes
    memory.counted += sub.newly_acked_bytes // sub.mss_bytes
    if memory.counted >= window:
        sub.cwnd_bytes += memory.counted // window * sub.mss_bytes
        memory.counted %= window


@inlined
def count_marks(params: Any, memory: Any, sub: Any, signals: int) -> int:
    """Count an acknowledgement as ``TcpDctcp::PktsAcked``; return the bytes that it is the first to report."""
    if signals & ACKED and params.late_first_window and not memory.started:
        memory.started = 1
        memory.window_end = sub.next_segment
    new_bytes = count(params, memory, sub, signals)
    if params.end_at_last and memory.window_end == sub.next_segment:  # it has just been set, or is
        memory.window_end -= 1
    return new_bytes


@inlined
def cut(params: Any, memory: Any, sub: Any, new_bytes: int, old_alpha: float) -> None:
    """Begin a reduction as ``EnterCwr``."""
    alpha = memory.alpha
    if params.cut_by_old_alpha:
        memory.alpha = old_alpha
    ssthresh = int(sub.cwnd_bytes * (1.0 - memory.alpha / 2.0))
    begin_reduction(params, memory, sub, new_bytes)
    memory.alpha = alpha
    if params.below_a_segment:
        sub.ssthresh_bytes = ssthresh
        if params.reduction == Reduction.AT_ONCE:
            sub.cwnd_bytes = ssthresh


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Count marks; grow, or reduce once per window, as :func:`capsim.protocols.congestion.dctcp.react`."""
    memory = own.subflow
    if signals & OPENED:
        memory.alpha = params.initial_alpha
    old_alpha = memory.alpha
    new_bytes = 0
    if sub.state == ESTABLISHED:
        new_bytes = count_marks(params, memory, sub, signals)
    answer_loss(sub, signals)
    if memory.cut_flight_bytes:
        end_reduction(memory, sub, signals)
    reduced = sub.una > sub.recover and (signals & MARKED or sub.una <= memory.reduced_until)
    if signals & GROW and not reduced:
        grow_by_segments(params, memory, sub)
    elif reduced and sub.una > memory.reduced_until:
        cut(params, memory, sub, new_bytes, old_alpha)
    if memory.cut_flight_bytes and new_bytes:
        reduce(params, memory, sub, new_bytes)
    return 0


DCTCP_AS_IN_NS3 = replace(
    DCTCP,
    name="dctcp_as_in_ns3",
    react=react,
    params=Ns3DctcpParams(),
    memory={"subflow": (*DCTCP.memory["subflow"], ("started", "i8"), ("counted", "i8"))},
)


def dctcp_as_in_ns3(scheme: Scheme, **params: Any) -> Scheme:
    """Return a scheme of DCTCP with this one in its place."""
    same = {field.name: getattr(scheme.long.congestion.params, field.name) for field in fields(DctcpParams)}
    congestion = replace(DCTCP_AS_IN_NS3, params=Ns3DctcpParams(**same, **params))
    stack = replace(scheme.long, congestion=congestion)
    return replace(scheme, short=stack, long=stack)
