r"""Intervals of a mean, a proportion, a quantile or a difference, from samples.

============================ ================================================== ===================================
Quantity                     Name                                               Rests on
============================ ================================================== ===================================
mean of replicates           :func:`mean_interval`                              independent, mean nearly normal
mean of one long run         :func:`batch_means`                                stationary, batches beyond its memory
proportion                   :func:`wilson_interval`                            independent trials, normal score
proportion, never too short  :func:`clopper_pearson_interval`                   independent trials
quantile                     :func:`quantile_interval`                          independent, any distribution
difference of proportions    :func:`proportion_difference`                      two independent samples
difference, other variates   :func:`welch_difference`                           two independent samples
difference, common variates  :func:`paired_difference`                          independent pairs
skewness                     :func:`skewness`                                   independent
ratio, common variates       :func:`paired_ratio`                               independent pairs above 0
observations for a width     :func:`samples_for`                                as the mean
============================ ================================================== ===================================

Every interval is two-sided and every value has the unit of the sample, a ratio none. The place of a minimum is in
:mod:`capsmodel.experiments.statistics.argmin`.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy  # its packages are loaded at their first use: together they take as long as all else

from capsmodel.checks import (
    FloatArray,
    as_floats,
    closed_form,
    non_negative,
    one_number,
    positive,
    probability,
    require,
    whole,
)
from capsmodel.metrics import percentile

__all__ = [
    "BatchMeans",
    "Interval",
    "MeanInterval",
    "PairedDifference",
    "QuantileInterval",
    "RatioInterval",
    "batch_means",
    "clopper_pearson_interval",
    "mean_interval",
    "paired_difference",
    "paired_ratio",
    "proportion_difference",
    "quantile_interval",
    "quantile_ranks",
    "ratio_of_logs",
    "samples_for",
    "skewness",
    "student_interval",
    "welch_difference",
    "wilson_interval",
]


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate and its confidence interval.

    Attributes
    ----------
    value, low, high : float
        Estimate and ends, in the unit of the sample; an end is infinite where the sample sets no bound.
    confidence : float
        Probability asked for that such an interval covers the true value.
    samples : int
        Observations behind it.
    """

    value: float
    low: float
    high: float
    confidence: float
    samples: int

    def __str__(self) -> str:
        return f"{self.value:.6g} [{self.low:.6g}, {self.high:.6g}] at {self.confidence:g}, {self.samples} samples"


@dataclass(frozen=True, kw_only=True)
class MeanInterval(Interval):
    """A mean, or a difference of means, with its standard error.

    Attributes
    ----------
    standard_error : float
        Of the estimate, in its unit.
    degrees_of_freedom : float
        Of Student's t; a fraction in Welch's difference.
    """

    standard_error: float
    degrees_of_freedom: float

    @property
    def half_width(self) -> float:
        """Return half the length of the interval, in the unit of the sample."""
        return (self.high - self.low) / 2

    def at(self, confidence: float) -> "MeanInterval":
        """Return the same estimate with its interval at another confidence, in (0, 1)."""
        level = checked_confidence(confidence)
        return student_interval(self.value, self.standard_error, self.degrees_of_freedom, level, self.samples)


def sample(name: str, values: npt.ArrayLike, *, minimum: int) -> FloatArray:
    """Check a sample: one dimension, finite, at least `minimum` observations."""
    checked = as_floats(name, values)
    require(checked.ndim == 1, f"{name} has {checked.ndim} dimensions, but a sample has one: pass one run, flattened")
    require(checked.size >= minimum, f"{name} holds {checked.size} values, but it needs at least {minimum}")
    require(np.isfinite(checked), f"{name} holds an infinite value: remove it and report how many there were")
    return checked


def checked_confidence(value: float) -> float:
    """Check the probability that an interval shall cover the truth, in (0, 1)."""
    confidence = float(probability("confidence", value))
    require(confidence > 0, "confidence = 0, but it must lie in (0, 1)")
    return confidence


