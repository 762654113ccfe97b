r"""Mean windows of senders that halve at each loss, where the equations of equilibrium put one number for a window.

=================================  ==============  ===============================  =======  =================
Quantity                           Symbol          Name                             Unit     Equation
=================================  ==============  ===============================  =======  =================
mean window of one TCP             :math:`E[W]`    :func:`single_path_mean_window`  packets  beyond the papers
packets it sends in a round trip   :math:`E[N]`    :func:`newreno_packets_per_rtt`  packets  beyond the papers
mean windows of an LIA connection  :math:`E[W_i]`  :func:`lia_mean_windows`         packets  beyond the papers
what their total lies too low      –               :func:`total_fluctuation_bias`   1        beyond the papers
=================================  ==============  ===============================  =======  =================

In every function of subflows the last axis runs over the subflows of one connection, the others broadcast.
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import exp1

from capsmodel.checks import FloatArray, FloatOrArray, FloatSequence, closed_form, plain, positive, probability, require
from capsmodel.multipath.lia import single_path_window

SINGLE_PATH_SHARE = 0.92619199
"""E[W] over W^s of one TCP as p -> 0; derived in `single_path_mean_window`."""
TOTAL_FLUCTUATION_BIAS = float(SINGLE_PATH_SHARE * np.sqrt(2 * np.log(2)) - 1)
"""How far the total of `lia_mean_windows` lies below the truth for one path, as a share of it: 0.0905."""
ROUND_TRIP_COST_PACKETS = float(2 * SINGLE_PATH_SHARE**2 * (np.log(2) + 5 / 4) - 2)
"""Packets that NewReno sends less in a round trip than `single_path_mean_window`: 1.334, derived in
`newreno_packets_per_rtt`."""
ROUND_TRIP_REMAINDER_PACKETS = 0.1
"""What that derivation leaves out, either way; see its Notes for where it was measured."""
TIMEOUT_REMAINDER_PACKETS = 6.0
"""Times the loss probability: what timeouts of ten round trips take off besides; measured with it."""

_ALL_RATES = 2.0 ** np.arange(60)
_RATES = _ALL_RATES[:16]
# Partial fractions of prod 1/(1 + s 2^-k); from k = 16 on the weights are below 1e-35.
_WEIGHTS = np.array([np.prod(1 / (1 - rate / _ALL_RATES[rate != _ALL_RATES])) for rate in _RATES])
_STEPS = np.linspace(-40.0, 5.0, 1801)  # of ln x; the integrand falls like x below and like exp(-x) above


@overload
def single_path_mean_window(loss_prob: float) -> float: ...
@overload
def single_path_mean_window(loss_prob: ArrayLike) -> FloatArray: ...
@closed_form
def single_path_mean_window(loss_prob: ArrayLike) -> FloatOrArray:
    r"""Return the mean window over time of one TCP with random losses, in packets.

    Parameters
    ----------
    loss_prob : array_like
        Loss probability :math:`p` of each packet, independent, in (0, 1].

    Returns
    -------
    float or ndarray
        :math:`0.9262\,W^s` packets, of the shape of the argument.

    Raises
    ------
    ParameterError
        As :func:`capsmodel.multipath.lia.single_path_window`.

    Notes
    -----
    Packet by packet :math:`W^2` gains 2, and a loss leaves a quarter of it. So as :math:`p \to 0`,
    :math:`Y = pW^2/2` at a packet is :math:`\sum_{k\ge0} 4^{-k}E_k` with unit exponentials :math:`E_k`, whose transform
    is :math:`\prod_k 1/(1+s\,4^{-k})`. Time weighs a packet by :math:`1/W`, hence

    .. math:: \frac{E[W]}{W^s} = \frac{1}{E[Y^{-1/2}]}
              = \sqrt\pi \left( \int_0^\infty \frac{2\,du}{\prod_k (1 + u^2 4^{-k})} \right)^{-1} = 0.9262.

    The mean *square* is :math:`(W^s)^2` exactly. For :math:`p > 0` steps of one packet add a relative error of the
    order of :math:`p`. Timeouts, a minimum window and round trips are left out; :func:`newreno_packets_per_rtt` has
    them.

    References
    ----------
    Beyond the papers; the window is that of dc2mtcp Eq. 8.

    Examples
    --------
    >>> round(single_path_mean_window(0.02), 3)
    9.169
    """
    return plain(SINGLE_PATH_SHARE * np.asarray(single_path_window(loss_prob)))


@overload
def newreno_packets_per_rtt(loss_prob: float) -> float: ...
@overload
def newreno_packets_per_rtt(loss_prob: ArrayLike) -> FloatArray: ...
@closed_form
def newreno_packets_per_rtt(loss_prob: ArrayLike) -> FloatOrArray:
    r"""Return how many packets NewReno sends in a round trip, on average over time, with random losses.

    Parameters
    ----------
    loss_prob : array_like
        Loss probability :math:`p` of each packet, independent, in (0, 1].

    Returns
    -------
    float or ndarray
            :math:`E[N] = E[W] - 1.334` packets, with :func:`single_path_mean_window` for E[W], of the shape of the
            argument.

    Raises
    ------
    ParameterError
        As :func:`capsmodel.multipath.lia.single_path_window`.

    Notes
    -----
    Leading term as :math:`p \to 0`, for a constant round trip and bursts that are short beside it. What
    :func:`single_path_mean_window` leaves out of account changes the mean by a constant number of packets. With
    :math:`S = 0.9262`, so that :math:`pE[W]^2 = 2S^2`:

    1. *Bursts of whole packets.* Each ACK adds 2 to :math:`W^2`, as there. But a burst answers the ACKs of the burst
       before it and holds whole packets, :math:`W - \varphi`, with a fraction :math:`\varphi` of 1/2 on average. While
       :math:`W^2` grows by as much, that process sends :math:`W + 1/2`. So a packet takes :math:`1/(W-1)` of a round
       trip in place of :math:`1/W`, which costs :math:`E[W]\,E[1/W]` packets a round trip, that is
       :math:`pE[W]^2\ln 2 = 2S^2\ln 2` by the balance :math:`E[1/W] = p\ln2\,E[W]` of :math:`\ln W`.
    2. *Recovery.* Let the packet at the share :math:`u` of a burst be lost. :math:`W` packets, the :math:`(1-u)W`
       behind it and :math:`uW` of the next burst, leave before the retransmission: they neither open the window nor
       halve it when lost. That next burst has :math:`\max(u, \frac12)W` packets, the one after it :math:`W/2`; what
       they hold beyond those :math:`uW` keeps the pace of the halved window. This leaves
       :math:`2 + u - 2\max(u, \frac12)`, on average 5/4, round trips for the :math:`W` packets, in which
       :math:`\frac54E[W]` are due. There are :math:`pW` losses a round trip, so recovery costs
       :math:`\frac54pE[W]^2 - pE[W^2] = \frac52S^2 - 2`.
    3. *Halves.* FlightSize lies :math:`\varphi` below the window, its half 1/4 on average. If it is odd, the window
       leaves recovery half a packet below ssthresh, and the next ACK, in slow start, adds a packet: 1/4 more on
       average. The two cancel.

    *Bias.* :math:`\varphi` is not quite 1/2 (0.48 over time and 0.44 at losses; that costs 0.06 packets less). Several
    losses of one window and small windows add terms of the order of :math:`\sqrt p`. A lost retransmission, or the
    loss of the first packet beyond the recovery, waits for the timer, which takes packets off in proportion to
    :math:`p`. None of this is derived. Measured were -0.31, -0.13, -0.03, 0.02 and -0.10 packets, with standard errors
    from 0.02 to 0.06, at the loss probabilities 0.04, 0.02, 0.015, 0.007 and 0.003 with a timeout of ten round trips;
    declared are :math:`-0.1 - 6p` to 0.1 (`ROUND_TRIP_REMAINDER_PACKETS`, `TIMEOUT_REMAINDER_PACKETS`).

    References
    ----------
    Beyond the papers; the sender is that of RFC 6582, with RFC 3042 and option 1 of section 3.2.

    Examples
    --------
    >>> round(newreno_packets_per_rtt(0.02), 3)
    7.835
    """
    return plain(np.asarray(single_path_mean_window(loss_prob)) - ROUND_TRIP_COST_PACKETS)


@closed_form
def lia_mean_windows(loss_probs: ArrayLike, *, rtts_s: ArrayLike) -> FloatArray:
    r"""Return the mean windows over time of an LIA connection whose windows fluctuate independently, in packets.

    Parameters
    ----------
    loss_probs : array_like
        Loss probability :math:`p_i` of each path, in (0, 1); paths on the last axis. Broadcasts.
    rtts_s : array_like
        Round-trip time :math:`RTT_i` of each path in seconds, positive. Broadcasts.

    Returns
    -------
    ndarray
        :math:`E[W_i]` packets for each subflow, of the broadcast shape.

    Raises
    ------
    ParameterError
        If a loss probability is not in (0, 1) or an RTT is not positive.

    Notes
    -----
    Let every subflow grow by the same :math:`a` per ACK, steady because many subflows share in it. Between two losses a
    window then grows by an exponential number of mean :math:`a(1-p_i)/p_i`, so just before a loss it is that times
    :math:`Y = \sum_{k\ge0} 2^{-k}E_k`, and over time that times :math:`X`, which has the density of :math:`Y` weighted
    by :math:`1/y`; :math:`E[X] = 1/\ln 2 = 1.44` where the equilibrium has 2. With :math:`s_i = W_i^s` of
    :func:`capsmodel.multipath.lia.single_path_window` and :math:`a` from the mean of its maximum,

    .. math:: E[W_i] = \frac{s_i^2 R}{\sum_j s_j^2/RTT_j},\qquad
              R^2 = E\left[\max_j \frac{s_j^2}{RTT_j^2}\frac{X_j}{2}\right],

    where :math:`R = \sum_i E[W_i]/RTT_i` is the rate. :func:`capsmodel.multipath.lia.lia_equilibrium_windows` has
    :math:`R = \max_j s_j/RTT_j`. So the fluctuation takes the rate down to :math:`1/\sqrt{2\ln 2} = 0.849` of it where
    one path dominates, and above it on many identical paths: 0.977, 1.099 and 1.214 on 2, 4 and 8. Eq. 9 of the paper
    is therefore no bound: one TCP has 0.926.

    *Bias.* The truth lies between this and :func:`total_fluctuation_bias` above it. How the windows divide needs no
    independence: the balance of :math:`\ln W_i` gives :math:`E[W_i] \propto (1-p_i)/p_i` for every common :math:`a`, up
    to a relative error of the order of :math:`p_i` from steps of one packet, and the total has that error too. The cap
    of LIA, felt only on paths whose RTT is more than four times that of the best, is left out.

    References
    ----------
    Beyond the papers; the congestion control is that of dc2mtcp Eq. 2.

    Examples
    --------
    >>> lia_mean_windows([0.01] * 4, rtts_s=[1.0] * 4).round(3).tolist()
    [3.865, 3.865, 3.865, 3.865]
    """
    loss = np.atleast_1d(probability("loss_probs", loss_probs))
    require(loss > 0, "loss_probs holds 0, but without loss the window has no mean: give probabilities above 0")
    loss, rtts = np.broadcast_arrays(loss, np.atleast_1d(positive("rtts_s", rtts_s)))
    squares = 2 * (1 - loss) / loss
    rate = np.sqrt(_mean_maximum(squares / rtts**2) / 2)
    return np.asarray(squares * rate / np.sum(squares / rtts, axis=-1, keepdims=True))


@overload
def total_fluctuation_bias(loss_probs: FloatSequence, *, rtts_s: FloatSequence) -> float: ...
@overload
def total_fluctuation_bias(loss_probs: ArrayLike, *, rtts_s: ArrayLike) -> FloatOrArray: ...
@closed_form
def total_fluctuation_bias(loss_probs: ArrayLike, *, rtts_s: ArrayLike) -> FloatOrArray:
    r"""Return the most that the total of :func:`lia_mean_windows` lies below the truth, as a share; it is never above.

    Parameters
    ----------
    loss_probs, rtts_s : array_like
        As in :func:`lia_mean_windows`.

    Returns
    -------
    float or ndarray
        :math:`0.0905 \sum_i y_i^2` for path i's share :math:`y_i` of the rate; shape without the last axis.

    Raises
    ------
    ParameterError
        As :func:`lia_mean_windows`.

    Notes
    -----
    :func:`lia_mean_windows` takes the total rate as constant. It fluctuates too, and the mean growth, that of a maximum
    over the square of the total, gains by it. On one path all of the total fluctuates, and
    :func:`single_path_mean_window` is 9.05% above (`TOTAL_FLUCTUATION_BIAS`). Relative to its square, the variance of a
    sum of independent windows falls as :math:`\sum_i y_i^2`, and the gain with it.

    That it falls no more slowly is not proved. Measured were 4.4, 2.6, 1.5, 1.3 and 0.3% on two, three, four, five and
    eight identical paths (4.5, 3.0, 2.3, 1.8 and 1.1 by the formula), 5.0% on two with losses of 0.4 and 1.2% and RTTs
    of 1 and 2 (6.8), and less on others, with standard errors up to 0.5%.

    References
    ----------
    Beyond the papers; the congestion control is that of dc2mtcp Eq. 2.

    Examples
    --------
    >>> round(total_fluctuation_bias([0.01] * 4, rtts_s=[1.0] * 4), 4)
    0.0226
    """
    rates = lia_mean_windows(loss_probs, rtts_s=rtts_s) / np.asarray(rtts_s, float)
    shares = rates / np.sum(rates, axis=-1, keepdims=True)
    return plain(TOTAL_FLUCTUATION_BIAS * np.sum(shares**2, axis=-1))


def _mean_maximum(scales: FloatArray) -> FloatArray:
    """Return the mean of the largest of independent scale times X, with a last axis of length 1."""
    largest = np.max(scales, axis=-1, keepdims=True)
    below = 1 - _fluctuation_tail(np.exp(_STEPS)[:, np.newaxis] * (largest / scales)[..., np.newaxis, :])
    # Trapezoids in ln x: the integrand vanishes with all its derivatives at both ends.
    mean = np.sum((1 - np.prod(below, axis=-1)) * np.exp(_STEPS), axis=-1) * (_STEPS[1] - _STEPS[0])
    return np.asarray(largest * mean[..., np.newaxis])


def _fluctuation_tail(x: FloatArray) -> FloatArray:
    """Return P(X > x): the integral of the density of Y over y, term by term."""
    terms = sum(weight * rate * exp1(rate * x) for weight, rate in zip(_WEIGHTS, _RATES, strict=True))
    return np.asarray(np.clip(np.asarray(terms) / np.log(2), 0.0, 1.0))
