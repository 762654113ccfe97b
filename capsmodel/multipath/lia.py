r"""Coupled congestion control of multipath TCP: window growth, equilibrium, and the losses a window implies.

In every function of subflows the last axis runs over the subflows of one connection, the others broadcast.

========================  =============================  ===============================  =========  =============
Quantity                  Symbol                         Name                             Unit       Equation
========================  =============================  ===============================  =========  =============
aggressiveness of LIA     :math:`\alpha`                 :func:`lia_alpha`                1          dc2mtcp Eq. 2
growth per ACK, LIA       :math:`\min(\alpha/W, 1/W_i)`  :func:`lia_increase`             packets    dc2mtcp Eq. 2
the same, fully coupled   :math:`1/W`                    :func:`fully_coupled_increase`   packets    mmptcp u (3)
the same, uncoupled       :math:`1/W_i`                  :func:`uncoupled_increase`       packets    mmptcp u (3)
window of one TCP         :math:`W^s`                    :func:`single_path_window`       packets    dc2mtcp Eq. 8
rate of the best one TCP  :math:`\max_i W_i^s/RTT_i`     :func:`best_path_rate_per_s`     packets/s  dc2mtcp Eq. 9
equilibrium windows, LIA  :math:`W_i`                    :func:`lia_equilibrium_windows`  packets    dc2mtcp Eq. 3
loss that keeps a window  :math:`p_i`                    :func:`lia_loss_prob`            1          dc2mtcp Eq. 7
========================  =============================  ===============================  =========  =============
"""

from math import log
from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    FloatSequence,
    choice,
    closed_form,
    plain,
    positive,
    probability,
    require,
)

LossForm = Literal["rfc6356", "uncapped", "printed"]

WINDOW_FLUCTUATION_BIAS = 1 - (2 * log(2)) ** -0.5
"""Most that the mean of fluctuating windows lies below `lia_equilibrium_windows`, as a share of their total: 0.151,
derived in its Notes. On identical paths it may lie above."""


def _subflows(windows_packets: ArrayLike, rtts_s: ArrayLike) -> tuple[FloatArray, FloatArray]:
    windows = np.atleast_1d(positive("windows_packets", windows_packets))
    rtts = np.atleast_1d(positive("rtts_s", rtts_s))
    return windows, rtts


def _coupled_increase(windows: FloatArray, rtts: FloatArray) -> FloatArray:
    """Return alpha over the total window, with a last axis of length 1."""
    # RTTs relative to the largest one: alpha has no unit, and microseconds squared would waste range.
    relative = rtts / np.max(rtts, axis=-1, keepdims=True)
    best = np.max(windows / relative**2, axis=-1, keepdims=True)
    return np.asarray(best / np.sum(windows / relative, axis=-1, keepdims=True) ** 2)


@overload
def lia_alpha(windows_packets: FloatSequence, *, rtts_s: FloatSequence) -> float: ...
@overload
def lia_alpha(windows_packets: ArrayLike, *, rtts_s: ArrayLike) -> FloatOrArray: ...
@closed_form
def lia_alpha(windows_packets: ArrayLike, *, rtts_s: ArrayLike) -> FloatOrArray:
    r"""Return the aggressiveness of the Linked Increases Algorithm (LIA) for multipath TCP.

    Parameters
    ----------
    windows_packets : array_like
        Congestion window :math:`W_i` of each subflow in packets, positive; subflows on the last axis. Broadcasts.
    rtts_s : array_like
        Round-trip time :math:`RTT_i` of each subflow in seconds, positive. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`\alpha = W \max_i(W_i/RTT_i^2) / (\sum_i W_i/RTT_i)^2` with :math:`W = \sum_i W_i`, of the broadcast
        shape without the last axis; 1 for a single subflow.

    Raises
    ------
    ParameterError
        If a window or an RTT is not positive.

    References
    ----------
    dc2mtcp Eq. 2. The same as RFC 6356, Section 3.

    Examples
    --------
    >>> lia_alpha([10, 10], rtts_s=[1e-3, 1e-3])
    0.5
    """
    windows, rtts = np.broadcast_arrays(*_subflows(windows_packets, rtts_s))
    return plain(np.sum(windows, axis=-1) * _coupled_increase(windows, rtts)[..., 0])


