r"""Windows of fully coupled multipath TCP, whose subflows grow and shrink as one: equilibrium, and means over time.

===========================  ==============  ====================================  =======  =================
Quantity                     Symbol          Name                                  Unit     Equation
===========================  ==============  ====================================  =======  =================
total window at equilibrium  :math:`W`       :func:`fully_coupled_total_window`    packets  beyond the papers
mean windows of two          :math:`E[W_i]`  :func:`fully_coupled_mean_windows`    packets  beyond the papers
===========================  ==============  ====================================  =======  =================

The growth for each acknowledgement is :func:`capsmodel.multipath.lia.fully_coupled_increase`.
"""

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

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
from capsmodel.multipath.lia import single_path_window

__all__ = ["fully_coupled_mean_windows", "fully_coupled_total_window"]

_TOTALS, _SHARES = 400, 200  # steps of the grid; twice as many change no window by more than 0.5% of the total
_SPAN = 5.0  # largest total over the one at equilibrium: beyond are exp(-25) of all losses
_SETTLED, _MOST_ROUNDS = 1e-9, 1000
_LEAST_LOSS, _MOST_LOSS = 1e-4, 0.1  # the grid is as exact as stated between them


@overload
def fully_coupled_total_window(loss_probs: FloatSequence) -> float: ...
@overload
def fully_coupled_total_window(loss_probs: ArrayLike) -> FloatOrArray: ...
@closed_form
def fully_coupled_total_window(loss_probs: ArrayLike) -> FloatOrArray:
    r"""Return the total window at which fully coupled subflows grow as much as they shrink, in packets.

    Parameters
    ----------
    loss_probs : array_like
        Loss probability :math:`p_i` of each path, in (0, 1]; paths on the last axis.

    Returns
    -------
    float or ndarray
        :math:`W = \max_i W_i^s = \sqrt{2(1-p)/p}` packets for the least :math:`p = \min_i p_i`, of the shape of the
        argument without the last axis: the window of one TCP on the path that loses least, whatever the RTTs.

    Raises
    ------
    ParameterError
        If a loss probability is not in (0, 1].

    Notes
    -----
    An ACK adds :math:`1/W` to the window of its subflow, a loss takes :math:`W/2` from it. So a packet of subflow i
    changes its window on average by :math:`(1-p_i)/W - p_iW/2`, which is 0 at one :math:`W` for each :math:`p_i` only:
    paths that lose more than the least shrink until nothing is left, and over those that lose least the equilibrium
    leaves open how the total divides. It takes each loss to find :math:`W/2` to give up.
    :func:`fully_coupled_mean_windows` does not.

    References
    ----------
    Beyond the papers; Kelly and Voice (2005) and Han et al. (2006), which mmptcp u (3) congestion control compares as
    FC.

    Examples
    --------
    >>> fully_coupled_total_window([2 / 102, 0.1])
    10.0
    """
    loss = np.atleast_1d(probability("loss_probs", loss_probs, one=True))
    require(loss > 0, "loss_probs holds 0, but without loss the window has no equilibrium: give probabilities above 0")
    return plain(np.max(np.asarray(single_path_window(loss)), axis=-1))


@closed_form
def fully_coupled_mean_windows(loss_probs: ArrayLike, *, least_window_packets: float = 2.0) -> FloatArray:
    r"""Return the mean windows over time of two fully coupled subflows with random losses and equal RTTs, in packets.

    Parameters
    ----------
    loss_probs : array_like
        Loss probability :math:`p_i` of each of the two paths, from 1e-4 to 0.1; paths on the last axis.
    least_window_packets : float, optional
        What a loss leaves of a window at least, :math:`m\ge1`: 2 in the code of MMPTCP's authors, 1 in htsim.

    Returns
    -------
    ndarray
        :math:`E[W_i]` packets for each subflow, of the shape of the argument.

    Raises
    ------
    ParameterError
        If there are not two paths, an argument leaves its range, or the least window is so far above the windows at
        equilibrium that the distribution does not settle.

    Notes
    -----
    A loss of subflow i takes half of the total :math:`W` from its window, but leaves :math:`m` packets:
    :math:`W_i \to \max(W_i - W/2, m)`. So the equilibrium is too low where the windows are alike, since a subflow with
    less than half of the total cannot give up as much, and shares do not settle: the subflow with the larger window
    loses more packets, and whichever holds nearly all of the total behaves as one TCP.

    Between two losses each window grows in proportion to itself, hence the share :math:`y` of the first is constant,
    and the total grows by :math:`1-\sum_iy_ip_i` in a round trip, where subflow i loses :math:`p_iy_iW` packets. This
    process of :math:`(W, y)`, the limit of many packets in a window, is solved for its distribution over time on a grid
    of both; the error of the grid is below 0.5% of the total. Single packets add a relative error of the order of
    :math:`p_i`. Timeouts, and the round trip between a loss and the reaction to it, are left out.

    On two paths that lose 0.4% the total is 22.4 packets, 1.09 times the mean of one TCP
    (:func:`capsmodel.multipath.sawtooth.single_path_mean_window`); with less loss it falls towards that.

    References
    ----------
    Beyond the papers; the control is that of :func:`capsmodel.multipath.lia.fully_coupled_increase`, with the least
    window of the authors' code of MMPTCP.

    Examples
    --------
    >>> fully_coupled_mean_windows([0.004, 0.004]).round(2).tolist()
    [11.22, 11.22]
    """
    loss = np.atleast_1d(probability("loss_probs", loss_probs))
    solved = (loss >= _LEAST_LOSS) & (loss <= _MOST_LOSS)
    require(solved, f"loss_probs must lie between {_LEAST_LOSS:g} and {_MOST_LOSS:g}, where the grid is fine enough")
    require(loss.shape[-1] == 2, f"loss_probs holds {loss.shape[-1]} paths, but two subflows are solved for")
    least = one_number(positive, "least_window_packets", least_window_packets)
    require(least >= 1, f"least_window_packets = {least:g}, but a window holds a packet: give at least 1")
    return np.array([_mean_windows(pair, least) for pair in loss.reshape(-1, 2)]).reshape(loss.shape)


