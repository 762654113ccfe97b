r"""Values with probabilities: the quantiles of what a prediction lists, and distributions cut into few values.

===================== ============================================== ==================== =======
Quantity              Symbol                                         Name                 Unit
===================== ============================================== ==================== =======
quantile              of values with probabilities                   :class:`States`      any
geometric number      :math:`P(k)=(1-\rho)\rho^k`                    :func:`geometric`    1
exponential quantity  of mean 1                                      :func:`exponential`  1
===================== ============================================== ==================== =======
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from capsmodel.checks import FloatArray

_CUTS = np.array([0.0, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0])  # closer where quantiles are asked
_BINS = 4096  # of the range of values: those of one bin are sorted
_LONE, _GROWTH, _REST = 6, 1.4, 1e-4  # numbers one by one, then in groups that grow, until so little is above


@dataclass(frozen=True, eq=False)
class States:
    """Values and their probabilities, which sum to 1.

    Parameters
    ----------
    values, probs : sequence of ndarray
        Arrays of values, and of their probabilities, which may stand for several values by broadcasting.
    """

    values: Sequence[FloatArray]
    probs: Sequence[FloatArray]

    def quantile(self, q: float) -> float:
        """Return the least value at or below which a share of at least `q` is; NaN where there is no value."""
        values, probs = self._listed
        if not len(values):
            return float("nan")
        low, width = values.min(), np.ptp(values)
        bins = np.asarray((values - low) / width * _BINS if width > 0 else np.zeros(len(values)), dtype=np.int64)
        upto = np.cumsum(np.bincount(bins, weights=probs))
        least = q * upto[-1]
        chosen = min(int(np.searchsorted(upto, least)), len(upto) - 1)
        within = np.flatnonzero(bins == chosen)
        ascending = within[np.argsort(values[within])]
        below = np.cumsum(probs[ascending]) + upto[chosen] - probs[within].sum()
        return float(values[ascending[min(int(np.searchsorted(below, least)), len(within) - 1)]])

    @cached_property
    def _listed(self) -> tuple[FloatArray, FloatArray]:
        probs = [np.broadcast_to(often, each.shape) for often, each in zip(self.probs, self.values, strict=True)]
        return _in_one_axis(self.values), _in_one_axis(probs)


def _in_one_axis(arrays: Sequence[FloatArray]) -> FloatArray:
    return np.concatenate([np.zeros(0), *(each.ravel() for each in arrays)])


def geometric(load: float) -> tuple[FloatArray, FloatArray]:
    r"""Return numbers k and their probabilities :math:`(1-\rho)\rho^k`, large ones in groups by their mean.

    Parameters
    ----------
    load : float
        ρ, in [0, 1).

    Examples
    --------
    >>> numbers, probs = geometric(0.5)
    >>> round(float(numbers @ probs), 12), round(float(probs.sum()), 12)
    (1.0, 1.0)
    """
    if load == 0:
        return np.zeros(1), np.ones(1)
    most = max(_LONE + 1, np.log(_REST) / np.log(load))
    groups = _LONE * _GROWTH ** np.arange(1 + np.ceil(np.log(most / _LONE) / np.log(_GROWTH)))
    first = np.concatenate([np.arange(_LONE), np.floor(groups)])
    above = np.append(load**first, 0.0)
    # E[K; K >= a] of a geometric number is (a + rho / (1 - rho)) rho^a.
    sums = np.append((first + load / (1 - load)) * above[:-1], 0.0)
    probs = -np.diff(above)
    return -np.diff(sums) / probs, probs


def exponential() -> tuple[FloatArray, FloatArray]:
    r"""Return values of an exponential quantity of mean 1 and their probabilities, groups by their mean.

    Notes
    -----
    :math:`E[X;X>x]=(1+x)e^{-x}`.

    Examples
    --------
    >>> values, probs = exponential()
    >>> round(float(values @ probs), 12)
    1.0
    """
    left = 1 - _CUTS
    ends = -np.log(np.where(left > 0, left, 1.0))
    sums = (1 + ends) * left
    probs = np.diff(_CUTS)
    return -np.diff(sums) / probs, probs


def uniform() -> tuple[FloatArray, FloatArray]:
    """Return values of a quantity uniform on [0, 2], of mean 1, and their probabilities, groups by their mean."""
    return _CUTS[:-1] + _CUTS[1:], np.diff(_CUTS)


def in_the_mean(values: FloatArray, probs: FloatArray) -> FloatArray:
    """Return values of which those above 0 are their mean.

    Examples
    --------
    >>> in_the_mean(np.array([0.0, 2.0, 4.0]), np.array([0.5, 0.25, 0.25])).tolist()
    [0.0, 3.0, 3.0]
    """
    some = values > 0
    return np.where(some, values @ probs / max(float(probs[some].sum()), np.finfo(float).tiny), 0.0)


__all__ = ["States", "exponential", "geometric", "in_the_mean", "uniform"]
