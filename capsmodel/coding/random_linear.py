r"""Decoding with a dense random linear code: the packets that arrive, times the probability that they have full rank.

=========================  ==============  ================================  ====  ==================
Quantity                   Symbol          Name                              Unit  Equation
=========================  ==============  ================================  ====  ==================
k x m matrix has rank k    Q(k, m)         :func:`full_rank_prob`            1     beyond the papers
unit decodes, random code  sum p_B(r-e) Q  :func:`decode_prob_rlnc`          1     beyond cdcps Eq. 7
unit does not decode       1 - that        :func:`decode_failure_prob_rlnc`  1     beyond cdcps Eq. 7
=========================  ==============  ================================  ====  ==================

caps Eq. 2 and cdcps Eq. 7 let any k of the n packets decode. Packets that are random combinations over GF(q), the field
of q elements, as cdcps sends, can be linearly dependent; with q = 256 that costs 0.4% at exactly k arrivals and 256
times less per extra one.
"""

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

_NEGLIGIBLE = 2.0**-60
_LARGEST_FIELD = 2**32  # found to be a prime power in 2^16 trial divisions


def _field_size(field_size: int) -> float:
    """Check that `field_size` is a power of a prime, as the size of a finite field is."""
    size = int(one_number(whole, "field_size", field_size, minimum=2))
    require(size <= _LARGEST_FIELD, f"field_size = {size}, but it is at most {_LARGEST_FIELD}: four bytes")
    prime = next((d for d in range(2, int(size**0.5) + 1) if size % d == 0), size)
    rest = size
    while rest % prime == 0:
        rest //= prime
    if rest != 1:
        raise ParameterError(f"field_size = {size}, but a field has a prime power of elements: use 2, 256 or 65536")
    return float(size)


def _log_full_rank(k: FloatArray, extra: FloatArray, size: float) -> FloatArray:
    """Return log of prod (1 - q^-(extra + i)), i = 1..k; terms below 2^-60 of the first change nothing."""
    total = np.zeros(np.broadcast_shapes(k.shape, extra.shape))
    i, share = 1, 1.0
    while share > _NEGLIGIBLE and i <= np.max(k, initial=0):
        total += np.where(i <= k, np.log1p(-(size ** -(extra + i))), 0.0)
        i, share = i + 1, share / size
    return total


def without_full_rank(k: FloatArray, extra: int, size: float = 256.0) -> FloatArray:
    """Return 1 - Q(k, k + extra): how often random packets, `extra` more than needed, do not determine the unit."""
    return np.asarray(-np.expm1(_log_full_rank(k, np.full(k.shape, float(extra)), size)))


@overload
def full_rank_prob(k: float, *, received: float, field_size: int = ...) -> float: ...
@overload
def full_rank_prob(k: ArrayLike, *, received: ArrayLike, field_size: int = ...) -> FloatArray: ...
@closed_form
def full_rank_prob(k: ArrayLike, *, received: ArrayLike, field_size: int = 256) -> FloatOrArray:
    r"""Return the probability that `received` dense random linear combinations determine k source packets.

    Parameters
    ----------
    k : array_like
        Source packets k of the unit, packets, whole, at least 1.
    received : array_like
        Packets m that arrived, packets, whole, at least 0.
    field_size : int
        Elements q of the field, a prime power; 256 for one byte per coefficient.

    Returns
    -------
    float or ndarray
        Probability in [0, 1], broadcast over `k` and `received`; 0 where fewer than k arrived.

    Raises
    ------
    ParameterError
        If a count is not whole or too small, or `field_size` is no prime power.

    Notes
    -----
    :math:`Q(k, m) = \prod_{i=0}^{k-1} (1 - q^{-(m-i)})`: the i-th row avoids the span of those before it. Coefficients
    are uniform over the field, zero included. Relative error below 1e-14.

    References
    ----------
    Beyond cdcps Eq. 7, which takes Q = 1.

    Examples
    --------
    Of the 16 binary 2 x 2 matrices 6 are invertible.

    >>> full_rank_prob(2, received=2, field_size=2)
    0.375
    """
    k, m = whole("k", k, minimum=1), whole("received", received)
    enough = m >= k
    log_prob = _log_full_rank(k, np.where(enough, m - k, 0.0), _field_size(field_size))
    return plain(np.where(enough, np.exp(log_prob), 0.0))