@closed_form
def lia_increase(windows_packets: ArrayLike, *, rtts_s: ArrayLike) -> FloatArray:
    r"""Return the growth of a subflow's window for each of its ACKs under LIA, in packets.

    Parameters
    ----------
    windows_packets, rtts_s : array_like
        As in :func:`lia_alpha`.

    Returns
    -------
    ndarray
        :math:`\min(\alpha/W, 1/W_i)` packets for each subflow, of the broadcast shape.

    Raises
    ------
    ParameterError
        As :func:`lia_alpha`.

    References
    ----------
    dc2mtcp Eq. 2.

    Examples
    --------
    >>> lia_increase([10, 10], rtts_s=[1e-3, 1e-3]).tolist()
    [0.025, 0.025]
    """
    windows, rtts = np.broadcast_arrays(*_subflows(windows_packets, rtts_s))
    return np.minimum(_coupled_increase(windows, rtts), 1 / windows)


@closed_form
def fully_coupled_increase(windows_packets: ArrayLike) -> FloatArray:
    r"""Return the growth of a subflow's window for each of its ACKs under fully coupled control, in packets.

    Parameters
    ----------
    windows_packets : array_like
        Congestion window of each subflow in packets, positive; subflows on the last axis.

    Returns
    -------
    ndarray
        :math:`1/W`, the same for every subflow, of the shape of the argument. On a loss the subflow gives up half of
        the *total* window, down to one packet, so that traffic moves to the best path.

    Raises
    ------
    ParameterError
        If a window is not positive.

    References
    ----------
    mmptcp u (3) congestion control: the paper compares it as FC and takes it from its references.

    Examples
    --------
    >>> fully_coupled_increase([4, 12]).tolist()
    [0.0625, 0.0625]
    """
    windows = np.atleast_1d(positive("windows_packets", windows_packets))
    return np.broadcast_to(1 / np.sum(windows, axis=-1, keepdims=True), windows.shape).copy()


@closed_form
def uncoupled_increase(windows_packets: ArrayLike) -> FloatArray:
    r"""Return the growth of a subflow's window for each ACK when every subflow is a TCP of its own, in packets.

    Parameters
    ----------
    windows_packets : array_like
        Congestion window of each subflow in packets, positive.

    Returns
    -------
    ndarray
        :math:`1/W_i`, of the shape of the argument.

    Raises
    ------
    ParameterError
        If a window is not positive.

    References
    ----------
    mmptcp u (3) congestion control: the paper compares it as UC.

    Examples
    --------
    >>> uncoupled_increase([4, 10]).tolist()
    [0.25, 0.1]
    """
    return 1 / np.atleast_1d(positive("windows_packets", windows_packets))


@overload
def single_path_window(loss_prob: float) -> float: ...
@overload
def single_path_window(loss_prob: ArrayLike) -> FloatArray: ...
@closed_form
def single_path_window(loss_prob: ArrayLike) -> FloatOrArray:
    r"""Return the window at which one TCP grows as much as it shrinks, in packets.

    Parameters
    ----------
    loss_prob : array_like
        Loss probability :math:`p` of the path, in (0, 1].

    Returns
    -------
    float or ndarray
        :math:`W^s = \sqrt{2(1-p)/p}` packets, of the shape of the argument.

    Raises
    ------
    ParameterError
        If `loss_prob` is 0, where the window has no bound, or lies outside [0, 1].

    Notes
    -----
    Balance of :math:`(1-p)/W^s` and :math:`p W^s/2` for each packet; no timeouts, no minimum window. A window that
    halves at each loss has this as its root mean square; its mean is
    :func:`capsmodel.multipath.sawtooth.single_path_mean_window`.

    References
    ----------
    dc2mtcp Eq. 8.

    Examples
    --------
    >>> single_path_window(0.02)
    9.899494936611665
    """
    loss = probability("loss_prob", loss_prob, one=True)
    require(loss > 0, "loss_prob = 0, but without loss the window has no equilibrium: give a probability above 0")
    return plain(_window_alone(loss))


def _window_alone(loss: FloatArray) -> FloatArray:
    """Return sqrt(2 (1 - p)/p); the powers of two cancel, and 2/p alone would overflow below p = 1e-308."""
    return np.sqrt(2 * (1 - loss) / (loss * 2.0**200)) * 2.0**100


