r"""Duplicate acknowledgements (ACKs): how likely reordering raises them and how many to wait for.

=========================  ==================  ====================================  =======  =====================
Quantity                   Symbol              Name                                  Unit     Equation
=========================  ==================  ====================================  =======  =====================
at least d duplicate ACKs  :math:`P(D \ge d)`  :func:`duplicate_acks_prob`           1        beyond the papers
threshold, leaf-spine      dupthresh           :func:`dup_ack_threshold_leaf_spine`  ACKs     mmptcp u (2.4)
threshold, fat-tree        dupthresh           :func:`dup_ack_threshold_fat_tree`    ACKs     mmptcp u (2.4)
new segments before that   –                   :func:`limited_transmit_segments`     packets  mmptcp u (2.4)
packets to the first loss  E[min]              :func:`packets_before_first_loss`     packets  mmptcp u (footnote 2)
=========================  ==================  ====================================  =======  =====================
"""

from typing import get_args, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln, xlog1py, xlogy

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    Layer,
    as_floats,
    choice,
    closed_form,
    flags,
    plain,
    probability,
    require,
    whole,
)

_MOST_TERMS = 2**22
"""Terms of all points of a call, some 32 MB for each step of the computation."""

DEFAULT_DUP_ACK_THRESHOLD = 3
"""Duplicate ACKs that trigger fast retransmit in standard TCP (RFC 5681)."""


@overload
def duplicate_acks_prob(min_dup_acks: float, *, flow_packets: float, congested_prob: float) -> float: ...
@overload
def duplicate_acks_prob(
    min_dup_acks: ArrayLike, *, flow_packets: ArrayLike, congested_prob: ArrayLike
) -> FloatArray: ...
@closed_form
def duplicate_acks_prob(min_dup_acks: ArrayLike, *, flow_packets: ArrayLike, congested_prob: ArrayLike) -> FloatOrArray:
    r"""Return the probability that reordering alone raises at least d duplicate ACKs during a flow.

    Parameters
    ----------
    min_dup_acks : array_like
        Number :math:`d` of duplicate ACKs, a whole number of at least 0; standard TCP waits for 3. Broadcasts.
    flow_packets : array_like
        Flow size :math:`S` in packets, a whole number of at least 1. Broadcasts.
    congested_prob : array_like
        Probability :math:`P_b` of a congested path, in [0, 1]. Broadcasts.

    Returns
    -------
    float or ndarray
        Probability, of the broadcast shape; 1 for :math:`d = 0`, :math:`P_r` for :math:`d = 1`, 0 for :math:`d \ge S`.

    Raises
    ------
    ParameterError
        As :func:`capsmodel.reordering.probability.reordering_prob`, or if `min_dup_acks` is no whole number of at least
        0.

    Notes
    -----
    The model, exactly: all :math:`S` packets are sent at once and none is lost; those on uncongested paths arrive
    first, in order, then those on congested paths, in order; the receiver acknowledges every packet, cumulatively.
    Then each uncongested packet behind the first congested one raises one duplicate ACK for it, and the congested
    packets raise none, since each of them is the next one expected. With :math:`D` their number

    .. math:: P(D \ge d) = \sum_{i=1}^{S-d} P_g^{i-1} P_b\, P(\mathrm{Bin}(S-i, P_g) \ge d)
              = \sum_{m=0}^{S-d} \binom{m+d-1}{m} P_g^d P_b^m (1 - P_g^{S-d-m}),

    the second form by counting the :math:`m` congested packets behind the :math:`d`-th uncongested one from the end.
    All terms are positive. The first sum is used for :math:`P_g \le 1/2`, where it falls at least by half from term to
    term; the second for :math:`P_g > 1/2`, where it falls by a quarter beyond :math:`m = 2d`. It costs
    :math:`2d + 160` terms a point, or :math:`S - d` if that is fewer, whatever :math:`S`.

    References
    ----------
    Beyond the papers; the model is that of cdcps Eq. 1, and :math:`d = 1` gives its :math:`P_r`.

    Examples
    --------
    >>> duplicate_acks_prob(3, flow_packets=4, congested_prob=0.5)  # only the first of four packets is congested
    0.0625
    """
    acks = whole("min_dup_acks", min_dup_acks)
    size = whole("flow_packets", flow_packets, minimum=1)
    bad = probability("congested_prob", congested_prob, one=True)
    acks, size, bad = (np.asarray(a)[..., np.newaxis] for a in np.broadcast_arrays(acks, size, bad))
    wanted = np.maximum(acks, 1)
    terms = np.max(np.minimum(2 * wanted + 160, np.maximum(size - wanted, 1)), initial=1)
    require(
        terms * acks.size <= _MOST_TERMS,
        f"min_dup_acks asks for {terms:g} terms at each of {acks.size} points, but {_MOST_TERMS} fit in all: lower it",
    )
    index = np.arange(terms)
    left = size - wanted - index  # packets the sums have not yet placed
    inside = left > 0
    left = np.where(inside, left, 1)
    good = 1 - bad
    by_first = np.exp(xlogy(index, good)) * bad * betainc(wanted, left, good)
    log_choose = -np.log(wanted + index) - betaln(wanted, index + 1)
    by_last = np.exp(log_choose + xlog1py(wanted, -bad) + xlogy(index, bad)) * -np.expm1(xlog1py(left, -bad))
    total = np.sum(np.where(inside, np.where(good > 0.5, by_last, by_first), 0.0), axis=-1)
    return plain(np.where(acks[..., 0] == 0, 1.0, np.minimum(total, 1.0)))