@overload
def decode_prob_rlnc(k: float, *, r: float, blocking_prob: float, field_size: int = ...) -> float: ...
@overload
def decode_prob_rlnc(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike, field_size: int = ...) -> FloatArray: ...
@closed_form
def decode_prob_rlnc(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike, field_size: int = 256) -> FloatOrArray:
    r"""Return the probability that a unit coded with a dense random linear code decodes.

    Parameters
    ----------
    k : array_like
        Source packets k, packets, whole, at least 1.
    r : array_like
        Repair packets r, packets, whole, at least 0.
    blocking_prob : array_like
        Probability p that a packet is blocked, in [0, 1).
    field_size : int
        Elements q of the field, a prime power.

    Returns
    -------
    float or ndarray
        Probability in [0, 1], broadcast over the first three arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`\sum_{e=0}^{r} p_B(r-e)\,Q(k, k+e)` with e arrivals more than k. From the e on where 1 - Q is below
    2^-60 the sum is a binomial tail. All k + r packets are random combinations (the code is not systematic). It tends
    to :func:`capsmodel.coding.decoding.decode_prob` for large fields. Relative error below 1e-12.

    References
    ----------
    Beyond cdcps Eq. 7.

    Examples
    --------
    >>> round(decode_prob_rlnc(1, r=1, blocking_prob=0.5, field_size=2), 6)  # 1/2 * 1/2 + 1/4 * 3/4
    0.4375
    """
    size = _field_size(field_size)
    k, r, p = np.broadcast_arrays(whole("k", k, minimum=1), whole("r", r), probability("blocking_prob", blocking_prob))
    total, extra = np.zeros(k.shape), 0
    while extra <= np.max(r, initial=-1) and size**-extra > _NEGLIGIBLE:
        blocked = np.maximum(r - extra, 0)
        term = np.exp(log_pmf(blocked, k + r, p) + _log_full_rank(k, np.full(k.shape, float(extra)), size))
        total += np.where(r >= extra, term, 0.0)
        extra += 1
    # The rest, at most r - extra blocked of k + r, is the tail of a unit with k + extra needed.
    surplus = np.exp(log_tails(k + extra, np.maximum(r - extra, 0), p)[0])
    return plain(total + np.where(r >= extra, surplus, 0.0))


@overload
def decode_failure_prob_rlnc(k: float, *, r: float, blocking_prob: float, field_size: int = ...) -> float: ...
@overload
def decode_failure_prob_rlnc(
    k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike, field_size: int = ...
) -> FloatArray: ...
@closed_form
def decode_failure_prob_rlnc(
    k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike, field_size: int = 256
) -> FloatOrArray:
    r"""Return the probability that a unit coded with a dense random linear code does not decode.

    Parameters
    ----------
    k : array_like
        Source packets k, packets, whole, at least 1.
    r : array_like
        Repair packets r, packets, whole, at least 0.
    blocking_prob : array_like
        Probability p that a packet is blocked, in [0, 1).
    field_size : int
        Elements q of the field, a prime power.

    Returns
    -------
    float or ndarray
        Probability in [0, 1], broadcast over the first three arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`P(X > r) + \sum_{e=0}^{r} p_B(r-e)\,(1 - Q(k, k+e))`, a sum of positive terms that stops when no later one
    can reach 2^-60 of it (1 - Q falls with e). Even without blocking it is 1 - Q(k, n). Relative error below 1e-12.

    References
    ----------
    Beyond cdcps Eq. 7.

    Examples
    --------
    >>> round(decode_failure_prob_rlnc(1, r=1, blocking_prob=0.5, field_size=2), 6)
    0.5625
    """
    size = _field_size(field_size)
    k, r, p = np.broadcast_arrays(whole("k", k, minimum=1), whole("r", r), probability("blocking_prob", blocking_prob))
    total, extra = np.exp(log_tails(k, r, p)[1]), 0
    while extra <= np.max(r, initial=-1):
        deficient = without_full_rank(k, extra, size)
        if np.all((r < extra) | (deficient <= _NEGLIGIBLE * total)):
            break
        term = np.exp(log_pmf(np.maximum(r - extra, 0), k + r, p)) * deficient
        total, extra = total + np.where(r >= extra, term, 0.0), extra + 1
    return plain(total)
