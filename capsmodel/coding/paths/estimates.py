r"""How far an answer is to be trusted: errors of the loss, losses that were counted, what is lost in spite of a code.

=================================  ==================  ==================================  =======  ==================
Quantity                           Symbol              Name                                Unit     Equation
=================================  ==================  ==================================  =======  ==================
change of P with the loss          d log P / d log p   :func:`failure_elasticity`          1        from caps Eq. 2
unit fails, x of N lost            –                   :func:`predictive_failure_prob`     1        beyond the papers
fewest r, x of N lost              –                   :func:`predictive_repair_packets`   packets  inverts it
source packets lost at the end     –                   :func:`residual_loss_prob`          1        beyond the papers
least depth of interleaving        D                   :func:`least_interleave`            packets  beyond the papers
=================================  ==================  ==================================  =======  ==================
"""

from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    ParameterError,
    closed_form,
    one_number,
    plain,
    probability,
    require,
    whole,
)
from capsmodel.coding._unit_search import log_pmf, log_tails
from capsmodel.coding.paths._loss_table import with_packet
from capsmodel.coding.paths.losses import MOST_PACKETS, PathLosses, as_losses
from capsmodel.coding.paths.unit_choice import TOLERANCE, failure_target, unit_failure_prob


@overload
def failure_elasticity(k: float, *, r: float, blocking_prob: float) -> float: ...
@overload
def failure_elasticity(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike) -> FloatArray: ...
@closed_form
def failure_elasticity(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike) -> FloatOrArray:
    r"""Return by how many percent the probability of failure rises when the loss is 1% higher.

    Parameters
    ----------
    k, r, blocking_prob : array_like
        As in :func:`capsmodel.coding.decoding.decode_prob`; `blocking_prob` above 0.

    Returns
    -------
    float or ndarray
        d log P / d log p, a ratio, broadcast over all arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`n p \binom{n-1}{r} p^r (1-p)^{n-1-r} / P(L_n > r)`; about r + 1 for small p, so that a loss 1.5 times as high
    makes failures some 1.5^(r + 1) times as frequent.

    References
    ----------
    caps Eq. 2, its derivative.

    Examples
    --------
    >>> round(failure_elasticity(64, r=7, blocking_prob=0.01175), 2)
    7.34
    """
    k, r, p = np.broadcast_arrays(whole("k", k, minimum=1), whole("r", r), probability("blocking_prob", blocking_prob))
    require(p > 0, "blocking_prob = 0, but it must lie in (0, 1): without losses nothing fails")
    n = k + r
    log_mass = log_pmf(np.minimum(r, n - 1), np.maximum(n - 1, 1), p) if n.size else np.zeros(n.shape)
    log_mass = np.where(n == 1, 0.0, log_mass)  # no other packet: none is lost
    return plain(np.exp(np.log(n * p) + log_mass - log_tails(k, r, p)[1]))


def _predictive_law(n: int, lost: float, sent: float) -> FloatArray:
    """Return the beta-binomial law of losses among n packets, by ratios of positive terms."""
    a, b = lost + 0.5, sent - lost + 0.5
    i = np.arange(n)
    log_none = np.sum(np.log((b + i) / (a + b + i)))
    ratios = (n - i) * (a + i) / ((i + 1) * (b + n - 1 - i))
    return np.asarray(np.exp(log_none + np.concatenate([[0.0], np.cumsum(np.log(ratios))])))


def _counted(lost: float, sent: float) -> tuple[float, float]:
    x, total = one_number(whole, "lost", lost), one_number(whole, "sent", sent, minimum=1)
    require(x <= total, f"lost = {x:g}, but only {total:g} packets were sent")
    return x, total


@closed_form
def predictive_failure_prob(k: float, *, r: float, lost: float, sent: float) -> float:
    r"""Return the probability that a unit fails when all that is known of the loss are counted packets.

    Parameters
    ----------
    k, r : float
        Source and repair packets, packets, whole, k >= 1, r >= 0.
    lost, sent : float
        Packets that were lost, of so many that were sent, packets, whole; sent at least 1.

    Returns
    -------
    float
        Probability in [0, 1].

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    The loss has the beta distribution of Jeffreys' prior and x lost of N, so the number lost of n packets is
    beta-binomial with x + 1/2 and N - x + 1/2. It counts how little a short measurement says: for N to infinity at a
    fixed x/N it is :func:`capsmodel.coding.decoding.decode_failure_prob`. Equal, independent losses.

    References
    ----------
    Beyond the papers; caps Eq. 2 with an unknown p.

    Examples
    --------
    >>> f"{predictive_failure_prob(64, r=9, lost=12, sent=1000):.2g}"
    '2.9e-07'
    """
    k, r = one_number(whole, "k", k, minimum=1), one_number(whole, "r", r)
    require(k + r <= MOST_PACKETS, f"a unit of {k + r:g} packets, but at most {MOST_PACKETS} are computed")
    return min(1.0, float(np.sum(_predictive_law(int(k + r), *_counted(lost, sent))[int(r) + 1 :][::-1])))


