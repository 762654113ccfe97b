r"""Extent of reordering (RFC 4737) over paths of two speeds: how many packets come late, and by how much.

=========================================  ============  ===============================  =======  =================
Quantity                                   Symbol        Name                             Unit     Equation
=========================================  ============  ===============================  =======  =================
mean number of packets with an extent of   :math:`N_x`   :func:`expected_late_packets`    packets  beyond the papers
at least x
=========================================  ============  ===============================  =======  =================

The extent of a packet is the number of packets that have arrived since the first one that was sent later. The model is
that of :mod:`capsmodel.reordering.probability`.
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, bdtrc

from capsmodel.checks import FloatArray, FloatOrArray, closed_form, plain, probability, require, whole

__all__ = ["expected_late_packets"]

_MOST_PACKETS = 2000


@overload
def expected_late_packets(min_extent: float, *, flow_packets: float, congested_prob: float) -> float: ...
@overload
def expected_late_packets(
    min_extent: ArrayLike, *, flow_packets: ArrayLike, congested_prob: ArrayLike
) -> FloatArray: ...
@closed_form
def expected_late_packets(min_extent: ArrayLike, *, flow_packets: ArrayLike, congested_prob: ArrayLike) -> FloatOrArray:
    r"""Return the mean number of packets of a flow that are reordered with at least a given extent, in packets.

    Parameters
    ----------
    min_extent : array_like
        Extent :math:`x` in packets, a whole number of at least 1. Broadcasts.
    flow_packets : array_like
        Flow size :math:`S` in packets, a whole number from 1 to 2000. Broadcasts.
    congested_prob : array_like
        Probability :math:`P_b` of a congested path, in [0, 1]. Broadcasts.

    Returns
    -------
    float or ndarray
        Mean number of packets, of the broadcast shape;
        :func:`capsmodel.reordering.probability.expected_overtaken_packets` for :math:`x = 1`, 0 for :math:`x \ge S`.

    Raises
    ------
    ParameterError
        As :func:`capsmodel.reordering.probability.reordering_prob`, or if `min_extent` is no whole number of at least
        1.

    Notes
    -----
    A congested packet i, behind which at least one packet is not congested, arrives after all :math:`G_i` uncongested
    ones behind it, and after the :math:`B_i` congested ones before it. The first packet sent later that arrives is an
    uncongested one, and everything congested arrives after it, so the extent is :math:`G_i+B_i` and

    .. math:: N_x = P_b \sum_{i=1}^{S} P(G_i + B_i \ge x,\ G_i \ge 1),\qquad
              G_i \sim \mathrm{Bin}(S-i, 1-P_b),\quad B_i \sim \mathrm{Bin}(i-1, P_b).

    The extent of the first congested packet is the number of duplicate ACKs that it causes
    (:func:`capsmodel.reordering.dup_acks.duplicate_acks_prob`); later ones cause none, whatever their extent, since
    they arrive in order behind it. So flows that retransmit at a threshold of x duplicate ACKs are fewer than
    :math:`N_x`.

    References
    ----------
    Beyond the papers; the model is that of cdcps Eq. 1, the extent that of RFC 4737, section 4.2.

    Examples
    --------
    >>> expected_late_packets([1, 2, 3], flow_packets=3, congested_prob=0.5).tolist()
    [0.625, 0.25, 0.0]
    """
    extent = whole("min_extent", min_extent, minimum=1)
    size = whole("flow_packets", flow_packets, minimum=1)
    require(size <= _MOST_PACKETS, f"flow_packets exceeds {_MOST_PACKETS}, but the sum has as many terms squared")
    points = np.broadcast_arrays(extent, size, probability("congested_prob", congested_prob, one=True))
    late = [_late_packets(int(x), int(n), float(bad)) for x, n, bad in zip(*map(np.ravel, points), strict=True)]
    return plain(np.reshape(late, points[0].shape))


def _late_packets(extent: int, size: int, bad: float) -> float:
    """Return the sum over the packets of a flow."""
    total = 0.0
    for number in range(1, size + 1):
        behind, before = size - number, np.arange(number)
        weight = np.diff(bdtr(before, number - 1, bad), prepend=0.0)  # of the congested packets before this one
        most = np.maximum(extent - before, 1) - 1
        enough = np.where(most < behind, bdtrc(np.minimum(most, behind), behind, 1 - bad), 0.0)
        total += bad * float(weight @ enough)
    return total
