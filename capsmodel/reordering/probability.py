r"""Packet reordering over paths of two speeds: how likely and how far.

The model of CDCPS: each packet of a flow takes a congested path with probability :math:`P_b`, independently, and every
packet on an uncongested path arrives before every packet on a congested one; packets of one class keep their order.
For the probability it is enough that congestion outweighs the spacing of two packets; for numbers of packets it must
outweigh that of all, else they are bounds from above.

================================  ===============  ==================================  =======  =================
Quantity                          Symbol           Name                                Unit     Equation
================================  ===============  ==================================  =======  =================
a flow is reordered               :math:`P_r`      :func:`reordering_prob`             1        cdcps Eq. 1-3
a flow stays in order             :math:`1 - P_r`  :func:`in_order_prob`               1        cdcps Eq. 1
mean number of packets overtaken  –                :func:`expected_overtaken_packets`  packets  beyond the papers
out-of-order degree               OOD              :func:`out_of_order_degree`         packets  cdcps u (III-A)
packets that overtake a packet    –                :func:`overtaking_packets`          packets  cdcps u (III-A)
ratio of the extreme RTTs         –                :func:`asymmetry_degree`            1        cdcps u (III-A)
================================  ===============  ==================================  =======  =================
"""

from typing import overload

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    FloatSequence,
    as_floats,
    closed_form,
    one_number,
    plain,
    positive,
    probability,
    require,
    whole,
)