def student_interval(value: float, error: float, dof: float, confidence: float, samples: int) -> MeanInterval:
    """Return `value` with the interval of Student's t with `dof` degrees of freedom."""
    half = float(scipy.special.stdtrit(dof, (1 + confidence) / 2)) * error
    return MeanInterval(
        value=value, low=value - half, high=value + half, confidence=confidence, samples=samples,
        standard_error=error, degrees_of_freedom=dof,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class QuantileInterval(Interval):
    """A quantile between two order statistics.

    Attributes
    ----------
    coverage : float
        Exact probability that it covers the quantile of a continuous law, at least `confidence`.
    low_rank, high_rank : int
        Ranks of its ends, from 1; 0 and `samples` + 1 stand for the infinite ends.
    """

    coverage: float
    low_rank: int
    high_rank: int


@dataclass(frozen=True, kw_only=True)
class PairedDifference(MeanInterval):
    """A difference under common random numbers.

    Attributes
    ----------
    correlation : float
        Between the two samples; what common random numbers bought. NaN where one sample is constant.
    """

    correlation: float


@dataclass(frozen=True, kw_only=True)
class RatioInterval(Interval):
    """A geometric mean of ratios.

    Attributes
    ----------
    logs : MeanInterval
        Mean of their logarithms.
    """

    logs: MeanInterval

    def at(self, confidence: float) -> "RatioInterval":
        """Return the same ratio with its interval at another confidence, in (0, 1)."""
        return ratio_of_logs(self.logs.at(confidence))


def ratio_of_logs(logs: MeanInterval) -> RatioInterval:
    """Return a geometric mean of ratios from the mean of their logarithms."""
    ends = {name: float(np.exp(getattr(logs, name))) for name in ("value", "low", "high")}
    return RatioInterval(**ends, confidence=logs.confidence, samples=logs.samples, logs=logs)


@closed_form
def mean_interval(samples: npt.ArrayLike, *, confidence: float = 0.95) -> MeanInterval:
    r"""Return the mean of independent observations with Student's t interval.

    Parameters
    ----------
    samples : array_like
        At least two independent observations, such as one figure from each replicate, any unit.
    confidence : float
        Probability that the interval covers the mean, in (0, 1).

    Returns
    -------
    MeanInterval
        In the unit of `samples`.

    Raises
    ------
    ParameterError
        If there are fewer than two observations, one is not finite, or their squares are not.

    Notes
    -----
    :math:`\bar x\pm t_{n-1}\,s/\sqrt n`. Exact for normal observations; the packets of one run are not independent,
    see :func:`batch_means`. How far skewed ones miss it, and what holds
    for them, says :mod:`capsmodel.experiments.statistics.sequential`.

    Examples
    --------
    >>> print(mean_interval([1.0, 2.0, 3.0]))
    2 [-0.484138, 4.48414] at 0.95, 3 samples
    """
    values, level = sample("samples", samples, minimum=2), checked_confidence(confidence)
    error = float(values.std(ddof=1)) / values.size**0.5
    return student_interval(float(values.mean()), error, values.size - 1, level, values.size)


def samples_for(half_width: float, *, samples: int, target: float = 0.1, confidence: float = 0.95) -> float:
    r"""Return how many observations an interval of a mean needs to be as short as `target`.

    Parameters
    ----------
    half_width : float
        Half the length of the interval that was found, over the mean: a ratio, at least 0.
    samples : int
        Observations behind it, at least 2.
    target : float
        Half the length that it is to have, over the mean, above 0.
    confidence : float
        Of both intervals, in (0, 1).

    Returns
    -------
    float
        A whole number, at least 2.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    The least m with :math:`t_{m-1}/\sqrt m\le (w^*/w)\,t_{n-1}/\sqrt n`: further observations scatter as the n that
    are there. With few of them that is a guess: of 5 normal ones the deviation is off by a third.

    Examples
    --------
    >>> samples_for(0.25, samples=5)
    19.0
    """
    width, wanted = one_number(non_negative, "half_width", half_width), one_number(positive, "target", target)
    count, level = int(whole("samples", samples, minimum=2)), checked_confidence(confidence)
    half = (1 + level) / 2
    quantile = float(scipy.special.stdtrit(count - 1, half)) / count**0.5 * wanted / max(width, wanted * 1e-9)
    normal = (float(scipy.special.ndtri(half)) / quantile) ** 2  # what it would be of very many
    few = max(2, int(normal))
    while float(scipy.special.stdtrit(few - 1, half)) / few**0.5 > quantile:
        few += max(1, few // 10**4)
    return float(few)


@dataclass(frozen=True, kw_only=True)
class BatchMeans(MeanInterval):
    """The mean of one correlated run.

    Attributes
    ----------
    batch_samples : int
        Observations in each batch.
    dropped_samples : int
        Observations at the start that fill no batch.
    effective_samples : float
        Independent observations that would give the same standard error.
    batch_correlation : float
        Correlation of neighbouring batch means; well above zero, the batches are too short and the interval too.
    """

    batch_samples: int
    dropped_samples: int
    effective_samples: float
    batch_correlation: float


@closed_form
def batch_means(samples: npt.ArrayLike, *, batches: int = 32, confidence: float = 0.95) -> BatchMeans:
    r"""Return the mean of one long correlated run, with an interval from the means of its batches.

    Parameters
    ----------
    samples : array_like
        Observations of a stationary run in order, without its start, at least two for each batch, any unit.
    batches : int
        Number of batches of equal length, at least 2; 20 to 40 is usual.
    confidence : float
        Probability that the interval covers the mean, in (0, 1).

    Returns
    -------
    BatchMeans
        In the unit of `samples`.

    Raises
    ------
    ParameterError
        If the run is too short or does not vary.

    Notes
    -----
    With m observations in each of b batches, SE is the standard deviation of the batch means over :math:`\sqrt b`,
    with b - 1 degrees of freedom; :math:`n_{eff}=s^2/SE^2`. Observations that fill no batch are dropped at the start.

    Examples
    --------
    >>> found = batch_means([5.0, 1.0, 3.0, 2.0, 4.0], batches=2)
    >>> found.batch_samples, found.dropped_samples, found.value, found.standard_error
    (2, 1, 2.5, 0.5)
    """
    count = int(whole("batches", batches, minimum=2))
    values, level = sample("samples", samples, minimum=2 * count), checked_confidence(confidence)
    size = values.size // count
    used = values[values.size - size * count :]
    means = used.reshape(count, size).mean(axis=1)
    error = float(means.std(ddof=1)) / count**0.5
    require(error > 0, "samples has equal batch means: a run that does not vary has no standard error")
    deviation = means - means.mean()
    interval = student_interval(float(used.mean()), error, count - 1, level, used.size)
    return BatchMeans(
        **vars(interval), batch_samples=size, dropped_samples=values.size - used.size,
        effective_samples=float(used.var(ddof=1)) / error**2,
        batch_correlation=float(deviation[1:] @ deviation[:-1] / (deviation @ deviation)),
    )  # fmt: skip


@closed_form
def skewness(samples: npt.ArrayLike) -> float:
    r"""Return the skewness of a sample: 0 for symmetric ones, above 0 with a long tail upwards.

    Parameters
    ----------
    samples : array_like
        At least three independent observations, any unit.

    Returns
    -------
    float
        Without unit; 0 for equal observations. Of n observations it is :math:`\sqrt n` at most, whatever the law.

    Raises
    ------
    ParameterError
        If there are fewer than three observations, one is not finite, or their cubes are not.

    Notes
    -----
    :math:`G_1=\frac{\sqrt{n(n-1)}}{n-2}\,\frac{m_3}{m_2^{3/2}}` with the central moments of the sample. Exponential
    observations have 2, lognormal ones with the standard deviation 1 of the logarithm 6.2; samples of 4 or 8 show much
    less.

    References
    ----------
    D. N. Joanes, C. A. Gill. Comparing measures of sample skewness and kurtosis. The Statistician 47(1), pp. 183-189,
    1998.

    Examples
    --------
    >>> round(skewness([1.0, 1.0, 1.0, 5.0]), 6), skewness([1.0, 2.0, 3.0])
    (2.0, 0.0)
    """
    values = sample("samples", samples, minimum=3)
    if np.ptp(values) == 0:
        return 0.0
    deviations, n = values - values.mean(), values.size
    share = float((deviations**3).mean() / (deviations**2).mean() ** 1.5)
    return float((n * (n - 1)) ** 0.5 / (n - 2) * share)


def _counts(successes: int, trials: int) -> tuple[int, int]:
    hits, tries = int(whole("successes", successes)), int(whole("trials", trials, minimum=1))
    require(hits <= tries, f"successes = {hits}, but there were only {tries} trials")
    return hits, tries


def wilson_interval(successes: int, *, trials: int, confidence: float = 0.95) -> Interval:
    r"""Return a proportion with Wilson's score interval.

    Parameters
    ----------
    successes : int
        Trials that succeeded, 0 to `trials`.
    trials : int
        Independent trials, at least 1.
    confidence : float
        Mean probability of covering the proportion, in (0, 1).

    Returns
    -------
    Interval
        Within [0, 1]; its value is successes / trials.

    Raises
    ------
    ParameterError
        If a count breaks its range.

    Notes
    -----
    All proportions p with :math:`|\hat p-p|\le z\sqrt{p(1-p)/n}`. Its coverage lies near `confidence` on average and
    below it for some p; :func:`clopper_pearson_interval` is never below.

    Examples
    --------
    >>> print(wilson_interval(0, trials=100))
    0 [0, 0.0369935] at 0.95, 100 samples
    """
    (hits, tries), level = _counts(successes, trials), checked_confidence(confidence)
    share, z2 = hits / tries, float(scipy.special.ndtri((1 + level) / 2)) ** 2
    centre = (hits + z2 / 2) / (tries + z2)
    half = (z2 * (tries * share * (1 - share) + z2 / 4)) ** 0.5 / (tries + z2)
    # At the borders one end is exactly 0 or 1, which rounding would miss.
    low, high = (0.0 if hits == 0 else centre - half), (1.0 if hits == tries else centre + half)
    return Interval(value=share, low=low, high=high, confidence=level, samples=tries)


def proportion_difference(a: Interval, b: Interval) -> Interval:
    r"""Return the difference a - b of two proportions with its interval.

    Parameters
    ----------
    a, b : Interval
        From :func:`wilson_interval`, of independent samples, with the same confidence.

    Returns
    -------
    Interval
        Within [-1, 1].

    Raises
    ------
    ParameterError
        If the two have different confidence.

    Notes
    -----
    The distances of the ends are :math:`\sqrt{(a-a_l)^2+(b_h-b)^2}` and :math:`\sqrt{(a_h-a)^2+(b-b_l)^2}`.

    References
    ----------
    Newcombe 1998, method 10.

    Examples
    --------
    >>> print(proportion_difference(wilson_interval(56, trials=70), wilson_interval(48, trials=80)))
    0.2 [0.0524315, 0.333873] at 0.95, 150 samples
    """
    require(
        a.confidence == b.confidence, f"a has confidence {a.confidence:g} and b {b.confidence:g}: give both the same"
    )
    difference = a.value - b.value
    below, above = np.hypot(a.value - a.low, b.high - b.value), np.hypot(a.high - a.value, b.value - b.low)
    return Interval(
        value=difference, low=float(difference - below), high=float(difference + above),
        confidence=a.confidence, samples=a.samples + b.samples,
    )  # fmt: skip


def clopper_pearson_interval(successes: int, *, trials: int, confidence: float = 0.95) -> Interval:
    r"""Return a proportion with the interval that covers it at least as often as asked, whatever it is.

    Parameters
    ----------
    successes : int
        Trials that succeeded, 0 to `trials`.
    trials : int
        Independent trials, at least 1.
    confidence : float
        Smallest probability of covering the proportion, in (0, 1).

    Returns
    -------
    Interval
        Within [0, 1]; its value is successes / trials.

    Raises
    ------
    ParameterError
        If a count breaks its range.

    Notes
    -----
    Its ends are the proportions at which the observed count or a more extreme one has probability
    (1 - confidence) / 2, roots of the regularised incomplete beta function.

    Examples
    --------
    >>> print(clopper_pearson_interval(0, trials=100))
    0 [0, 0.0362167] at 0.95, 100 samples
    """
    (hits, tries), level = _counts(successes, trials), checked_confidence(confidence)
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(scipy.special.betaincinv(hits, tries - hits + 1, tail))
    high = 1.0 if hits == tries else float(scipy.special.betainccinv(hits + 1, tries - hits, tail))
    return Interval(value=hits / tries, low=low, high=high, confidence=level, samples=tries)


@closed_form
def quantile_interval(samples: npt.ArrayLike, *, q: float, confidence: float = 0.95) -> QuantileInterval:
    r"""Return a quantile with an interval between two order statistics.

    Parameters
    ----------
    samples : array_like
        Independent observations of any law, at least one, any unit.
    q : float
        Probability of the quantile, in (0, 1); 0.99 for the 99th percentile.
    confidence : float
        Smallest probability that the interval covers the quantile, in (0, 1).

    Returns
    -------
    QuantileInterval
        In the unit of `samples`; its value is :func:`capsmodel.metrics.percentile`.

    Raises
    ------
    ParameterError
        If there is no observation, one is not finite, or `q` leaves (0, 1).

    Notes
    -----
    The number of observations below the quantile is binomial, :math:`B\sim\mathrm{Bin}(n,q)`, so
    :math:`P(x_{(l)}<x_q<x_{(u)})=P(l\le B<u)`; l is the largest and u the smallest rank that leave at most half of
    1 - confidence outside. A sample too small for an end has an infinite one: the 99th percentile has no upper end
    below 368 observations at 0.95. For a law with atoms the coverage is larger.

    Examples
    --------
    >>> found = quantile_interval(range(1, 101), q=0.5)
    >>> print(found, round(found.coverage, 4))
    50 [40, 61] at 0.95, 100 samples 0.9648
    """
    values, level = np.sort(sample("samples", samples, minimum=1)), checked_confidence(confidence)
    prob = float(probability("q", q))
    require(prob > 0, "q = 0, but it must lie in (0, 1)")
    low, high, coverage = quantile_ranks(values.size, prob, level)
    padded = np.concatenate([[-np.inf], values, [np.inf]])
    return QuantileInterval(
        value=float(percentile(values, q=prob)),
        low=float(padded[low]), high=float(padded[high]), confidence=level, samples=values.size,
        coverage=coverage, low_rank=low, high_rank=high,
    )  # fmt: skip


@lru_cache(maxsize=1024)
def quantile_ranks(n: int, prob: float, level: float) -> tuple[int, int, float]:
    """Return the ranks of both ends of the interval of a quantile of n observations (0, n + 1: none), and its coverage.

    It is that of :func:`quantile_interval`, for whoever takes many of them.
    """
    counts = np.arange(n)
    at_most = np.append(scipy.special.betaincc(counts + 1, n - counts, prob), 1.0)
    above = np.append(scipy.special.betainc(counts + 1, n - counts, prob), 0.0)
    low = int(np.argmax(at_most >= (1 - level) / 2))
    high = int(np.argmax(above <= (1 - level) / 2)) + 1
    return low, high, float(at_most[high - 1] - (at_most[low - 1] if low else 0.0))


@closed_form
def welch_difference(a: npt.ArrayLike, b: npt.ArrayLike, *, confidence: float = 0.95) -> MeanInterval:
    r"""Return mean(a) - mean(b) of two independent samples with Welch's interval.

    Parameters
    ----------
    a, b : array_like
        At least two independent observations each, same unit; variances and sizes may differ.
    confidence : float
        Probability that the interval covers the difference, in (0, 1).

    Returns
    -------
    MeanInterval
        In the unit of the samples; `samples` counts both.

    Raises
    ------
    ParameterError
        If a sample is too small or neither varies.

    Notes
    -----
    :math:`SE^2=s_a^2/n_a+s_b^2/n_b` with the degrees of freedom of Welch and Satterthwaite. If both ran on the same
    random numbers, :func:`paired_difference` is shorter.

    Examples
    --------
    >>> print(welch_difference([3.0, 4.0, 5.0], [1.0, 2.0, 3.0]))
    2 [-0.266958, 4.26696] at 0.95, 6 samples
    """
    first, second, level = sample("a", a, minimum=2), sample("b", b, minimum=2), checked_confidence(confidence)
    parts = np.array([first.var(ddof=1) / first.size, second.var(ddof=1) / second.size])
    require(parts.sum() > 0, "a and b are constant: their difference has no standard error")
    dof = float(parts.sum() ** 2 / (parts**2 / [first.size - 1, second.size - 1]).sum())
    difference = float(first.mean() - second.mean())
    return student_interval(difference, float(parts.sum()) ** 0.5, dof, level, first.size + second.size)


@closed_form
def paired_difference(a: npt.ArrayLike, b: npt.ArrayLike, *, confidence: float = 0.95) -> PairedDifference:
    r"""Return mean(a - b) of two samples drawn under common random numbers.

    Parameters
    ----------
    a, b : array_like
        Observations of two systems, at least two, same unit; the i-th of both come from the same seed.
    confidence : float
        Probability that the interval covers the difference, in (0, 1).

    Returns
    -------
    PairedDifference
        In the unit of the samples; `samples` counts pairs.

    Raises
    ------
    ParameterError
        If the samples differ in size or are too small.

    Notes
    -----
    Student's t interval of the differences. Common random numbers pay when the correlation is positive:
    :math:`\mathrm{var}(a-b)=\sigma_a^2+\sigma_b^2-2\rho\sigma_a\sigma_b`.

    Examples
    --------
    >>> found = paired_difference([3.0, 4.0, 5.0, 7.0], [1.0, 2.0, 3.0, 4.0])
    >>> print(found, "correlation", round(found.correlation, 3))
    2.25 [1.45439, 3.04561] at 0.95, 4 samples correlation 0.983
    """
    first, second = sample("a", a, minimum=2), sample("b", b, minimum=2)
    require(first.size == second.size, f"a holds {first.size} values and b {second.size}, but pairs need as many")
    interval = mean_interval(first - second, confidence=confidence)
    spread = float(first.std(ddof=1) * second.std(ddof=1))
    covariance = float((first - first.mean()) @ (second - second.mean())) / (first.size - 1)
    return PairedDifference(**vars(interval), correlation=covariance / spread if spread else float("nan"))


@closed_form
def paired_ratio(a: npt.ArrayLike, b: npt.ArrayLike, *, confidence: float = 0.95) -> RatioInterval:
    r"""Return the geometric mean of a/b of two samples drawn under common random numbers.

    Parameters
    ----------
    a, b : array_like
        Observations of two systems, above 0, at least two, same unit; the i-th of both come from the same seed.
    confidence : float
        Probability that the interval covers the ratio, in (0, 1).

    Returns
    -------
    RatioInterval
        Without unit; `samples` counts pairs.

    Raises
    ------
    ParameterError
        If the samples differ in size, are too small, or hold a value that is not above 0.

    Notes
    -----
    :math:`\exp(\bar d\pm t_{n-1}\,s_d/\sqrt n)` with :math:`d_i=\ln(a_i/b_i)`. It is symmetric: with a and b exchanged
    the ratio and its ends are the reciprocals. The arithmetic mean of a/b is not, and for two systems of one law it is
    above 1: for independent normal logarithms of deviation σ its expectation is :math:`e^{\sigma^2}`, 1.22 for 0.45.

    Examples
    --------
    >>> print(paired_ratio([2.0, 1.0], [1.0, 2.0]).value, paired_ratio([1.0, 2.0, 4.0], [2.0, 2.0, 2.0]))
    1.0 1 [0.178731, 5.595] at 0.95, 3 samples
    """
    first, second = sample("a", a, minimum=2), sample("b", b, minimum=2)
    require(first.size == second.size, f"a holds {first.size} values and b {second.size}, but pairs need as many")
    for name, values in (("a", first), ("b", second)):
        require(values > 0, f"{name} holds {values.min():g}, but a ratio needs values above 0")
    return ratio_of_logs(mean_interval(np.log(first / second), confidence=confidence))
