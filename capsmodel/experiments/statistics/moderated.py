r"""Variances of several samples, each estimated with the help of the others.

Four runs say little about how much a result scatters: Student's t with three degrees of freedom has intervals that are
several times as long as with many. The points of one claim scatter alike, though not equally. Their variances
:math:`\sigma_i^2` are taken as drawn from one scaled inverse chi-square law with :math:`d_0` degrees of freedom and
scale :math:`s_0^2`. Given that law, the variance of sample i with :math:`d` degrees of freedom and variance
:math:`s_i^2` is estimated by

.. math:: \tilde s_i^2 = \frac{d_0 s_0^2 + d s_i^2}{d_0 + d},

and the t statistic with :math:`\tilde s_i` has :math:`d_0 + d` degrees of freedom (Smyth 2004). :math:`d_0` and
:math:`s_0^2` follow from mean and variance of :math:`\log s_i^2`; where these scatter as much as equal variances do,
:math:`d_0` is infinite, and :math:`s_0^2` is the mean of the variances.

Two things are added, both so that the level holds for few samples. Samples that share runs are correlated, so that
their variances are alike by chance: with the mean squared correlation :math:`r^2`, the m samples count as
:math:`m/(1 + (m-1) r^2)`, and equal variances scatter less. And :math:`d_0` is estimated by few numbers, so it is at
most the degrees of freedom of the other samples, as many as they count for, and half of it is used.

References
----------
G. K. Smyth. Linear models and empirical Bayes methods for assessing differential expression in microarray experiments.
Statistical Applications in Genetics and Molecular Biology 3(1), article 3, 2004.
"""

from typing import NamedTuple

import numpy as np
import scipy

from capsmodel.checks import FloatArray

__all__ = ["FEWEST_SAMPLES", "Moderated", "moderated"]

FEWEST_SAMPLES = 4
"""Samples below which each is left to itself: the scatter of fewer variances tells nothing."""
FEWEST_EFFECTIVE = 2.0
"""The same of independent samples that would tell as much."""


class Moderated(NamedTuple):
    """Estimated variance of each sample, and the degrees of freedom that all have."""

    variances: FloatArray
    degrees_of_freedom: float


def moderated(samples: FloatArray) -> Moderated:
    """Return the variances of samples that scatter alike.

    Parameters
    ----------
    samples : ndarray
        A row for each sample, a column for each observation: those of a column may depend on each other. No row is
        constant.

    Returns
    -------
    Moderated
        Those of the rows themselves, with n - 1 degrees of freedom, if they are fewer than `FEWEST_SAMPLES`.

    Examples
    --------
    >>> rows = np.random.default_rng(1).normal(size=(12, 4))
    >>> found = moderated(rows)
    >>> float(np.ptp(found.variances)) < float(np.ptp(rows.var(axis=1, ddof=1))), found.degrees_of_freedom > 3
    (True, True)
    """
    count, dof = samples.shape[0], samples.shape[1] - 1
    variances = samples.var(axis=1, ddof=1)
    if count < FEWEST_SAMPLES:
        return Moderated(variances, float(dof))
    shared = _shared(samples)
    effective = count / (1 + (count - 1) * shared)
    if effective < FEWEST_EFFECTIVE:
        return Moderated(variances, float(dof))
    prior, scale = _prior(variances, dof, shared)
    prior = min(prior, dof * (effective - 1)) / 2
    return Moderated((prior * scale + dof * variances) / (prior + dof), prior + dof)


def _shared(samples: FloatArray) -> float:
    """Return the mean squared correlation of two samples; independent ones have some by chance, which is left in."""
    count = samples.shape[0]
    return float((np.sum(np.corrcoef(samples) ** 2) - count) / (count * (count - 1)))


def _prior(variances: FloatArray, dof: int, shared: float) -> tuple[float, float]:
    """Return degrees of freedom and scale of the law that variances are drawn from."""
    digamma = scipy.special.digamma
    logs = np.log(variances) - digamma(dof / 2) + np.log(dof / 2)
    extra = float(np.var(logs, ddof=1)) - (1 - shared) * _trigamma(dof / 2)
    if extra <= 0:
        return np.inf, float(np.mean(variances))
    half = _inverse_trigamma(extra)
    return 2 * half, float(np.exp(np.mean(logs) + digamma(half) - np.log(half)))


def _trigamma(x: float) -> float:
    return float(scipy.special.zeta(2, x))


def _inverse_trigamma(value: float) -> float:
    """Return the argument of the trigamma function, by Newton's method on its reciprocal (Smyth 2004, appendix)."""
    x = 0.5 + 1 / value
    for _ in range(20):
        found = _trigamma(x)
        step = found * (1 - found / value) / (-2 * float(scipy.special.zeta(3, x)))
        x += step
        if abs(step) < 1e-10 * x:
            break
    return x
