r"""Coded multipath transport of DC²-MTCP: how much to add and what it costs.

=========================  ========================  ===================================  =========  =================
Quantity                   Symbol                    Name                                 Unit       Equation
=========================  ========================  ===================================  =========  =================
loss of the connection     :math:`p`                 :func:`connection_loss_prob`         1          dc2mtcp Eq. 4
coded per original packet  :math:`\gamma_1/\lambda`  :func:`redundancy_ratio`             1          dc2mtcp Eq. 1, 5
coded packets per second   :math:`\gamma_1`          :func:`redundancy_rate_per_s`        packets/s  dc2mtcp Eq. 1, 5
the same, small flows      :math:`\gamma_2`          :func:`small_flow_redundancy_ratio`  1          dc2mtcp Eq. 10
whether a flow is small    :math:`W \le 5n`          :func:`is_small_flow`                1          dc2mtcp Eq. 10
length of header option    –                         :func:`coded_option_bytes`           bytes      dc2mtcp u (III-B)
work of decoding           –                         :func:`decoding_work_ratio`          1          dc2mtcp u (V)
C-O ratio                  –                         :func:`coded_original_ratio`         1          dc2mtcp u (VI)
delay added by coding      –                         :func:`total_coding_delay_s`         s          dc2mtcp u (VI)
=========================  ========================  ===================================  =========  =================

When to mix a coded packet is in :mod:`capsmodel.multipath.coding_schedule`, the congestion control below (LIA, the
Linked Increases Algorithm, and its equilibrium) in :mod:`capsmodel.multipath.lia`, what a loss costs without coding in
:mod:`capsmodel.multipath.timeouts`.
"""

from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    FloatSequence,
    choice,
    closed_form,
    non_negative,
    plain,
    positive,
    probability,
    require,
    whole,
)
from capsmodel.multipath.lia import LossForm, lia_loss_prob

Weight = Literal["window", "rate"]


@overload
def connection_loss_prob(
    windows_packets: FloatSequence, *, rtts_s: FloatSequence, weight: Weight = ..., form: LossForm = ...
) -> float: ...
@overload
def connection_loss_prob(
    windows_packets: ArrayLike, *, rtts_s: ArrayLike, weight: Weight = ..., form: LossForm = ...
) -> FloatOrArray: ...
@closed_form
def connection_loss_prob(
    windows_packets: ArrayLike,
    *,
    rtts_s: ArrayLike,
    weight: Weight = "window",
    form: LossForm = "rfc6356",
) -> FloatOrArray:
    r"""Return the loss probability of a packet of the whole LIA connection, from its windows and RTTs.

    Parameters
    ----------
    windows_packets, rtts_s : array_like
        As in :func:`capsmodel.multipath.lia.lia_alpha`; subflows on the last axis.
    weight : {"window", "rate"}, optional
        Average the :math:`p_i` by window :math:`W_i`, as the paper does, or by rate :math:`W_i/RTT_i`, which counts
        packets and is right when the RTTs differ.
    form : {"rfc6356", "uncapped", "printed"}, optional
        As in :func:`capsmodel.multipath.lia.lia_loss_prob`; Eq. 4 as printed exceeds 1.

    Returns
    -------
    float or ndarray
        :math:`p`, of the broadcast shape without the last axis.

    Raises
    ------
    ParameterError
        As :func:`capsmodel.multipath.lia.lia_loss_prob`, or if `weight` is unknown.

    Notes
    -----
    Eq. 4 carries the slip of Eq. 7; here
    :math:`p = \frac{1}{W} \sum_i \frac{2\alpha W_i}{2\alpha + W_i W}` (without the cap).

    References
    ----------
    dc2mtcp Eq. 4.

    Examples
    --------
    >>> round(connection_loss_prob([5, 5], rtts_s=[1e-3, 1e-3]), 6)
    0.019608
    """
    choice("weight", weight, get_args(Weight))
    windows, rtts = np.broadcast_arrays(
        np.atleast_1d(positive("windows_packets", windows_packets)), np.atleast_1d(positive("rtts_s", rtts_s))
    )
    shares = windows if weight == "window" else windows / rtts
    loss = lia_loss_prob(windows, rtts_s=rtts, form=form)
    return plain(np.sum(shares * loss, axis=-1) / np.sum(shares, axis=-1))


