r"""Repair packets beside retransmission: how many sendings a deadline allows, and what each leaves to the code.

==================================  ==========  =================================  =======  ==================
Quantity                            Symbol      Name                               Unit     Equation
==================================  ==========  =================================  =======  ==================
sendings of a packet that fit       J           :func:`sendings_within`            1        beyond the papers
unit fails in spite of both         –           :func:`hybrid_failure_prob`        1        beyond the papers
packets sent per source packet      –           :func:`sent_per_source_packet`     packets  beyond the papers
fewest repair packets for J         r(J)        :func:`repair_packets_hybrid`      packets  inverts it
mean rounds of retransmission       E(r)        :func:`mean_retransmissions`       1        beyond the papers
round trip at which r pays          –           :func:`break_even_round_trip_s`    s        beyond the papers
==================================  ==========  =================================  =======  ==================

A unit is sent as k + r packets. If j > r of them are lost, the j - r that are missing are retransmitted, each up to
J - 1 times: the round trip is fixed, and a retransmission is lost with the mean loss, independently. Where a slow path
carries the retransmissions, that is a lower bound. J = 1 is coding alone, r = 0 retransmission alone. With
``first_path="worst"`` each value is that of the first path for which it is largest.
"""

from collections.abc import Callable
from math import ceil, expm1, floor, inf, log

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, closed_form, non_negative, one_number, positive, require, whole
from capsmodel.coding.paths.delays import time_left_s
from capsmodel.coding.paths.losses import PathLosses, as_losses
from capsmodel.coding.paths.unit_choice import TOLERANCE, failure_target

_MOST_PACKETS = 2**12  # of a unit whose whole law is computed
_MOST_LOSS = 0.9  # beyond, the sum over round trips is long


@closed_form
def sendings_within(
    deadline_s: float, *, packets: float, packet_s: float, delay_s: float, retransmit_s: float, codec_s: float = 0.0
) -> int:
    r"""Return how many times a packet can be sent so that the last one is there before the deadline.

    Parameters
    ----------
    deadline_s : float
        Time from the first packet of the unit to the moment when it must be decoded, s, above 0.
    packets : float
        Packets of the unit n, packets, whole, at least 1.
    packet_s : float
        Time to send a packet, s, above 0.
    delay_s : float
        One-way delay, s, at least 0.
    retransmit_s : float
        Time from sending a packet to sending it again, a round trip and what notices the loss, s, above 0.
    codec_s : float
        Time to decode, s, at least 0.

    Returns
    -------
    int
        Sendings J; 0 where not even the first arrives in time.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`J = 1 + \lfloor (T - n\tau - d - c)/T_r \rfloor`; what fits exactly fits.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> sendings_within(500e-6, packets=71, packet_s=0.48e-6, delay_s=60e-6, retransmit_s=150e-6)
    3
    """
    limit_s = one_number(positive, "deadline_s", deadline_s)
    sent_s = one_number(whole, "packets", packets, minimum=1) * one_number(positive, "packet_s", packet_s)
    waits_s = one_number(non_negative, "delay_s", delay_s), one_number(non_negative, "codec_s", codec_s)
    rounds = float(time_left_s(limit_s, sent_s, *waits_s)) / one_number(positive, "retransmit_s", retransmit_s)
    require(rounds < 2**53, f"retransmit_s = {retransmit_s:g} is too short beside the deadline: give more")
    return max(0, 1 + floor(rounds))


def _mean_missing(k: float, r: float, losses: PathLosses, weight: Callable[[FloatArray], FloatArray]) -> float:
    """Return the mean of `weight` of the packets that are missing, those lost beyond r, where any are."""
    n = int(k + r)
    require(n <= _MOST_PACKETS, f"a unit of {n} packets, but retransmission is computed for at most {_MOST_PACKETS}")
    weights = weight(np.arange(1.0, k + 1))

    def mean(table: FloatArray) -> FloatArray:
        # P(L = j) as a difference of tails, which loses no digit that counts: the last ones are weighted most.
        above = table[n]
        return np.asarray(np.sum((above[int(r) : n] - above[int(r) + 1 : n + 1]) * weights))

    return float(losses.over_first_paths(n, n, mean))


def _checked(
    k: ArrayLike, r: ArrayLike, losses: PathLosses | float, sendings: ArrayLike
) -> tuple[float, float, PathLosses, float]:
    return (
        one_number(whole, "k", k, minimum=1),
        one_number(whole, "r", r),
        as_losses(losses),
        one_number(whole, "sendings", sendings, minimum=1),
    )


@closed_form
def hybrid_failure_prob(k: float, *, r: float, losses: PathLosses | float, sendings: float) -> float:
    r"""Return the probability that a unit is not complete after its repair packets and all retransmissions.

    Parameters
    ----------
    k, r : float
        Source and repair packets, packets, whole, k >= 1 and r >= 0.
    losses : PathLosses or float
        What happens to the packets; a number is the loss of equal, independent ones, in [0, 1).
    sendings : float
        How often a packet is sent at most, J, at least 1.

    Returns
    -------
    float
        Probability in [0, 1].

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`\sum_{j>r} P(L_n = j)\,(1 - (1 - p^{J-1})^{j-r})` with the mean loss p. For J = 1 it is
    :math:`P(L_n > r)`, for r = 0 and equal independent losses :math:`1 - (1 - p^J)^k`.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> [f"{hybrid_failure_prob(64, r=0, losses=0.01175, sendings=j):.2g}" for j in (1, 3, 5)]
    ['0.53', '0.0001', '1.4e-08']
    """
    k, r, given, sendings = _checked(k, r, losses, sendings)
    if sendings == 1:
        return float(given.failure_table(int(k + r), int(r))[int(k + r), int(r)])
    again = min(given.mean_loss ** (sendings - 1), 1 - 2**-53)
    return _mean_missing(k, r, given, lambda missing: -np.expm1(missing * np.log1p(-again)))


