r"""Delay of a congestion window, sent packet by packet or in coding units of k packets.

==============================  ======  ==============================  ====  =============
Quantity                        Symbol  Name                            Unit  Equation
==============================  ======  ==============================  ====  =============
wait for a unit to be complete  d_B     :func:`buffering_delay_s`       s     caps Eq. 3
window delay with coding        d_w     :func:`window_delay_s`          s     caps Eq. 4, 6
window delay without coding     d_wnc   :func:`uncoded_window_delay_s`  s     caps Eq. 5
==============================  ======  ==============================  ====  =============

The two objectives are explained in :mod:`capsmodel.coding.optimal_unit`, which finds the k that makes the delay least.
"""

from typing import overload

from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, FloatOrArray, closed_form, plain, positive, probability, whole
from capsmodel.coding._unit_search import best_repair, log_tails
from capsmodel.coding.unit_parameters import (
    DEFAULT_OBJECTIVE,
    Objective,
    UnitParameters,
    checked_window,
    ordered_rtts,
    uncoded_delay_s,
)
from capsmodel.units import serialisation_s


@overload
def buffering_delay_s(k: float, *, packet_bytes: float, rate_bps: float) -> float: ...
@overload
def buffering_delay_s(k: ArrayLike, *, packet_bytes: ArrayLike, rate_bps: ArrayLike) -> FloatArray: ...
@closed_form
def buffering_delay_s(k: ArrayLike, *, packet_bytes: ArrayLike, rate_bps: ArrayLike) -> FloatOrArray:
    r"""Return the mean time that a packet of a coding unit waits until the unit is complete, in seconds.

    Parameters
    ----------
    k : array_like
        Source packets k, packets, whole, at least 1.
    packet_bytes : array_like
        Packet size MSS, bytes, above 0.
    rate_bps : array_like
        Bottleneck rate C, bits per second, above 0.

    Returns
    -------
    float or ndarray
        Seconds, broadcast over all arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`d_B = \frac1k \sum_{i=1}^{k} (k-i)\frac{MSS}{C} = \frac{(k-1)\,MSS}{2C}`: packets leave back to back and
    arrive so, on paths of equal delay. 0 for k = 1.

    References
    ----------
    caps Eq. 3.

    Examples
    --------
    >>> round(buffering_delay_s(11, packet_bytes=1500, rate_bps=1e9) * 1e6, 9)  # 6 us for each packet more
    60.0
    """
    packet_s = serialisation_s(positive("packet_bytes", packet_bytes), rate_bps=positive("rate_bps", rate_bps))
    return plain((whole("k", k, minimum=1) - 1) * packet_s / 2)


@overload
def uncoded_window_delay_s(
    window_packets: float, *, blocking_prob: float, rtt_short_s: float, rtt_long_s: float
) -> float: ...
@overload
def uncoded_window_delay_s(
    window_packets: ArrayLike, *, blocking_prob: ArrayLike, rtt_short_s: ArrayLike, rtt_long_s: ArrayLike
) -> FloatArray: ...
@closed_form
def uncoded_window_delay_s(
    window_packets: ArrayLike, *, blocking_prob: ArrayLike, rtt_short_s: ArrayLike, rtt_long_s: ArrayLike
) -> FloatOrArray:
    r"""Return the mean delay of a congestion window without coding, in seconds.

    Parameters
    ----------
    window_packets : array_like
        Congestion window w, packets, at least 1.
    blocking_prob : array_like
        Probability p that a packet is blocked, in [0, 1).
    rtt_short_s : array_like
        Largest round-trip time of paths without long flows RTT_S, s, above 0.
    rtt_long_s : array_like
        Largest round-trip time of paths with long flows RTT_L, s, at least RTT_S.

    Returns
    -------
    float or ndarray
        Seconds, broadcast over all arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range or RTT_L is below RTT_S.

    Notes
    -----
    :math:`d_{wnc} = (1-p)^w RTT_S + (1 - (1-p)^w) RTT_L`: one blocked packet delays the window.

    References
    ----------
    caps Eq. 5.

    Examples
    --------
    >>> round(uncoded_window_delay_s(1, blocking_prob=0.5, rtt_short_s=1e-4, rtt_long_s=3e-3) * 1e3, 9)
    1.55
    """
    short, long = ordered_rtts(rtt_short_s, rtt_long_s)
    window, p = checked_window(window_packets), probability("blocking_prob", blocking_prob)
    return plain(uncoded_delay_s(window, blocking_prob=p, rtt_short_s=short, rtt_long_s=long))