@overload
def best_path_rate_per_s(loss_probs: FloatSequence, *, rtts_s: FloatSequence) -> float: ...
@overload
def best_path_rate_per_s(loss_probs: ArrayLike, *, rtts_s: ArrayLike) -> FloatOrArray: ...
@closed_form
def best_path_rate_per_s(loss_probs: ArrayLike, *, rtts_s: ArrayLike) -> FloatOrArray:
    r"""Return the rate of one TCP on the path that serves it best, in packets per second.

    Parameters
    ----------
    loss_probs : array_like
        Loss probability :math:`p_i` of each path, in (0, 1]; paths on the last axis. Broadcasts.
    rtts_s : array_like
        Round-trip time of each path in seconds, positive. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`\max_i W_i^s/RTT_i`, of the broadcast shape without the last axis.

    Raises
    ------
    ParameterError
        As :func:`single_path_window`, or if an RTT is not positive.

    Notes
    -----
    The paper bounds the rate of LIA by it. The bound is met with equality at the equilibrium of
    :func:`lia_equilibrium_windows`, and the cap of LIA changes nothing in that: see there. Windows that fluctuate go
    beyond it on identical paths: see :func:`capsmodel.multipath.sawtooth.lia_mean_windows`.

    References
    ----------
    dc2mtcp Eq. 9.

    Examples
    --------
    >>> best_path_rate_per_s([2 / 3, 2 / 18], rtts_s=[1.0, 4.0])
    1.0
    """
    loss, rtts = _paths(loss_probs, rtts_s)
    return plain(np.max(np.asarray(single_path_window(loss)) / rtts, axis=-1))


def _paths(loss_probs: ArrayLike, rtts_s: ArrayLike) -> tuple[FloatArray, FloatArray]:
    loss = np.atleast_1d(probability("loss_probs", loss_probs))
    require(loss > 0, "loss_probs holds 0, but without loss the window has no equilibrium: give probabilities above 0")
    return loss, np.atleast_1d(positive("rtts_s", rtts_s))


@closed_form
def lia_equilibrium_windows(loss_probs: ArrayLike, *, rtts_s: ArrayLike) -> FloatArray:
    r"""Return the windows at which every subflow of an LIA connection grows as much as it shrinks, in packets.

    Parameters
    ----------
    loss_probs : array_like
        Loss probability :math:`p_i` of each path, in (0, 1); paths on the last axis. Broadcasts.
    rtts_s : array_like
        Round-trip time :math:`RTT_i` of each path in seconds, positive. Broadcasts.

    Returns
    -------
    ndarray
        :math:`W_i` packets for each subflow, of the broadcast shape; :func:`single_path_window` for one path.

    Raises
    ------
    ParameterError
        If a loss probability is not in (0, 1) or an RTT is not positive.

    Notes
    -----
    The balance is :math:`\min(\alpha/W, 1/W_i)(1-p_i) = p_i W_i/2`, with the cap of RFC 6356, which the paper's Eq. 3
    drops. With :math:`s_i = W_i^s` and :math:`c = \alpha/W` it reads :math:`W_i = \min(c s_i^2, s_i)`, where :math:`c`
    depends on all windows. It has one solution, which is found exactly, without iteration:

    1. Let :math:`x_i = W_i/RTT_i` and :math:`R = \sum_i x_i`, so that :math:`c = \max_i(x_i/RTT_i)/R^2`. The path
       where this maximum lies is not strictly capped: there :math:`W_i = s_i` gives
       :math:`c s_i = x_i^2/R^2 \le 1`. So on it :math:`W_i = c s_i^2`, hence :math:`R = s_i/RTT_i`.
    2. No path has a larger :math:`s_j/RTT_j`: a capped one has :math:`s_j/RTT_j = x_j \le R`, an uncapped one
       :math:`c s_j^2/RTT_j^2 \le c R^2`. Hence :math:`R = \max_j s_j/RTT_j`.
    3. :math:`\sum_i \min(c s_i^2, s_i)/RTT_i = R` fixes :math:`c`: the left side is piecewise linear in :math:`c`, with
       a kink at each :math:`1/s_i`, and rises from 0 to at least :math:`R`.

    Step 2 is Eq. 9 as an equality, with the cap as without it. Timeouts and a minimum window are left out, so values
    below about 2 packets have no counterpart in a real sender.

    *Bias.* The balance treats a window as a number, but each loss halves it, however small the loss probability is. On
    one path the balance holds exactly for :math:`E[W^2]`, so the mean lies below: 0.926 of :math:`W^s`. On several,
    :math:`\alpha` takes the largest window of the moment, which exceeds the largest mean.
    :func:`capsmodel.multipath.sawtooth.lia_mean_windows` takes both into account: the total lies down to
    :math:`1/\sqrt{2\ln2}`, that is 15.1% (`WINDOW_FLUCTUATION_BIAS`) below where one path dominates, and above on many
    identical paths, by 10% on four, 14% on five, 17% on six. For identical paths the lower end is a bound: with no cap
    :math:`p\ln2\,E[W_i] = E[\alpha/W]` from the balance of :math:`\ln W_i`, :math:`\alpha/W \ge 1/(nW)`, and Jensen's
    inequality. How the total divides over the paths is right up to a relative error of the order of :math:`p_i`.

    References
    ----------
    dc2mtcp Eq. 3, 9.

    Examples
    --------
    >>> lia_equilibrium_windows([2 / 102, 2 / 102], rtts_s=[1e-3, 1e-3]).round(12).tolist()
    [5.0, 5.0]
    """
    loss, rtts = np.broadcast_arrays(*_paths(loss_probs, rtts_s))
    alone = _window_alone(loss)  # s_i, the window of one TCP on path i
    # Path i is capped, W_i = s_i, where c s_i >= 1. In order of falling s the capped paths are the first m.
    order = np.argsort(-alone, axis=-1)
    size = np.take_along_axis(alone, order, axis=-1)
    rate = size / np.take_along_axis(rtts, order, axis=-1)  # s_i / RTT_i, the rate at the cap
    target = np.max(rate, axis=-1, keepdims=True)  # R, by step 2
    # With m capped paths, step 3 reads: (rates of the first m) + c (sum of s_i^2 / RTT_i over the others) = R.
    capped_rate = np.cumsum(rate, axis=-1)  # entry m - 1: rates of the first m
    weight = rate * size  # s_i^2 / RTT_i
    free_weight = np.cumsum(weight[..., ::-1], axis=-1)[..., ::-1]  # entry m: of all but the first m
    # The left side at the kink c = 1/s of each path, where that path is just capped: below R, c lies beyond the kink.
    free_behind = np.concatenate([free_weight[..., 1:], np.zeros_like(target)], axis=-1)
    n_capped = np.sum(capped_rate + free_behind / size < target, axis=-1, keepdims=True)  # m
    capped_before = np.concatenate([np.zeros_like(target), capped_rate], axis=-1)  # entry m: rates of the first m
    rest = target - np.take_along_axis(capped_before, n_capped, axis=-1)
    coupling = rest / np.take_along_axis(free_weight, n_capped, axis=-1)  # c
    return np.asarray(np.minimum(coupling * alone**2, alone))


