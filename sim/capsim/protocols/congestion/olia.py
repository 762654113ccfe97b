"""OLIA, the opportunistic linked increases of MPTCP (Khalili et al. 2012; draft-khalili-mptcp-congestion-control).

=============================== ========= ============================ =================================
Quantity                        Symbol    Name                         Source
=============================== ========= ============================ =================================
bytes between losses            l         ``inter_loss_bytes``         draft, section 3
window moved between paths      alpha     ``shift``                    draft, section 3
=============================== ========= ============================ =================================

A window grows for each acknowledged segment by w / rtt^2 / (sum w / rtt)^2 + alpha / w. The best paths have the largest
l / rtt^2, which is the order of TCP's rates on them (as in the authors' Linux code). If some of these do not have the
largest window, alpha is positive there and negative on the paths with the largest window; the sum of alpha is zero.
Slow start and the answer to losses are Reno's. Fractions of a byte are kept until they make one.
"""

from typing import Any

from capsim.base.bounds import COPIES
from capsim.base.inlined import inlined
from capsim.protocols.congestion.lia import takes_part
from capsim.protocols.congestion.reno import answer_loss, grow
from capsim.records import NONE
from capsim.roles.components import Congestion
from capsim.roles.hooks import ACKED, EXPIRED, EXPIRED_AGAIN, GROW, LOST

_EACH = f"({COPIES.largest},)i8"  # one number for each subflow of a flow


@inlined
def inter_loss_bytes(memory: Any, sub: Any) -> float:
    """Return l: the larger of the bytes acknowledged since the last loss and between the last two."""
    return float(max(memory.since_loss[sub.number], memory.between_losses[sub.number]))


@inlined
def quality(memory: Any, sub: Any) -> float:
    """Return l / rtt^2, in the order of the rates that TCP has on the paths."""
    rtt = float(sub.srtt_ps)
    return inter_loss_bytes(memory, sub) / (rtt * rtt)


@inlined
def shift(memory: Any, flow: Any, sub: Any, subs: Any) -> float:
    """Return alpha of a subflow."""
    largest, best = 0, 0.0
    number = flow.first_sub
    while number != NONE:
        if takes_part(subs[number]) and subs[number].srtt_ps:
            largest = max(largest, subs[number].cwnd_bytes)
            best = max(best, quality(memory, subs[number]))
        number = subs[number].next_sub
    paths, largest_paths, better_paths = 0.0, 0.0, 0.0
    number = flow.first_sub
    while number != NONE:
        if takes_part(subs[number]) and subs[number].srtt_ps:
            paths += 1.0
            if subs[number].cwnd_bytes == largest:
                largest_paths += 1.0
            elif quality(memory, subs[number]) == best:
                better_paths += 1.0
        number = subs[number].next_sub
    if better_paths == 0.0:
        return 0.0
    if sub.cwnd_bytes == largest:
        return -1.0 / (paths * largest_paths)
    return 1.0 / (paths * better_paths) if quality(memory, sub) == best else 0.0


@inlined
def grow_opportunistic(own: Any, flow: Any, sub: Any, subs: Any) -> None:
    """Change the window in congestion avoidance; it keeps one segment at least."""
    rates, number = 0.0, flow.first_sub
    while number != NONE:
        if takes_part(subs[number]) and subs[number].srtt_ps:
            rates += float(subs[number].cwnd_bytes) / float(subs[number].srtt_ps)
        number = subs[number].next_sub
    window, rtt = float(sub.cwnd_bytes), float(sub.srtt_ps)
    gain = window / (rtt * rtt) / (rates * rates) + shift(own.flow, flow, sub, subs) / window
    change = own.subflow.fraction + gain * float(sub.newly_acked_bytes) * float(sub.mss_bytes)
    own.subflow.fraction = change - float(int(change))
    sub.cwnd_bytes = min(max(sub.cwnd_bytes + int(change), sub.mss_bytes), sub.max_window_bytes)


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Count bytes between losses; grow as Reno in slow start or alone, else by OLIA; shrink as Reno."""
    memory = own.flow
    if signals & ACKED:
        memory.since_loss[sub.number] += sub.newly_acked_bytes
    if signals & GROW:
        if flow.n_subs == 1 or sub.final or sub.cwnd_bytes < sub.ssthresh_bytes:
            grow(sub)
        elif sub.srtt_ps:
            grow_opportunistic(own, flow, sub, subs)
    if signals & (LOST | EXPIRED) and not signals & EXPIRED_AGAIN:
        memory.between_losses[sub.number] = memory.since_loss[sub.number]
        memory.since_loss[sub.number] = 0
    answer_loss(sub, signals)
    return 0


OLIA = Congestion(
    name="olia",
    react=react,
    memory={
        "subflow": (("fraction", "f8"),),
        "flow": (("since_loss", _EACH), ("between_losses", _EACH)),
    },
)
