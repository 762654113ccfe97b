"""Measurements and decisions of CAPS at the sender: blocking probability, redundancy, size of the coding unit.

============================ ======== ===================================== =============================
Quantity                     Symbol   Name                                  Equation
============================ ======== ===================================== =============================
ACKs in a sampling period    n        ``estimator.acks``                    caps u (VI-B) blocking
of these with a large RTT    n_L      ``estimator.blocked``                 caps u (VI-B) blocking
repair packets               r        ``repair_packets``                    caps u (VI-B) redundancy
best size of the unit        k        ``optimal_unit_packets``              caps Eq. 4
============================ ======== ===================================== =============================

The steps from one size of the unit to the next are those of :mod:`capsmodel.coding._unit_search`; r is that of
``repair_packets``, with the limits that the layer sets, and never falls from one size to the next.
"""

from enum import IntEnum
from math import inf
from typing import Any

from capsim.base.bounds import WORD
from capsim.base.inlined import inlined
from capsim.records import ACK, RETRANSMITTED
from capsmodel.coding._unit_search import SCALAR, log_tails_at, mean_delay

ESTIMATOR = (
    ("period", "i8"),  # number of the current sampling period
    ("acks", "i8"),  # in this period: n
    ("blocked", "i8"),  # of these with a large RTT: n_L
    ("rtt_sum_ps", "i8"),
    ("known_acks", "i8"),  # of the last period that had any
    ("known_blocked", "i8"),
    ("smoothed_rtt_ps", "i8"),
    ("all_acks", "i8"),
    ("all_rtt_ps", "i8"),
    # the best size of a unit, and what it was computed for
    ("optimal_packets", "i8"),
    ("optimal_window", "i8"),
    ("optimal_blocked", "i8"),
    ("optimal_acks", "i8"),
)


class Threshold(IntEnum):
    """Against what an RTT is large: twice the smoothed (IX-C) or twice the average of all, itself included (VI-A)."""

    SMOOTHED = 0
    AVERAGE = 1


@inlined
def roll_period(params: Any, estimator: Any, now_ps: int) -> None:
    """Close the sampling period if it is over: p_B = n_L / n, and the smoothed RTT takes up the period's mean."""
    period = now_ps // params.sampling_ps if params.sampling_ps else 0
    if period == estimator.period:
        return
    estimator.period = period
    if estimator.acks:
        mean_ps = estimator.rtt_sum_ps // estimator.acks
        smoothed_ps = estimator.smoothed_rtt_ps
        estimator.smoothed_rtt_ps = (7 * smoothed_ps + mean_ps) // 8 if smoothed_ps else mean_ps
        estimator.known_acks = estimator.acks
        estimator.known_blocked = estimator.blocked
        estimator.acks = 0
        estimator.blocked = 0
        estimator.rtt_sum_ps = 0


@inlined
def usual_rtt_ps(params: Any, estimator: Any) -> int:
    """Return the RTT that a large one is measured against, 0 if there is none yet."""
    if params.threshold == Threshold.AVERAGE:
        return estimator.all_rtt_ps // estimator.all_acks
    if estimator.smoothed_rtt_ps:
        return estimator.smoothed_rtt_ps
    return estimator.rtt_sum_ps // estimator.acks if estimator.acks else 0


@inlined
def note_rtt(params: Any, estimator: Any, packet: Any, now_ps: int) -> None:
    """Enter the RTT of an acknowledgement."""
    if packet.kind != ACK or packet.flags & RETRANSMITTED:
        return
    roll_period(params, estimator, now_ps)
    rtt_ps = now_ps - packet.sent_ps
    estimator.all_acks += 1
    estimator.all_rtt_ps += rtt_ps
    if estimator.all_rtt_ps >= WORD:  # both halves have the same mean
        estimator.all_rtt_ps //= 2
        estimator.all_acks //= 2
    usual_ps = usual_rtt_ps(params, estimator)
    if usual_ps and rtt_ps > params.rtt_factor * usual_ps:
        estimator.blocked += 1
    estimator.acks += 1
    estimator.rtt_sum_ps += rtt_ps
    if estimator.rtt_sum_ps >= WORD:
        estimator.rtt_sum_ps //= 2
        estimator.acks //= 2
        estimator.blocked //= 2


@inlined
def repair_packets(params: Any, k: int, blocked: int, acks: int) -> int:
    """Return r = ceil(k / (1 - p_B) - k) for p_B = blocked / acks, at most max_overhead * k, at least min_repair."""
    r = int(params.max_overhead * k)
    if blocked < acks:
        r = min(-(-k * blocked // (acks - blocked)), r)
    return max(r, params.min_repair)


for function in SCALAR:
    inlined(function)


@inlined
def optimal_unit_packets(params: Any, window: int, blocked: int, acks: int) -> int:
    """Return the k in 1 .. window that makes the mean decoding delay least (caps Eq. 4); of equals the smallest."""
    if blocked >= acks:
        return window
    best, least_ps = 1, inf
    for k in range(1, window + 1):
        r = repair_packets(params, k, blocked, acks)
        log_decode_prob = log_tails_at(float(k), float(r), blocked / acks)[0]
        decoded_ps = params.rtt_short_ps + (k - 1.0) * params.packet_ps / 2.0
        delay_ps = mean_delay(window / k * log_decode_prob, decoded_ps, params.rtt_long_ps)
        if delay_ps < least_ps:
            best, least_ps = k, delay_ps
    return best


@inlined
def remembered_unit_packets(params: Any, estimator: Any, window: int, blocked: int, acks: int) -> int:
    """Return :func:`optimal_unit_packets`, computed once while nothing that it depends on changes."""
    same = estimator.optimal_window == window and estimator.optimal_blocked == blocked
    if not same or estimator.optimal_acks != acks:
        estimator.optimal_packets = optimal_unit_packets(params, window, blocked, acks)
        estimator.optimal_window = window
        estimator.optimal_blocked = blocked
        estimator.optimal_acks = acks
    return estimator.optimal_packets
