r"""Rounds in which a flow is sent, and their averages over a distribution of flow sizes.

======================  ==================================  ======================  ========  =================
Quantity                Symbol                              Name                    Unit      Equation
======================  ==================================  ======================  ========  =================
rounds of a short flow  :math:`m=\log_2(X/k+1)`             :func:`rounds`          1         repflow u (IV-A)
rounds per packet       :math:`J=E[m/X]`, :math:`I=E[1/X]`  :func:`short_averages`  1/packet  repflow Eq. 3, 11
bursts per packet       :math:`1/M`, :math:`P=E[1/X]`       :func:`long_averages`   1/packet  repflow Eq. 7, 13
======================  ==================================  ======================  ========  =================
"""

from collections.abc import Callable
from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, FloatOrArray, choice, closed_form, one_number, plain, positive, require
from capsmodel.workloads.catalogue import PacketSizes, packet_sizes

Rounding = Literal["fractional", "whole"]

# RepFlow IV-B: initial window of 12 packets.
WINDOW_PACKETS = 12
# RepFlow Table II: maximum window of 64 KB (of 1024 B) in packets of 1500 B.
BURST_PACKETS = 44

# Of the largest flow, each the end of a panel of the integral.
_MOST_BURSTS = 1_000_000


@overload
def rounds(flow_packets: float, *, window_packets: float = ..., rounding: Rounding = ...) -> float: ...
@overload
def rounds(flow_packets: ArrayLike, *, window_packets: float = ..., rounding: Rounding = ...) -> FloatArray: ...
@closed_form
def rounds(
    flow_packets: ArrayLike, *, window_packets: float = WINDOW_PACKETS, rounding: Rounding = "fractional"
) -> FloatOrArray:
    r"""Return the number of round trips in which slow start sends a flow.

    Parameters
    ----------
    flow_packets : array_like
        Flow size X, in packets, above 0.
    window_packets : float
        Initial window k, in packets, above 0.
    rounding : {"fractional", "whole"}
        The logarithm as printed, or the number of windows that are really sent (at least one).

    Returns
    -------
    float or ndarray
        Rounds, of the shape of `flow_packets`; a float for a scalar.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`k+2k+\ldots+2^{m-1}k=k(2^m-1)=X` gives :math:`m=\log_2(X/k+1)`, below 1 for X < k.

    References
    ----------
    repflow u (IV-A) rounds.

    Examples
    --------
    >>> rounds([12, 36, 40]).round(3).tolist(), rounds([1, 36, 40], rounding="whole").tolist()
    ([1.0, 2.0, 2.115], [1.0, 2.0, 3.0])
    """
    choice("rounding", rounding, get_args(Rounding))
    flow = positive("flow_packets", flow_packets)
    return plain(_rounds(flow, one_number(positive, "window_packets", window_packets), rounding))


def _rounds(flow: FloatArray, window: float, rounding: Rounding) -> FloatArray:
    count = np.log2(flow / window + 1)
    if rounding == "fractional":
        return count
    # log2 of a whole power of two is exact; X/k + 1 may miss it by one rounding, which must not cost a round.
    return np.maximum(np.ceil(count * (1 - 4 * np.finfo(float).eps)), 1.0)


def _average(
    function: Callable[[FloatArray], FloatArray], sizes: PacketSizes, above: float, upto: float, breaks: FloatArray
) -> float:
    """E[function(X) | above < X <= upto]."""
    share = (1.0 if np.isinf(upto) else float(sizes.cdf(upto))) - float(sizes.cdf(above))
    require(share > 0, f"sizes has no flow above {max(above, 0.0):g} and up to {upto:g} packets: nothing to average")
    return sizes.expectation(function, above=above, upto=upto, breaks=breaks.tolist()) / share


@closed_form
def short_averages(
    sizes: PacketSizes, window: float, short: float, rounding: Rounding, smallest: float
) -> tuple[float, float]:
    """Return E[rounds/X] and E[1/X] over flows of at most `short`, those below `smallest` taken as `smallest`.

    Examples
    --------
    >>> short_averages(PacketSizes.fixed(12), 12, 68, "fractional", 1) == (1 / 12, 1 / 12)
    True
    """
    choice("rounding", rounding, get_args(Rounding))
    window, short = one_number(positive, "window_packets", window), one_number(positive, "short_packets", short)
    smallest = one_number(positive, "smallest_packets", smallest)
    require(short / window < np.inf, f"window_packets = {window:g} is too small beside short_packets: raise it")
    # The integrands bend at `smallest`; whole rounds jump where a window has just been filled.
    filled = window * (2.0 ** np.arange(1, np.ceil(np.log2(short / window + 1)) + 1) - 1)
    breaks = np.append(filled, smallest)

    def rounds_per_packet(flow: FloatArray) -> FloatArray:
        flow = np.maximum(flow, smallest)
        return _rounds(flow, window, rounding) / flow

    def one_per_packet(flow: FloatArray) -> FloatArray:
        return 1 / np.maximum(flow, smallest)

    packet_sizes(sizes)
    return (
        _average(rounds_per_packet, sizes, -1.0, short, breaks),
        _average(one_per_packet, sizes, -1.0, short, breaks),
    )


@closed_form
def long_averages(sizes: PacketSizes, burst: float, short: float, rounding: Rounding) -> tuple[float, float]:
    """Return E[bursts/X] and E[1/X] over flows above `short`.

    Examples
    --------
    >>> long_averages(PacketSizes.fixed(100), 44, 68, "whole") == (0.03, 0.01)
    True
    """
    choice("rounding", rounding, get_args(Rounding))
    burst, short = one_number(positive, "burst_packets", burst), one_number(positive, "short_packets", short)
    per_packet = _average(lambda flow: 1 / flow, packet_sizes(sizes), short, np.inf, np.empty(0))
    if rounding == "fractional":
        return 1 / burst, per_packet
    bursts = np.ceil(sizes.sizes[-1] / burst)
    require(bursts <= _MOST_BURSTS, f"burst_packets = {burst:g}, but that makes {bursts:g} bursts of a flow: raise it")
    breaks = np.arange(1.0, bursts) * burst
    return _average(lambda flow: np.ceil(flow / burst) / flow, sizes, short, np.inf, breaks), per_packet