@overload
def dup_ack_threshold_leaf_spine(n_spines: float, *, same_leaf: float = ...) -> float: ...
@overload
def dup_ack_threshold_leaf_spine(n_spines: ArrayLike, *, same_leaf: ArrayLike = ...) -> FloatArray: ...
@closed_form
def dup_ack_threshold_leaf_spine(n_spines: ArrayLike, *, same_leaf: ArrayLike = False) -> FloatOrArray:
    """Return how many duplicate ACKs to wait for in a leaf-spine fabric: 3, and one for each path between two leaves.

    Parameters
    ----------
    n_spines : array_like
        Spine switches, which is the number of equal-cost paths between two leaves; a whole number of at least 1.
    same_leaf : array_like of bool, optional
        Whether sender and receiver share their leaf. Broadcasts.

    Returns
    -------
    float or ndarray
        Threshold in duplicate ACKs, of the broadcast shape.

    Raises
    ------
    ParameterError
        If `n_spines` is no whole number of at least 1.

    Notes
    -----
    The paper states the rule for FatTree and prints 3 and 19 (16 paths); it names other topologies as an extension.

    References
    ----------
    mmptcp u (2.4) topology-based threshold.

    Examples
    --------
    >>> dup_ack_threshold_leaf_spine(16)
    19.0
    """
    paths, same = whole("n_spines", n_spines, minimum=1), flags("same_leaf", same_leaf)
    return plain(DEFAULT_DUP_ACK_THRESHOLD + np.where(same, 0.0, paths))