@closed_form
def lia_loss_prob(windows_packets: ArrayLike, *, rtts_s: ArrayLike, form: LossForm = "rfc6356") -> FloatArray:
    r"""Return the loss probability at which each LIA subflow would keep its present window.

    Parameters
    ----------
    windows_packets, rtts_s : array_like
        As in :func:`lia_alpha`.
    form : {"rfc6356", "uncapped", "printed"}, optional
        With the cap of LIA; without it, which is Eq. 7 with its fraction corrected; or Eq. 7 as printed, which is no
        probability (6.67 at :math:`\alpha = 1`, :math:`W_i = 10`, :math:`W = 40`) and serves comparison only.

    Returns
    -------
    ndarray
        :math:`p_i = 2a_i/(2a_i + W_i)` with the growth per ACK :math:`a_i = \min(\alpha/W, 1/W_i)`, of the broadcast
        shape. Without the cap it is :math:`2\alpha/(2\alpha + W_i W)`, printed as :math:`2\alpha/(2\alpha + W_i)\,W`.

    Raises
    ------
    ParameterError
        As :func:`lia_alpha`, or if `form` is unknown.

    Notes
    -----
    ``"rfc6356"`` is the inverse of :func:`lia_equilibrium_windows`; it differs from ``"uncapped"`` only on subflows
    with :math:`1/W_i < \alpha/W`.

    References
    ----------
    dc2mtcp Eq. 3, 7.

    Examples
    --------
    >>> lia_loss_prob([5, 5], rtts_s=[1e-3, 1e-3]).round(12).tolist() == [round(2 / 102, 12)] * 2
    True
    """
    choice("form", form, get_args(LossForm))
    windows, rtts = np.broadcast_arrays(*_subflows(windows_packets, rtts_s))
    coupled = _coupled_increase(windows, rtts)
    if form == "printed":
        total = np.sum(windows, axis=-1, keepdims=True)
        return np.asarray(2 * coupled * total / (2 * coupled * total + windows) * total)
    growth = np.minimum(coupled, 1 / windows) if form == "rfc6356" else coupled
    return np.asarray(2 * growth / (2 * growth + windows))