@closed_form
def sent_per_source_packet(k: float, *, r: float, losses: PathLosses | float, sendings: float) -> float:
    r"""Return the mean number of packets sent for each source packet.

    Parameters
    ----------
    k, r, losses, sendings
        As in :func:`hybrid_failure_prob`.

    Returns
    -------
    float
        Packets, at least 1.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`\frac1k\left(n + E[(L_n - r)^+]\,\frac{1 - p^{J-1}}{1 - p}\right)`: of the packets that are missing
    each is retransmitted until it arrives or was sent J times.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> round(sent_per_source_packet(64, r=0, losses=0.01175, sendings=5), 4), 71 / 64
    (1.0119, 1.109375)
    """
    k, r, given, sendings = _checked(k, r, losses, sendings)
    p = given.mean_loss
    tries = -expm1((sendings - 1) * log(p)) / (1 - p) if 0 < p < 1 else (sendings - 1 if p else min(sendings - 1, 1))
    return float((k + r + _mean_missing(k, r, given, lambda missing: missing) * tries) / k)


@closed_form
def repair_packets_hybrid(k: float, *, losses: PathLosses | float, failure_prob: float, sendings: float) -> int:
    r"""Return the fewest repair packets with which a unit that may be retransmitted fails with at most `failure_prob`.

    Parameters
    ----------
    k, losses, sendings
        As in :func:`hybrid_failure_prob`.
    failure_prob : float
        Largest probability that the unit is not complete, in (0, 1).

    Returns
    -------
    int
        Packets; with every sending more, fewer or as many.

    Raises
    ------
    ParameterError
        If an argument leaves its range or 2^12 packets are not enough.

    Notes
    -----
    The least r of :func:`hybrid_failure_prob`, which falls with r.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> [repair_packets_hybrid(64, losses=0.01175, failure_prob=1e-6, sendings=j) for j in range(1, 6)]
    [8, 6, 4, 1, 0]
    """
    k, _, given, sendings = _checked(k, 0, losses, sendings)
    limit = failure_target(failure_prob) * (1 + TOLERANCE)
    low, high = -1, 0
    while hybrid_failure_prob(k, r=high, losses=given, sendings=sendings) > limit:
        low, high = high, 2 * high + 4
    while high - low > 1:
        middle = (low + high) // 2
        if hybrid_failure_prob(k, r=middle, losses=given, sendings=sendings) > limit:
            low = middle
        else:
            high = middle
    return high


@closed_form
def mean_retransmissions(k: float, *, r: float, losses: PathLosses | float) -> float:
    r"""Return the mean number of round trips of retransmission until a unit is complete.

    Parameters
    ----------
    k, r, losses
        As in :func:`hybrid_failure_prob`; the mean loss is at most 0.9.

    Returns
    -------
    float
        Round trips, at least 0.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`E(r) = \sum_{J\ge1}\sum_{j>r} P(L_n = j)\,(1 - (1 - p^{J-1})^{j-r})`: a unit needs more than J - 1 round
    trips as often as J sendings fail. The sum ends where what is left of it is below :math:`10^{-17}` of a round trip.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> [round(mean_retransmissions(64, r=r, losses=0.01175), 4) for r in (0, 1, 2)]
    [0.5396, 0.1804, 0.0436]
    """
    k, r, given, _ = _checked(k, r, losses, 1)
    p = given.mean_loss
    require(p <= _MOST_LOSS, f"mean loss = {p:g}, but round trips are counted up to {_MOST_LOSS}")
    ends = 1 + ceil(log(1e-17 * (1 - p) / k) / log(p)) if p else 1
    again = np.minimum(p ** np.arange(ends, dtype=float), 1 - 2**-53)[:, None]
    return _mean_missing(k, r, given, lambda missing: np.sum(-np.expm1(missing * np.log1p(-again)), axis=0))


@closed_form
def break_even_round_trip_s(k: float, *, r: float, losses: PathLosses | float, packet_s: float) -> float:
    r"""Return the round trip above which r repair packets complete a unit sooner, in the mean, than sending again.

    Parameters
    ----------
    k, r, losses
        As in :func:`hybrid_failure_prob`; r at least 1.
    packet_s : float
        Time to send a packet, s, above 0.

    Returns
    -------
    float
        Time from sending a packet to sending it again, s; infinite where nothing is lost.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`r\tau / (E(0) - E(r))` with E of :func:`mean_retransmissions`: repair packets cost the time to send them,
    :math:`r\tau`, and save round trips. They cost bytes too (:func:`sent_per_source_packet`).

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> f"{break_even_round_trip_s(64, r=8, losses=0.01175, packet_s=0.48e-6):.3g}"
    '7.12e-06'
    """
    r = one_number(whole, "r", r, minimum=1)
    spent_s = r * one_number(positive, "packet_s", packet_s)
    saved = mean_retransmissions(k, r=0, losses=losses) - mean_retransmissions(k, r=r, losses=losses)
    return spent_s / saved if saved else inf