@closed_form
def predictive_repair_packets(k: float, *, lost: float, sent: float, failure_prob: float) -> int:
    r"""Return the fewest repair packets for a probability of failure, when the loss was counted.

    Parameters
    ----------
    k, lost, sent
        As in :func:`predictive_failure_prob`.
    failure_prob : float
        Largest probability that the unit fails, in (0, 1).

    Returns
    -------
    int
        Packets.

    Raises
    ------
    ParameterError
        If an argument leaves its range or 2^12 packets are not enough.

    Notes
    -----
    The least r of :func:`predictive_failure_prob`.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> predictive_repair_packets(64, lost=12, sent=1000, failure_prob=1e-6)
    9
    """
    k, limit = one_number(whole, "k", k, minimum=1), failure_target(failure_prob) * (1 + TOLERANCE)
    x, total = _counted(lost, sent)
    for r in range(2**12):
        if predictive_failure_prob(k, r=r, lost=x, sent=total) <= limit:
            return r
    raise ParameterError(f"failure_prob = {failure_prob:g} is out of reach with {r} repair packets: count more packets")


@closed_form
def residual_loss_prob(k: float, *, r: float, losses: PathLosses | float) -> float:
    r"""Return the share of source packets that are lost and not recovered.

    Parameters
    ----------
    k, r : float
        Source and repair packets, packets, whole, k >= 1, r >= 0.
    losses : PathLosses or float
        What happens to the packets, without loss bursts or paths that are down; a number is the loss of equal,
        independent ones, in [0, 1).

    Returns
    -------
    float
        Probability in [0, 1]: at most that of a unit's failure, of which most source packets are there all the same.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or packets are not independent.

    Notes
    -----
    Of a systematic code that gives nothing back when more than r packets are lost:
    :math:`E[\text{source packets lost};\,L_n > r]/k`; for equal losses p P(Bin(n - 1, p) >= r). The source packets are
    sent first. With ``first_path="worst"`` it is the largest share of one first path.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> f"{residual_loss_prob(20, r=10, losses=0.1):.3g}"
    '3.33e-05'
    """
    given = as_losses(losses)
    k, r = int(one_number(whole, "k", k, minimum=1)), int(one_number(whole, "r", r))
    require(k + r <= MOST_PACKETS, f"a unit of {k + r} packets, but at most {MOST_PACKETS} are computed")
    require(given.packets_are_independent, "what is left of loss bursts, or of paths that are down, is not computed")
    starts, late = given.starts(k + r), given.late_probs(k + r)
    of_start = [_source_lost(given.packet_losses(start, late), k, r) for start, _ in starts]
    if given.first_path == "worst":
        return max(of_start)
    return float(sum(share * lost for (_, share), lost in zip(starts, of_start, strict=True)))


def _source_lost(lost: FloatArray, k: int, r: int) -> float:
    """Return E[source packets lost; more than r of all are lost]/k, where packet i is lost with lost[i]."""
    counts, source = np.zeros((2, r + 2))
    counts[0] = 1.0
    for i, q in enumerate(lost.tolist()):
        source = with_packet(source, q)
        if i < k:
            source[1:] += counts[:-1] * q
            source[-1] += counts[-1] * q
        counts = with_packet(counts, q)
    return float(source[-1] / k)


@closed_form
def least_interleave(k: float, *, r: float, losses: PathLosses, failure_prob: float) -> int:
    r"""Return the least depth of interleaving with which a unit fails with at most `failure_prob`.

    Parameters
    ----------
    k, r : float
        Source and repair packets, packets, whole, k >= 1, r >= 0.
    losses : PathLosses
        With loss bursts.
    failure_prob : float
        Largest probability that the unit fails, in (0, 1).

    Returns
    -------
    int
        Depth D: packets of a unit on a path have D - 1 of others between them.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or a unit fails more often both without depth and with independent losses,
        which is what depth leads to.

    Notes
    -----
    Depth makes the chain forget: :math:`\lambda^D` (:class:`capsmodel.coding.paths.losses.PathLosses`). Less memory is
    taken to mean fewer failures, as it does where r covers the mean of the losses.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> least_interleave(20, r=4, losses=PathLosses(0.01, burst_packets=10), failure_prob=1e-4)
    24
    """
    require(
        isinstance(losses, PathLosses) and losses.has_runs, "interleaving needs losses with runs: give burst_packets"
    )
    limit = failure_target(failure_prob) * (1 + TOLERANCE)

    def fails(depth: int) -> float:
        return float(unit_failure_prob(k, r=r, losses=replace(losses, interleave=depth)))

    if fails(1) <= limit:
        return 1
    most = 2**20
    left = fails(most)
    message = f"with independent losses the unit still fails with {left:.3g}"
    require(
        left <= limit, f"failure_prob = {failure_prob:g} is out of reach of interleaving: {message}; add repair packets"
    )
    low, high = 1, 2
    while fails(high) > limit:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(middle) <= limit else (middle, high)
    return high