def _mean_windows(loss: FloatArray, least: float) -> FloatArray:
    step = _SPAN * max(float(fully_coupled_total_window(loss)), 2 * least) / _TOTALS
    # Shares are dense near 0 and 1, where a window is near the least one.
    share = np.sin(np.linspace(0, np.pi / 2, _SHARES + 1)) ** 2
    shares = np.stack([share, 1 - share])
    total = np.asarray(step * (np.arange(_TOTALS + 1)[:, np.newaxis] + 0.5), np.float64)
    lost_per_packet = np.asarray(loss @ shares, np.float64)
    rate = lost_per_packet * total / (1 - lost_per_packet)  # losses for each packet by which the total grows
    passed = np.exp(-rate * step)
    probs = np.asarray(loss[:, np.newaxis] * shares / lost_per_packet, np.float64)
    first, second = (_after_loss(i, total, shares, probs[i], least, step) for i in (0, 1))
    visits, settled = _visits(first + second, passed)
    require(settled, f"least_window_packets = {least:g} is too far above the windows at equilibrium: give less")
    weight = visits * (1 - passed) / rate / (1 - lost_per_packet)  # time in round trips
    mean = np.sum(weight * total * shares[:, np.newaxis], axis=(1, 2)) / np.sum(weight)
    return np.asarray(mean)


def _after_loss(i: int, total: FloatArray, shares: FloatArray, prob: FloatArray, least: float, step: float) -> Any:
    """Return the probability that a loss is one of subflow i and leads to a point, over (point after, point before)."""
    own = total * shares[i]
    left = np.maximum(own - total / 2, np.minimum(own, least))
    rest = total - own + left
    row = np.minimum(rest / step, _TOTALS)
    place = (left if i == 0 else rest - left) / rest
    column = np.minimum(np.searchsorted(shares[0], place, side="right") - 1, _SHARES - 1)
    across = (place - shares[0][column]) / np.diff(shares[0])[column]
    lower = np.minimum(row.astype(int), _TOTALS - 1)
    before = np.arange(own.size)
    result = sparse.csr_array(2 * before.shape)
    for down, by_row in ((0, 1 - row + lower), (1, row - lower)):
        for aside, by_column in ((0, 1 - across), (1, across)):
            point = (lower + down) * (_SHARES + 1) + column + aside
            chance = (by_row * by_column * prob).ravel()
            result = result + sparse.csr_array((chance, (point.ravel(), before)), shape=2 * before.shape)
    return result


def _visits(after: Any, passed: FloatArray) -> tuple[FloatArray, bool]:
    """Return how often the total passes each point for each loss, and whether that has settled.

    A point is passed after the losses that lead to it, and after what grows up to it.
    """
    arrived = np.zeros_like(passed)
    arrived[_TOTALS // 10] = 1 / arrived.shape[1]
    for _ in range(_MOST_ROUNDS):
        visits = arrived.copy()
        for row in range(1, len(visits)):
            visits[row] += visits[row - 1] * passed[row - 1]
        result = np.asarray(after @ (visits * (1 - passed)).ravel()).reshape(passed.shape)
        result /= result.sum()
        change = float(np.abs(result - arrived).sum())
        arrived = result
        if change < _SETTLED:
            return visits, True
    return visits, False