def _class_split(congested_prob: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return m, the smaller of P_b and P_g, and d = ln((1 - m)/m); both exact to rounding, also near m = 1/2."""
    minor = np.minimum(congested_prob, 1 - congested_prob)  # 1 - p is exact where it is the smaller
    with np.errstate(divide="ignore", over="ignore"):
        return minor, np.log1p((1 - 2 * minor) / minor)


def _one_order_sum(length: FloatArray, minor: FloatArray, gap: FloatArray) -> FloatArray:
    """Sum over a of (1-m)^a m^(length-a), a = 0..length; zero for a negative length.

    As (1-m)^length times a geometric sum of exp(-gap); the quotient of two expm1 keeps it exact as gap -> 0.
    """
    terms = np.maximum(length, 0) + 1
    ratio = np.array(np.broadcast_to(terms, np.broadcast_shapes(terms.shape, gap.shape)), dtype=float)
    np.divide(np.expm1(-terms * gap), np.expm1(-gap), out=ratio, where=gap > 0)
    return np.where(length < 0, 0.0, np.exp(xlog1py(terms - 1, -minor)) * ratio)


@overload
def reordering_prob(flow_packets: float, *, congested_prob: float) -> float: ...
@overload
def reordering_prob(flow_packets: ArrayLike, *, congested_prob: ArrayLike) -> FloatArray: ...
@closed_form
def reordering_prob(flow_packets: ArrayLike, *, congested_prob: ArrayLike) -> FloatOrArray:
    r"""Return the probability that at least one packet of a flow is overtaken by a later one.

    Parameters
    ----------
    flow_packets : array_like
        Flow size :math:`S` in packets, a whole number of at least 1. Broadcasts.
    congested_prob : array_like
        Probability :math:`P_b` that a packet takes a congested path, in [0, 1]; :math:`P_b = n_b/n` when
        :math:`n_b` of :math:`n` equally likely paths are congested. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`P_r`, a probability, of the broadcast shape.

    Raises
    ------
    ParameterError
        If `flow_packets` is no whole number of at least 1, or `congested_prob` lies outside [0, 1].

    Notes
    -----
    CDCPS sums over the first packet :math:`i` on a congested path,
    :math:`P_r = \sum_{i=1}^{S-1} P_g^{i-1} P_b (1 - P_b^{S-i})`, which equals
    :math:`1 - \sum_{a=0}^{S} P_g^a P_b^{S-a}`: only the flows that meet first all their uncongested and then all their
    congested paths stay in order. The form is symmetric in :math:`P_g` and :math:`P_b`. With :math:`m` the smaller
    one it is computed as :math:`(1 - (1-m)^{S-1}) - m^2 \sum_{a=0}^{S-2} (1-m)^a m^{S-2-a}`, where the second term
    is at most half of the first, so that no digit is lost for small :math:`P_r`, nor at :math:`P_g = P_b`.
    Congestion need not outweigh the whole flow: a delay longer than the spacing of two packets is enough, because
    between a congested packet and a later uncongested one there are always two such neighbours. A shorter delay lets
    nothing overtake. Queues that the flow builds itself, of a host faster than its paths, are left out: they reorder
    also without congestion.
    Edges: 0 for one packet and for :math:`P_b \in \{0, 1\}`.

    References
    ----------
    cdcps Eq. 1-3.

    Examples
    --------
    >>> reordering_prob(10, congested_prob=0.5) == 1 - 11 / 1024
    True
    """
    size = whole("flow_packets", flow_packets, minimum=1)
    minor, gap = _class_split(probability("congested_prob", congested_prob, one=True))
    return plain(0.0 - np.expm1(xlog1py(size - 1, -minor)) - minor**2 * _one_order_sum(size - 2, minor, gap))


@overload
def in_order_prob(flow_packets: float, *, congested_prob: float) -> float: ...
@overload
def in_order_prob(flow_packets: ArrayLike, *, congested_prob: ArrayLike) -> FloatArray: ...
@closed_form
def in_order_prob(flow_packets: ArrayLike, *, congested_prob: ArrayLike) -> FloatOrArray:
    r"""Return the probability that no packet of a flow is overtaken, computed as a sum of its own without cancellation.

    Parameters
    ----------
    flow_packets : array_like
        Flow size :math:`S` in packets, a whole number of at least 1. Broadcasts.
    congested_prob : array_like
        Probability :math:`P_b` of a congested path, in [0, 1]. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`1 - P_r = \sum_{a=0}^{S} P_g^a P_b^{S-a}`, of the broadcast shape.

    Raises
    ------
    ParameterError
        As :func:`reordering_prob`.

    References
    ----------
    cdcps Eq. 1.

    Examples
    --------
    >>> in_order_prob(10, congested_prob=0.5) == 11 / 1024
    True
    """
    size = whole("flow_packets", flow_packets, minimum=1)
    minor, gap = _class_split(probability("congested_prob", congested_prob, one=True))
    return plain(_one_order_sum(size, minor, gap))


@overload
def expected_overtaken_packets(flow_packets: float, *, congested_prob: float) -> float: ...
@overload
def expected_overtaken_packets(flow_packets: ArrayLike, *, congested_prob: ArrayLike) -> FloatArray: ...
@closed_form
def expected_overtaken_packets(flow_packets: ArrayLike, *, congested_prob: ArrayLike) -> FloatOrArray:
    r"""Return the mean number of packets of a flow that at least one later packet overtakes, in packets.

    Parameters
    ----------
    flow_packets : array_like
        Flow size :math:`S` in packets, a whole number of at least 1. Broadcasts.
    congested_prob : array_like
        Probability :math:`P_b` of a congested path, in [0, 1]. Broadcasts.

    Returns
    -------
    float or ndarray
        Mean number of packets, of the broadcast shape; 0 for :math:`P_b \in \{0, 1\}`.

    Raises
    ------
    ParameterError
        As :func:`reordering_prob`.

    Notes
    -----
    Packet :math:`i` is overtaken when it takes a congested path and a later one does not, so the mean is
    :math:`\sum_{i=1}^{S} P_b (1 - P_b^{S-i}) = P_b (S P_g - 1 + P_b^S)/P_g`. For :math:`S P_g < 1` the bracket is
    summed as its binomial series, whose terms alternate and shrink.

    References
    ----------
    Beyond the papers; the model is that of cdcps Eq. 1.

    Examples
    --------
    >>> expected_overtaken_packets(2, congested_prob=0.5)
    0.25
    """
    size = whole("flow_packets", flow_packets, minimum=1)
    bad = probability("congested_prob", congested_prob, one=True)
    size, bad = np.broadcast_arrays(size, bad)
    good = 1 - bad
    direct = np.where(bad < 0.5, np.exp(xlogy(size, bad)), np.exp(xlog1py(size, -good))) + (size * good - 1)
    bracket = np.where(size * good < 1, _binomial_remainder(size, np.where(size * good < 1, good, 0.0)), direct)
    return plain(np.divide(bad * bracket, good, out=np.zeros_like(bracket), where=good > 0))


def _binomial_remainder(size: FloatArray, good: FloatArray) -> FloatArray:
    """Return (1 - q)^S - 1 + S q for S q < 1 by its series; 24 terms leave less than 1/26!."""
    term = size * (size - 1) / 2 * good**2
    total = term.copy()
    for j in range(2, 26):
        term = -term * (size - j) * good / (j + 1)
        total = total + term
    return total


def _arrivals(arrival_order: ArrayLike) -> npt.NDArray[np.int64]:
    """Return the arrival order as indices from 0; reject what is no permutation of consecutive packet numbers."""
    order = as_floats("arrival_order", arrival_order)
    require(order.ndim == 1 and order.size > 0, "arrival_order must be a list of packet numbers, one for each arrival")
    ranks = order - order.min()
    require(
        np.array_equal(np.sort(ranks), np.arange(order.size)),
        "arrival_order must hold each packet number once and leave none out: remove retransmissions first",
    )
    return np.asarray(ranks, dtype=np.int64)


@closed_form
def out_of_order_degree(arrival_order: ArrayLike) -> int:
    r"""Return the out-of-order degree of a flow: how far ahead of the expected packet an arrival can be, in packets.

    Parameters
    ----------
    arrival_order : array_like
        Packet numbers in the order of their arrival: consecutive whole numbers, each once, in any order, shape (S,).

    Returns
    -------
    int
        OOD, the largest difference between the number of an arriving packet and the number expected then, which is
        the lowest one that has not arrived; 0 for a flow in order.

    Raises
    ------
    ParameterError
        If a number is missing or repeated.

    Notes
    -----
    A receiver that delivers in order holds at most OOD packets, so OOD is its reordering buffer in packets.

    References
    ----------
    cdcps u (III-A) out-of-order degree.

    Examples
    --------
    >>> out_of_order_degree([1, 2, 3, 4, 5, 6, 8, 7, 9, 10])
    1
    >>> out_of_order_degree([2, 3, 4, 5, 7, 8, 10, 1, 6, 9])
    9
    """
    order = _arrivals(arrival_order)
    arrived_at = np.empty_like(order)
    arrived_at[order] = np.arange(order.size)
    # All numbers up to j are there at the running maximum of arrived_at; before arrival t the first j beyond it waits.
    complete_at = np.maximum.accumulate(arrived_at)
    expected = np.searchsorted(complete_at, np.arange(order.size), side="left")
    return int(np.max(order - expected))


@closed_form
def overtaking_packets(arrival_order: ArrayLike, *, packet: int) -> int:
    """Count the later-sent packets that arrive before a given packet, in packets.

    Parameters
    ----------
    arrival_order : array_like
        Packet numbers in the order of their arrival, as in :func:`out_of_order_degree`, shape (S,).
    packet : int
        Number of the packet.

    Returns
    -------
    int
        How many packets overtake it.

    Raises
    ------
    ParameterError
        If a number is missing or repeated, or `packet` is not among them.

    References
    ----------
    cdcps u (III-A) out-of-order degree.

    Examples
    --------
    >>> overtaking_packets([2, 3, 4, 5, 7, 8, 10, 1, 6, 9], packet=1)
    7
    """
    order = _arrivals(arrival_order)
    rank = one_number(as_floats, "packet", packet) - float(np.min(np.asarray(arrival_order)))
    require(np.any(order == rank), f"packet = {packet}, but it is not in arrival_order")
    place = int(np.flatnonzero(order == rank)[0])
    return int(np.count_nonzero(order[:place] > rank))


@overload
def asymmetry_degree(rtts_s: FloatSequence) -> float: ...
@overload
def asymmetry_degree(rtts_s: ArrayLike) -> FloatOrArray: ...
@closed_form
def asymmetry_degree(rtts_s: ArrayLike) -> FloatOrArray:
    """Return the ratio of the largest to the smallest RTT over the paths of a flow.

    Parameters
    ----------
    rtts_s : array_like
        RTT of each path in seconds, positive; the last axis runs over the paths.

    Returns
    -------
    float or ndarray
        Ratio of at least 1, of the shape without the last axis.

    Raises
    ------
    ParameterError
        If an RTT is not positive.

    References
    ----------
    cdcps u (III-A) asymmetry degree.

    Examples
    --------
    >>> asymmetry_degree([100e-6, 500e-6])
    5.0
    """
    rtts = np.atleast_1d(positive("rtts_s", rtts_s))
    return plain(np.max(rtts, axis=-1) / np.min(rtts, axis=-1))