@overload
def redundancy_ratio(loss_prob: float) -> float: ...
@overload
def redundancy_ratio(loss_prob: ArrayLike) -> FloatArray: ...
@closed_form
def redundancy_ratio(loss_prob: ArrayLike) -> FloatOrArray:
    r"""Return how many coded packets to send for each original packet so that losses are made up for on average.

    Parameters
    ----------
    loss_prob : array_like
        Loss probability :math:`p` of the connection, in [0, 1).

    Returns
    -------
    float or ndarray
        :math:`\gamma_1/\lambda = p/(1-p)`, of the shape of the argument. Algorithm 1 of the paper adds this ratio for
        every packet, while its Eq. 5 prints the rate :func:`redundancy_rate_per_s`.

    Raises
    ------
    ParameterError
        If `loss_prob` is not in [0, 1).

    References
    ----------
    dc2mtcp Eq. 1, 5; dc2mtcp u (IV-B) redundancy rate.

    Examples
    --------
    >>> redundancy_ratio(0.2)
    0.25
    """
    loss = probability("loss_prob", loss_prob)
    return plain(loss / (1 - loss))


@overload
def redundancy_rate_per_s(loss_prob: float, *, packets_per_s: float) -> float: ...
@overload
def redundancy_rate_per_s(loss_prob: ArrayLike, *, packets_per_s: ArrayLike) -> FloatArray: ...
@closed_form
def redundancy_rate_per_s(loss_prob: ArrayLike, *, packets_per_s: ArrayLike) -> FloatOrArray:
    r"""Return the coded packets per second on a subflow or a connection.

    Parameters
    ----------
    loss_prob : array_like
        Loss probability :math:`p` of the *connection*, in [0, 1). Broadcasts.
    packets_per_s : array_like
        Rate of original packets, :math:`\lambda_i` of a subflow or :math:`\lambda` of the connection. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`\gamma_1 = \lambda p/(1-p)` packets per second, of the broadcast shape.

    Raises
    ------
    ParameterError
        If `loss_prob` is not in [0, 1) or `packets_per_s` is negative.

    References
    ----------
    dc2mtcp Eq. 1, 5; dc2mtcp u (IV-B) redundancy rate.

    Examples
    --------
    >>> redundancy_rate_per_s(0.2, packets_per_s=1000)
    250.0
    """
    return plain(redundancy_ratio(loss_prob) * non_negative("packets_per_s", packets_per_s))


@overload
def small_flow_redundancy_ratio(total_window_packets: float) -> float: ...
@overload
def small_flow_redundancy_ratio(total_window_packets: ArrayLike) -> FloatArray: ...
@closed_form
def small_flow_redundancy_ratio(total_window_packets: ArrayLike) -> FloatOrArray:
    r"""Return how many coded packets to send for each original packet of a small flow: one for each total window.

    Parameters
    ----------
    total_window_packets : array_like
        Sum :math:`W` of the windows of all subflows in packets, positive.

    Returns
    -------
    float or ndarray
        :math:`\gamma_2 = 1/W`, of the shape of the argument.

    Raises
    ------
    ParameterError
        If `total_window_packets` is not positive.

    Notes
    -----
    The paper applies it while :math:`W \le 5n` with :math:`n` subflows, see :func:`is_small_flow`.

    References
    ----------
    dc2mtcp Eq. 10.

    Examples
    --------
    >>> small_flow_redundancy_ratio(20)
    0.05
    """
    return plain(1 / positive("total_window_packets", total_window_packets))


@overload
def is_small_flow(total_window_packets: float, *, n_subflows: float) -> bool: ...
@overload
def is_small_flow(total_window_packets: ArrayLike, *, n_subflows: ArrayLike) -> NDArray[np.bool_]: ...
@closed_form
def is_small_flow(total_window_packets: ArrayLike, *, n_subflows: ArrayLike) -> bool | NDArray[np.bool_]:
    r"""Return whether a connection counts as a small flow: its windows hold five packets or less on average.

    Parameters
    ----------
    total_window_packets : array_like
        Sum :math:`W` of the windows of all subflows in packets, positive. Broadcasts.
    n_subflows : array_like
        Subflows :math:`n`, a whole number of at least 1. Broadcasts.

    Returns
    -------
    bool or ndarray of bool
        :math:`W \le 5n`, of the broadcast shape.

    Raises
    ------
    ParameterError
        If the window is not positive or `n_subflows` no whole number of at least 1.

    References
    ----------
    dc2mtcp Eq. 10.

    Examples
    --------
    >>> is_small_flow(20, n_subflows=4), is_small_flow(21, n_subflows=4)
    (True, False)
    """
    total = positive("total_window_packets", total_window_packets)
    small: NDArray[np.bool_] = np.asarray(total <= 5 * whole("n_subflows", n_subflows, minimum=1))
    return small if small.ndim else small.item()


