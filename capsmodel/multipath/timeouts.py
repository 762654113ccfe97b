r"""Loss recovery without coding: timeouts, what they cost a flow, and the buffer that waits meanwhile.

========================  ==============  ===========================  ====  =================
Quantity                  Symbol          Name                         Unit  Equation
========================  ==============  ===========================  ====  =================
probability of a timeout  :math:`P_{to}`  :func:`timeout_prob`         1     dc2mtcp Eq. 6
FCT with a timeout        –               :func:`retransmitted_fct_s`  s     dc2mtcp u (III-A)
FCT with a coded packet   –               :func:`coded_fct_s`          s     dc2mtcp u (III-A)
reorder buffer            :math:`B_{fr}`  :func:`reorder_buffer_bits`  bit   dc2mtcp u (IV-B)
========================  ==============  ===========================  ====  =================
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, xlog1py

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    FloatSequence,
    closed_form,
    flag,
    non_negative,
    plain,
    positive,
    probability,
    whole,
)


@overload
def timeout_prob(window_packets: float, *, loss_prob: float, exact: bool = ...) -> float: ...
@overload
def timeout_prob(window_packets: ArrayLike, *, loss_prob: ArrayLike, exact: bool = ...) -> FloatArray: ...
@closed_form
def timeout_prob(window_packets: ArrayLike, *, loss_prob: ArrayLike, exact: bool = False) -> FloatOrArray:
    r"""Return the probability that too few duplicate ACKs follow a loss in a window, so that it ends in a timeout.

    Parameters
    ----------
    window_packets : array_like
        Window :math:`W` in packets, a whole number of at least 1. Broadcasts.
    loss_prob : array_like
        Loss probability :math:`p` of each packet, independent, in [0, 1]. Broadcasts.
    exact : bool, optional
        Count only packets behind the first loss, as duplicate ACKs do; otherwise the paper's form.

    Returns
    -------
    float or ndarray
        Probability, of the broadcast shape.

    Raises
    ------
    ParameterError
        If `window_packets` is no whole number of at least 1, or `loss_prob` lies outside [0, 1].

    Notes
    -----
    The paper takes any loss for :math:`W \le 3` and at most two survivors for :math:`W > 3`:
    :math:`1-(1-p)^W` or :math:`P(\mathrm{Bin}(W, 1-p) \le 2) = I_p(W-2, 3)`. The latter is a lower bound, since packets
    ahead of the first loss raise no duplicate ACK. With :math:`m` packets behind it, exactly

    .. math:: P = \sum_{m=0}^{W-1} (1-p)^{W-1-m}\, p\, P(\mathrm{Bin}(m, 1-p) \le 2),

    the same for :math:`W \le 3` and 0.1426 against 0.0140 for :math:`W = 4`, :math:`p = 0.05`. The paper prints both
    :math:`p` and :math:`p_i`; only the loss of the path is meant.

    References
    ----------
    dc2mtcp Eq. 6.

    Examples
    --------
    >>> round(timeout_prob(4, loss_prob=0.05), 4), round(timeout_prob(4, loss_prob=0.05, exact=True), 4)
    (0.014, 0.1426)
    """
    window = whole("window_packets", window_packets, minimum=1)
    loss = probability("loss_prob", loss_prob, one=True)
    if flag("exact", exact):
        return plain(_timeout_prob_exact(*np.broadcast_arrays(window, loss)))
    any_lost = -np.expm1(xlog1py(window, -loss))
    return plain(np.where(window <= 3, any_lost, betainc(np.maximum(window - 2, 1), 3, loss)))


_MOST_TERMS = 4096
"""Terms of the exact timeout probability. Beyond a window of 4096 the sum is 0 in double precision unless the less
likely of loss and survival has p < 745/4096, and then its terms fall at least by 0.22 each from the end that is summed
first."""


def _timeout_prob_exact(window: FloatArray, loss: FloatArray) -> FloatArray:
    window, loss = window[..., np.newaxis], loss[..., np.newaxis]
    index = np.arange(min(np.max(window, initial=1), _MOST_TERMS))
    behind = np.where(loss <= 0.5, index, window - 1 - index)  # packets behind the first loss, likeliest first
    inside = index < window
    few = np.where(behind <= 2, 1.0, betainc(np.maximum(behind - 2, 1), 3, loss))
    ahead = np.where(inside, window - 1 - behind, 0)
    return np.asarray(np.sum(np.where(inside, np.exp(xlog1py(ahead, -loss)) * loss * few, 0.0), axis=-1))


@overload
def retransmitted_fct_s(rto_s: float, *, rtt_s: float) -> float: ...
@overload
def retransmitted_fct_s(rto_s: ArrayLike, *, rtt_s: ArrayLike) -> FloatArray: ...
@closed_form
def retransmitted_fct_s(rto_s: ArrayLike, *, rtt_s: ArrayLike) -> FloatOrArray:
    """Return the completion time of a flow whose lost packet is retransmitted after a timeout, in seconds.

    Parameters
    ----------
    rto_s : array_like
        Retransmission timeout in seconds, not negative. Broadcasts.
    rtt_s : array_like
        Round-trip time of the subflow that retransmits, in seconds, positive. Broadcasts.

    Returns
    -------
    float or ndarray
        The timeout and half a round trip, in seconds, of the broadcast shape.

    Raises
    ------
    ParameterError
        If `rto_s` is negative or `rtt_s` not positive.

    Notes
    -----
    The paper's example retransmits on the original subflow, while its Section II says that IETF-MPTCP picks the best.

    References
    ----------
    dc2mtcp u (III-A) example.

    Examples
    --------
    >>> retransmitted_fct_s(0.2, rtt_s=0.004)
    0.202
    """
    return plain(non_negative("rto_s", rto_s) + positive("rtt_s", rtt_s) / 2)


@overload
def coded_fct_s(rtt_s: float) -> float: ...
@overload
def coded_fct_s(rtt_s: ArrayLike) -> FloatArray: ...
@closed_form
def coded_fct_s(rtt_s: ArrayLike) -> FloatOrArray:
    """Return the completion time of the same flow when a coded packet follows one round trip later, in seconds.

    Parameters
    ----------
    rtt_s : array_like
        Round-trip time of the subflow that carries the coded packet, in seconds, positive.

    Returns
    -------
    float or ndarray
        One and a half round trips in seconds, of the shape of the argument.

    Raises
    ------
    ParameterError
        If `rtt_s` is not positive.

    References
    ----------
    dc2mtcp u (III-A) example.

    Examples
    --------
    >>> coded_fct_s(0.001)
    0.0015
    """
    return plain(1.5 * positive("rtt_s", rtt_s))


@overload
def reorder_buffer_bits(rates_bps: FloatSequence, *, rtts_s: FloatSequence) -> float: ...
@overload
def reorder_buffer_bits(rates_bps: ArrayLike, *, rtts_s: ArrayLike) -> FloatOrArray: ...
@closed_form
def reorder_buffer_bits(rates_bps: ArrayLike, *, rtts_s: ArrayLike) -> FloatOrArray:
    r"""Return the receive buffer that holds what arrives while the slowest subflow retransmits, in bits.

    Parameters
    ----------
    rates_bps : array_like
        Capacity :math:`BW_i` of each subflow in bits per second, positive; subflows on the last axis. Broadcasts.
    rtts_s : array_like
        Round-trip time of each subflow in seconds, positive. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`B_{fr} = \sum_i BW_i \cdot \max_i RTT_i` bits, of the broadcast shape without the last axis.

    Raises
    ------
    ParameterError
        If a rate or an RTT is not positive.

    References
    ----------
    dc2mtcp u (IV-B) reorder buffer.

    Examples
    --------
    >>> reorder_buffer_bits([10e9] * 8, rtts_s=1.5e-3)
    120000000.0
    """
    rates, rtts = np.broadcast_arrays(
        np.atleast_1d(positive("rates_bps", rates_bps)), np.atleast_1d(positive("rtts_s", rtts_s))
    )
    return plain(np.sum(rates, axis=-1) * np.max(rtts, axis=-1))