@overload
def window_delay_s(
    k: float,
    *,
    window_packets: float,
    blocking_prob: float,
    rtt_short_s: float,
    rtt_long_s: float,
    packet_bytes: float,
    rate_bps: float,
    r: float | None = ...,
    whole_units: bool = ...,
    objective: Objective = ...,
) -> float: ...
@overload
def window_delay_s(
    k: ArrayLike,
    *,
    window_packets: ArrayLike,
    blocking_prob: ArrayLike,
    rtt_short_s: ArrayLike,
    rtt_long_s: ArrayLike,
    packet_bytes: ArrayLike,
    rate_bps: ArrayLike,
    r: ArrayLike | None = ...,
    whole_units: bool = ...,
    objective: Objective = ...,
) -> FloatArray: ...
@closed_form
def window_delay_s(
    k: ArrayLike,
    *,
    window_packets: ArrayLike,
    blocking_prob: ArrayLike,
    rtt_short_s: ArrayLike,
    rtt_long_s: ArrayLike,
    packet_bytes: ArrayLike,
    rate_bps: ArrayLike,
    r: ArrayLike | None = None,
    whole_units: bool = False,
    objective: Objective = DEFAULT_OBJECTIVE,
) -> FloatOrArray:
    r"""Return the mean delay of a congestion window sent in coding units of `k` packets, in seconds.

    Parameters
    ----------
    k : array_like
        Source packets k, packets, whole, at least 1.
    window_packets, blocking_prob, rtt_short_s, rtt_long_s : array_like
        As in :func:`uncoded_window_delay_s`.
    packet_bytes, rate_bps : array_like
        As in :func:`buffering_delay_s`.
    r : array_like, optional
        Repair packets r, packets, whole, at least 0. When not given: with the cost the r of least delay, for
        which k must not exceed the window; for ``"eq4"`` that of :func:`capsmodel.coding.redundancy.repair_packets`.
    whole_units : bool
        Round w/k up to whole units; the paper does not.
    objective : {"with_redundancy_cost", "eq4"}
        Whether the time to send the repair packets is added; see :mod:`capsmodel.coding.optimal_unit`.

    Returns
    -------
    float or ndarray
        Seconds, broadcast over all array arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range, RTT_L is below RTT_S, the objective is unknown, or k exceeds the window with
        the cost and without `r`.

    Notes
    -----
    :math:`d_w = p_S^{w/k}(RTT_S + d_B) + (1 - p_S^{w/k})RTT_L`, and with the cost :math:`+ \frac{rw}{k}\frac{MSS}{C}`.
    Both terms are positive, so the relative error stays below 1e-12. Where d_B exceeds
    RTT_L - RTT_S the formula is kept, though waiting for the late packet would then be faster.

    References
    ----------
    caps Eq. 4, 6; the cost term is not in the paper.

    Examples
    --------
    The optimum that the paper prints for p = 0.2, and the one of its Eq. 4; by Eq. 4, and with the cost at its best r:

    >>> setting = {"window_packets": 64, "blocking_prob": 0.2, "packet_bytes": 1500, "rate_bps": 1e9}
    >>> setting |= {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3}
    >>> (window_delay_s([29, 61], objective="eq4", **setting) * 1e3).round(4).tolist()
    [1.8111, 1.4289]
    >>> (window_delay_s([29, 61], **setting) * 1e3).round(4).tolist()
    [0.7173, 0.8134]
    """
    counts = whole("k", k, minimum=1)
    parameters = UnitParameters.checked(
        window_packets,
        blocking_prob=blocking_prob,
        rtt_short_s=rtt_short_s,
        rtt_long_s=rtt_long_s,
        packet_bytes=packet_bytes,
        rate_bps=rate_bps,
        objective=objective,
        whole_units=whole_units,
    )
    if r is None:
        parameters.require_within_window("k", counts)
    repair = best_repair(parameters, counts) if r is None else whole("r", r)
    log_decode_prob = log_tails(counts, repair, parameters.blocking_prob)[0]
    return plain(parameters.delay_s(counts, r=repair, log_decode_prob=log_decode_prob))
