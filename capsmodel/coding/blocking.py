r"""Estimators of the blocking probability from round-trip times, and how many blocked packets they miss.

=========================  ==========  ====================================  ====  ===================
Quantity                   Symbol      Name                                  Unit  Equation
=========================  ==========  ====================================  ====  ===================
blocking probability       p_B         :func:`blocking_prob_twice_average`   1     caps u (VI-A, VI-B)
same, smoothed threshold   p_B         :func:`blocking_prob_twice_smoothed`  1     caps u (IX-C)
blocked packets it misses  –           :func:`twice_average_missed_share`    1     beyond the papers
smoothed round-trip time   RTT_smooth  :func:`smoothed_rtt_s`                s     caps u (IX-C)
same, plain average        P_b         :func:`blocking_prob_above_average`   1     cdcps u (V-B)
=========================  ==========  ====================================  ====  ===================

The sender takes a packet for *blocked* (``docs/glossary.md``) when its ACK comes late.
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    FloatSequence,
    closed_form,
    one_number,
    plain,
    positive,
    probability,
    require,
)

MISSED_SHARE_BIAS = 0.04
"""Most that `twice_average_missed_share` lies below the truth; it does not lie above. See its Notes."""


def _rtts(rtts_s: ArrayLike) -> FloatArray:
    rtts = positive("rtts_s", rtts_s)
    require(rtts.ndim > 0 and rtts.size > 0, "rtts_s is not a non-empty array: give the RTT of each received ACK")
    return rtts


def _share_above(rtts_s: FloatArray, threshold_s: FloatArray) -> FloatArray:
    return np.asarray(np.mean(rtts_s > threshold_s[..., None], axis=-1))


@overload
def blocking_prob_twice_average(rtts_s: FloatSequence) -> float: ...
@overload
def blocking_prob_twice_average(rtts_s: ArrayLike) -> FloatOrArray: ...
@closed_form
def blocking_prob_twice_average(rtts_s: ArrayLike) -> FloatOrArray:
    r"""Estimate the blocking probability: the share of ACKs whose RTT exceeds twice the average.

    Parameters
    ----------
    rtts_s : array_like
        Round-trip time of each ACK of a sampling period, s, above 0; the last axis holds the ACKs.

    Returns
    -------
    float or ndarray
        Probability in [0, 1/2); shape of `rtts_s` without the last axis.

    Raises
    ------
    ParameterError
        If `rtts_s` is empty or not above 0.

    Notes
    -----
    :math:`p_B = n_L/n` with :math:`n_L = \#\{RTT > 2\,\overline{RTT}\}`. Above one half is impossible (Markov), so more
    blocked ACKs cannot all be counted. VI-B counts ACKs; Algorithm 1 writes the same letters for paths.

    *Bias.* Blocked packets raise the average that they are compared with: beyond some p, those that find the queue of
    their long flow short are missed, :func:`twice_average_missed_share`. In a burst, packets that queue behind their
    own burst count as blocked without any long flow.

    References
    ----------
    caps u (VI-A, VI-B) blocking probability.

    Examples
    --------
    >>> blocking_prob_twice_average([1e-4, 1e-4, 1e-4, 3e-3])
    0.25
    """
    rtts = _rtts(rtts_s)
    return plain(_share_above(rtts, 2 * np.mean(rtts, axis=-1)))


@overload
def twice_average_missed_share(
    blocking_prob: float, *, usual_rtts_s: ArrayLike, base_rtt_s: float, full_wait_s: float
) -> float: ...
@overload
def twice_average_missed_share(
    blocking_prob: ArrayLike, *, usual_rtts_s: ArrayLike, base_rtt_s: float, full_wait_s: float
) -> FloatArray: ...
@closed_form
def twice_average_missed_share(
    blocking_prob: ArrayLike, *, usual_rtts_s: ArrayLike, base_rtt_s: float, full_wait_s: float
) -> FloatOrArray:
    r"""Return the share of blocked packets that :func:`blocking_prob_twice_average` misses beside steady long flows.

    Parameters
    ----------
    blocking_prob : array_like
        True probability p that a packet is blocked, in [0, 1).
    usual_rtts_s : array_like
        Equally likely RTTs of packets that are not blocked, a list or one value, s, above 0.
    base_rtt_s : float
        RTT T of a long flow without any queue, s, above 0.
    full_wait_s : float
        Wait behind the full buffer of a blocked path, s, at least T.

    Returns
    -------
    float or ndarray
        Share in [0, 1]; shape of `blocking_prob`.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    One long flow in congestion avoidance holds a window between half and all of what fills its path and buffer,
    :math:`L=T+q_{full}` at the rate of the path. It grows by a packet each RTT, which grows with it, so that the time
    spent at a window is proportional to the window: the wait q of a blocked packet has
    :math:`F(q)=\frac{4}{3}\left(\frac{q+T}{L}\right)^2-\frac{1}{3}` between :math:`L/2-T` and :math:`L-T`, and the mean
    :math:`\bar q=\frac79L-T`. With the usual RTT s, a blocked packet is missed if :math:`s+q\le 2(\bar s+p\bar q)`;
    the share is the mean of F over s. With s = T it is 0 up to :math:`p=\frac{L/2-2T}{14L/9-2T}`.

    Assumes long flows that share no path, windows out of phase, a full buffer of at least T (else the path idles after
    a loss), and a period with enough ACKs that p is its share of blocked ones.

    *Bias.* The distribution of one window assumes one loss when the buffer is just full. In packets the buffer
    overflows with whatever short packets are there, and while losses are repaired, one each RTT, the queue dips below
    half: the waits are shorter, and more packets are missed. By how much is not derived. Measured for single periods
    were 0.003 to 0.028 of the blocked packets, with standard errors up to 0.006, on 40 paths with 5 to 16 long flows
    and buffers of 64 to 256 packets; declared is 0.04 (`MISSED_SHARE_BIAS`), to this side.

    References
    ----------
    Derived here, for the rule of caps u (VI-A, VI-B) blocking probability.

    Examples
    --------
    >>> share = twice_average_missed_share([0.1, 0.2, 0.4], usual_rtts_s=1e-4, base_rtt_s=1e-4, full_wait_s=9e-4)
    >>> share.round(3).tolist()
    [0.0, 0.0, 0.401]
    """
    p = probability("blocking_prob", blocking_prob)
    usual_s = np.atleast_1d(positive("usual_rtts_s", usual_rtts_s))
    require(usual_s.ndim == 1 and usual_s.size > 0, "usual_rtts_s is no list of RTTs: give at least one, or a number")
    base_s, wait_s = one_number(positive, "base_rtt_s", base_rtt_s), one_number(positive, "full_wait_s", full_wait_s)
    require(wait_s >= base_s, f"full_wait_s = {wait_s:g}, but a buffer that lasts an RTT waits {base_s:g}")
    full_s = base_s + wait_s
    threshold_s = 2 * (usual_s.mean() + p * (7 / 9 * full_s - base_s))
    of_full = (np.asarray(threshold_s)[..., None] - usual_s + base_s) / full_s
    return plain(np.mean((4 * np.clip(of_full, 0.5, 1) ** 2 - 1) / 3, axis=-1))


@overload
def smoothed_rtt_s(previous_s: float, *, average_s: float) -> float: ...
@overload
def smoothed_rtt_s(previous_s: ArrayLike, *, average_s: ArrayLike) -> FloatArray: ...
@closed_form
def smoothed_rtt_s(previous_s: ArrayLike, *, average_s: ArrayLike) -> FloatOrArray:
    r"""Return the smoothed round-trip time after one more sampling period, in seconds.

    Parameters
    ----------
    previous_s : array_like
        Smoothed RTT before, s, above 0.
    average_s : array_like
        Mean RTT of the period's ACKs, s, above 0.

    Returns
    -------
    float or ndarray
        Seconds, broadcast over both arguments.

    Raises
    ------
    ParameterError
        If an argument is not above 0.

    Notes
    -----
    :math:`RTT_{smooth} \leftarrow \frac78 RTT_{smooth} + \frac18 RTT_{avg}`. The period is twice the
    propagation delay (200 us in the paper).

    References
    ----------
    caps u (IX-C) smoothed RTT.

    Examples
    --------
    >>> smoothed_rtt_s(8.0, average_s=16.0)
    9.0
    """
    return plain(7 / 8 * positive("previous_s", previous_s) + 1 / 8 * positive("average_s", average_s))


@overload
def blocking_prob_twice_smoothed(rtts_s: FloatSequence, *, smoothed_rtt_s: float) -> tuple[float, float]: ...
@overload
def blocking_prob_twice_smoothed(
    rtts_s: ArrayLike, *, smoothed_rtt_s: ArrayLike
) -> tuple[FloatOrArray, FloatOrArray]: ...
@closed_form
def blocking_prob_twice_smoothed(rtts_s: ArrayLike, *, smoothed_rtt_s: ArrayLike) -> tuple[FloatOrArray, FloatOrArray]:
    r"""Estimate the blocking probability from twice the *smoothed* RTT; also return the new smoothed RTT in seconds.

    Parameters
    ----------
    rtts_s : array_like
        Round-trip time of each ACK of a sampling period, s, above 0; the last axis holds the ACKs.
    smoothed_rtt_s : array_like
        Smoothed RTT before this period, s, above 0.

    Returns
    -------
    tuple of (float or ndarray, float or ndarray)
        Probability in [0, 1] and smoothed RTT, s; shape of `rtts_s` without the last axis.

    Raises
    ------
    ParameterError
        If `rtts_s` is empty or an argument is not above 0.

    Notes
    -----
    The smoothed RTT takes in this period's average first (:func:`capsmodel.coding.blocking.smoothed_rtt_s`); an ACK
    counts when its RTT exceeds twice the result. The paper does not print the order of the two steps. On steady traffic
    its bias is that of :func:`blocking_prob_twice_average`; it still contains the pause before a burst, so the burst
    counts as blocked more often.

    Both are for RTTs of packets. An ACK of a coded packet says when its *unit* decoded: units that wait for a blocked
    packet make all their ACKs late together, no ACK is late compared with the others, and the estimate is near 0
    whatever the true one is.

    References
    ----------
    caps u (IX-C) smoothed RTT.

    Examples
    --------
    >>> blocking_prob_twice_smoothed([1.0, 1.0, 1.0, 5.0], smoothed_rtt_s=1.0)  # threshold 2 (7/8 + 2/8)
    (0.25, 1.125)
    """
    rtts, previous = _rtts(rtts_s), positive("smoothed_rtt_s", smoothed_rtt_s)
    smoothed = np.asarray(7 / 8 * previous + 1 / 8 * np.mean(rtts, axis=-1))
    return plain(_share_above(rtts, 2 * smoothed)), plain(smoothed)


@overload
def blocking_prob_above_average(rtts_s: FloatSequence) -> float: ...
@overload
def blocking_prob_above_average(rtts_s: ArrayLike) -> FloatOrArray: ...
@closed_form
def blocking_prob_above_average(rtts_s: ArrayLike) -> FloatOrArray:
    r"""Estimate the blocking probability as cdcps does: the share of ACKs whose RTT exceeds the plain average.

    Parameters
    ----------
    rtts_s : array_like
        Round-trip time of each ACK, s, above 0; the last axis holds the ACKs.

    Returns
    -------
    float or ndarray
        Probability in [0, 1); shape of `rtts_s` without the last axis.

    Raises
    ------
    ParameterError
        If `rtts_s` is empty or not above 0.

    Notes
    -----
    :math:`P_b = m_L/m`. With symmetric noise and no congestion about half of the ACKs exceed their mean, so the
    estimate is near 1/2 on an idle fabric and as many repair as source packets follow; the factor two of caps
    avoids that.

    References
    ----------
    cdcps u (V-B) blocking probability.

    Examples
    --------
    >>> blocking_prob_above_average([1.0, 2.0, 3.0, 6.0])  # mean 3
    0.25
    """
    rtts = _rtts(rtts_s)
    return plain(_share_above(rtts, np.mean(rtts, axis=-1)))