@overload
def coded_option_bytes(mixed_packets: float) -> float: ...
@overload
def coded_option_bytes(mixed_packets: ArrayLike) -> FloatArray: ...
@closed_form
def coded_option_bytes(mixed_packets: ArrayLike) -> FloatOrArray:
    r"""Return the length of the DC² option in the TCP header of a packet, in bytes.

    Parameters
    ----------
    mixed_packets : array_like
        Original packets :math:`n` mixed in the coded packet; 0 marks an original packet.

    Returns
    -------
    float or ndarray
        :math:`1 + 2(n-1) + n = 3n - 1` bytes (count, offsets of the other packets, coefficients in GF(256)), and 1 for
        :math:`n = 0`, where the printed form would give -1.

    Raises
    ------
    ParameterError
        If `mixed_packets` is no whole number of at least 0.

    Notes
    -----
    TCP has room for 40 bytes of options, so :math:`n \le 13`; the paper's :math:`C_{max} = 15` needs 44.

    References
    ----------
    dc2mtcp u (III-B) option length.

    Examples
    --------
    >>> coded_option_bytes([0, 1, 13, 15]).tolist()
    [1.0, 2.0, 38.0, 44.0]
    """
    mixed = whole("mixed_packets", mixed_packets)
    return plain(np.maximum(3 * mixed - 1, 1.0))


@overload
def decoding_work_ratio(coded: float, *, original: float) -> float: ...
@overload
def decoding_work_ratio(coded: ArrayLike, *, original: ArrayLike) -> FloatArray: ...
@closed_form
def decoding_work_ratio(coded: ArrayLike, *, original: ArrayLike) -> FloatOrArray:
    r"""Return the work of preemptive decoding as a share of the work of Gauss-Jordan elimination.

    Parameters
    ----------
    coded : array_like
        Coded packets :math:`l` in the decoding matrix, a whole number of at least 0. Broadcasts.
    original : array_like
        Original packets :math:`m` in it, a whole number of at least 0. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`l(m+l)/(m+l)^2 = l/(m+l)`, of the broadcast shape; a ratio of operation orders, not of seconds.

    Raises
    ------
    ParameterError
        If an argument is no whole number, or the matrix has no rows.

    References
    ----------
    dc2mtcp u (V) decoding work.

    Examples
    --------
    >>> decoding_work_ratio(1, original=19)
    0.05
    """
    combined = whole("coded", coded)
    rows = combined + whole("original", original)
    require(rows > 0, "coded and original are both 0, but a decoding matrix has at least one row")
    return plain(combined / rows)


@overload
def coded_original_ratio(coded: float, *, original: float) -> float: ...
@overload
def coded_original_ratio(coded: ArrayLike, *, original: ArrayLike) -> FloatArray: ...
@closed_form
def coded_original_ratio(coded: ArrayLike, *, original: ArrayLike) -> FloatOrArray:
    """Return the coded packets sent for each original packet, as a ratio (the C-O ratio).

    Parameters
    ----------
    coded : array_like
        Coded packets sent, a whole number of at least 0. Broadcasts.
    original : array_like
        Original packets sent, a whole number of at least 1. Broadcasts.

    Returns
    -------
    float or ndarray
        Ratio, of the broadcast shape.

    Raises
    ------
    ParameterError
        If an argument is out of its range.

    References
    ----------
    dc2mtcp u (VI) metrics.

    Examples
    --------
    >>> coded_original_ratio(5, original=1000)
    0.005
    """
    return plain(whole("coded", coded) / whole("original", original, minimum=1))


@overload
def total_coding_delay_s(coded: float, *, coding_delay_s: float) -> float: ...
@overload
def total_coding_delay_s(coded: ArrayLike, *, coding_delay_s: ArrayLike) -> FloatArray: ...
@closed_form
def total_coding_delay_s(coded: ArrayLike, *, coding_delay_s: ArrayLike) -> FloatOrArray:
    """Return the delay that coding adds to a flow in total, in seconds.

    Parameters
    ----------
    coded : array_like
        Coded packets sent, a whole number of at least 0. Broadcasts.
    coding_delay_s : array_like
        Delay of coding one packet in seconds, not negative. Broadcasts.

    Returns
    -------
    float or ndarray
        Their product in seconds, of the broadcast shape.

    Raises
    ------
    ParameterError
        If an argument is out of its range.

    References
    ----------
    dc2mtcp u (VI) metrics.

    Examples
    --------
    >>> total_coding_delay_s(5, coding_delay_s=0.25)
    1.25
    """
    return plain(whole("coded", coded) * non_negative("coding_delay_s", coding_delay_s))