@overload
def dup_ack_threshold_fat_tree(pods: float, *, location: Layer = ..., max_paths: float = ...) -> float: ...
@overload
def dup_ack_threshold_fat_tree(pods: ArrayLike, *, location: Layer = ..., max_paths: ArrayLike = ...) -> FloatArray: ...
@closed_form
def dup_ack_threshold_fat_tree(
    pods: ArrayLike, *, location: Layer = "core", max_paths: ArrayLike = np.inf
) -> FloatOrArray:
    """Return how many duplicate ACKs to wait for in a K-ary fat-tree, by the layer where the flow turns down.

    Parameters
    ----------
    pods : array_like
        Pods :math:`K`, also the ports of each switch; even and at least 2. Broadcasts.
    location : {"core", "aggregation", "access"}
        Receiver in another pod (:math:`(K/2)^2` paths), in the same pod (:math:`K/2`) or on the same access switch.
    max_paths : array_like, optional
        Most equal-cost paths that the switches use for one destination; no limit by default. Broadcasts.

    Returns
    -------
    float or ndarray
        Threshold in duplicate ACKs, of the broadcast shape.

    Raises
    ------
    ParameterError
        If `pods` is odd or below 2, `max_paths` is below 1, or `location` is none of the three layers.

    References
    ----------
    mmptcp u (2.4) topology-based threshold.

    Examples
    --------
    >>> [dup_ack_threshold_fat_tree(8, location=layer) for layer in ("core", "aggregation", "access")]
    [19.0, 7.0, 3.0]
    """
    choice("location", location, get_args(Layer))
    half = _even_pods(pods) / 2
    limit = as_floats("max_paths", max_paths)
    require(limit >= 1, "max_paths is below 1, but a flow needs at least one path")
    paths = {"core": half**2, "aggregation": half, "access": 0 * half}[location]
    return plain(DEFAULT_DUP_ACK_THRESHOLD + np.minimum(paths, limit))


def _even_pods(pods: ArrayLike) -> FloatArray:
    values = whole("pods", pods, minimum=2)
    require(values % 2 == 0, "pods is odd, but a fat-tree switch has as many ports up as down: give an even number")
    return values


@overload
def limited_transmit_segments(dup_ack_threshold: float) -> float: ...
@overload
def limited_transmit_segments(dup_ack_threshold: ArrayLike) -> FloatArray: ...
@closed_form
def limited_transmit_segments(dup_ack_threshold: ArrayLike) -> FloatOrArray:
    """Return the number of segments to send before fast retransmit: one for each duplicate ACK below the threshold.

    Parameters
    ----------
    dup_ack_threshold : array_like
        Duplicate ACKs that trigger fast retransmit, a whole number of at least 1. Broadcasts.

    Returns
    -------
    float or ndarray
        Segments, of the shape of the argument. Standard Limited Transmit (RFC 3042) sends 2 at a threshold of 3.

    Raises
    ------
    ParameterError
        If `dup_ack_threshold` is no whole number of at least 1.

    References
    ----------
    mmptcp u (2.4) modified Limited Transmit.

    Examples
    --------
    >>> limited_transmit_segments(19)
    18.0
    """
    return plain(whole("dup_ack_threshold", dup_ack_threshold, minimum=1) - 1)


@overload
def packets_before_first_loss(n_paths: float, *, loss_prob: float) -> float: ...
@overload
def packets_before_first_loss(n_paths: ArrayLike, *, loss_prob: ArrayLike) -> FloatArray: ...
@closed_form
def packets_before_first_loss(n_paths: ArrayLike, *, loss_prob: ArrayLike) -> FloatOrArray:
    r"""Return the mean number of packets on each path up to and including the first loss on any of them, in packets.

    Parameters
    ----------
    n_paths : array_like
        Paths :math:`n`, a whole number of at least 1; all have the same loss probability and carry the same number of
        packets. Broadcasts.
    loss_prob : array_like
        Loss probability :math:`p` of a packet on a path, in [0, 1]. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`1/(1-(1-p)^n)` packets, of the broadcast shape; infinite for :math:`p = 0`.

    Raises
    ------
    ParameterError
        If `n_paths` is no whole number of at least 1, or `loss_prob` lies outside [0, 1].

    Notes
    -----
    The first loss on one path is geometric, the smallest of :math:`n` geometric numbers is geometric with parameter
    :math:`1-(1-p)^n`.

    References
    ----------
    mmptcp u (footnote 2) packets before the first loss.

    Examples
    --------
    >>> packets_before_first_loss(2, loss_prob=0.5)
    1.3333333333333333
    """
    paths = whole("n_paths", n_paths, minimum=1)
    first = -np.expm1(xlog1py(paths, -probability("loss_prob", loss_prob, one=True)))
    return plain(np.divide(1.0, first, out=np.full_like(first, np.inf), where=first > 0))
