r"""Whether samples agree with a model: two-sided, with the model's declared bias, and only with the power to disagree.

=================== ====================================================================================================
Verdict             Meaning
=================== ====================================================================================================
disagrees           the samples lie farther from the model than its declared bias, beyond chance at the stated level
too few samples     no disagreement seen, but an error of the size to be detected could well have been missed
agrees              no disagreement seen, and an error of that size would have been found with the stated power
=================== ====================================================================================================

The samples may come from anywhere: an array of independent replicates, a mean with its standard error, or a count.
"""

from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from capsmodel._checks import non_negative, positive, probability, require, whole
from capsmodel.experiments.statistics import MeanInterval, mean_interval

FAMILY_FALSE_ALARM_PROB = 0.01
"""Probability that any of all agreement tests disagrees though every model holds: stated here and nowhere else."""
FAMILY_TESTS = 1000
"""Comparisons that this probability is divided over (Bonferroni); there may be fewer, not more."""
LEVEL = FAMILY_FALSE_ALARM_PROB / FAMILY_TESTS
"""Probability of a false alarm of one comparison: 1e-5, or 4.4 standard errors."""
POWER = 0.99
"""Probability with which an error of the size to be detected must be found."""

VerdictWord = Literal["agrees", "disagrees", "too few samples"]


@dataclass(frozen=True, kw_only=True)
class MeanAndError:
    """A mean measured elsewhere.

    Attributes
    ----------
    mean, standard_error : float
        In the unit of the model.
    degrees_of_freedom : float
        Of the standard error; infinite when it is known exactly.
    """

    mean: float
    standard_error: float
    degrees_of_freedom: float = inf


@dataclass(frozen=True, kw_only=True)
class Count:
    """Independent trials and how many of them succeeded."""

    successes: int
    trials: int


Samples = npt.ArrayLike | MeanAndError | MeanInterval | Count


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """A model held against samples; true when they agree, and its text is the verdict in one line.

    Attributes
    ----------
    verdict : str
        ``"agrees"``, ``"disagrees"`` or ``"too few samples"``.
    model, measured, standard_error, bias, detect : float
        Prediction, estimate, its standard error, declared bias and error to be detected, in the unit of the model.
    p_value : float
        Probability of samples at least this far outside the declared bias if the model holds; 1 inside.
    level : float
        Below it the verdict is "disagrees".
    power : float
        Probability that a mean at `detect` from the model would have been found to disagree.
    required_power : float
        Below it there are too few samples.
    evidence : str
        What the samples are, such as ``"400 trials"``.
    """

    verdict: VerdictWord
    model: float
    measured: float
    standard_error: float
    bias: float
    detect: float
    p_value: float
    level: float
    power: float
    required_power: float
    evidence: str

    def __bool__(self) -> bool:
        return self.verdict == "agrees"

    def __str__(self) -> str:
        return (
            f"{self.verdict}: model {self.model:.6g}, measured {self.measured:.6g} with standard error "
            f"{self.standard_error:.2g} ({self.evidence}), difference {self.measured - self.model:+.2g}, "
            f"declared bias {self.bias:.2g}, p = {self.p_value:.2g} at level {self.level:.1g}; "
            f"an error of {self.detect:.2g} is found with probability {self.power:.4g}"
        )


@dataclass(frozen=True)
class _Comparison:
    """What the two kinds of samples have to say: estimate, standard error, p-value, power, description."""

    measured: float
    standard_error: float
    p_value: float
    power: float
    evidence: str


def _mean_power(shift: float, dof: float, critical: float) -> float:
    """Return the probability that t of a mean `shift` errors away is critical; the measured error is taken as true."""
    if shift <= 37:
        return 1 - float(special.nctdtr(dof, shift, critical))
    # SciPy's noncentral t fails here and there beyond; the noise of the mean is nothing then beside that of its error.
    return float(special.chdtr(dof, dof * (shift / critical) ** 2)) if np.isfinite(dof) else float(shift > critical)


def _compare_mean(
    model: float, found: MeanAndError, evidence: str, bias: float, detect: float, level: float
) -> _Comparison:
    error, dof = found.standard_error, found.degrees_of_freedom
    outside = max(abs(found.mean - model) - bias, 0.0) / error
    p_value = 2 * float(special.stdtr(dof, -outside)) if outside else 1.0
    critical = float(special.stdtrit(dof, 1 - level / 2))
    return _Comparison(found.mean, error, p_value, _mean_power((detect - bias) / error, dof, critical), evidence)


def _count_power(model: float, trials: int, bias: float, detect: float, level: float) -> float:
    """Return the smaller power against a proportion `detect` above and below, of those that are proportions."""
    low, high = max(model - bias, 0.0), min(model + bias, 1.0)
    powers = []
    if model + detect <= 1:
        most = float(stats.binom.isf(level / 2, trials, high))  # a count above it disagrees
        powers.append(float(stats.binom.sf(most, trials, model + detect)))
    if model - detect >= 0:
        least = float(stats.binom.ppf(level / 2, trials, low))  # a count below it disagrees
        powers.append(float(stats.binom.cdf(least - 1, trials, model - detect)))
    require(bool(powers), f"detect = {detect:g}, but no proportion is that far from {model:g}: choose a smaller error")
    return min(powers)


def _compare_count(model: float, found: Count, bias: float, detect: float, level: float) -> _Comparison:
    trials = int(whole("trials", found.trials, minimum=1))
    hits = int(whole("successes", found.successes))
    require(hits <= trials, f"successes = {hits}, but there were only {trials} trials")
    require(0 <= model <= 1, f"model = {model:g}, but a share of trials is compared with a probability")
    share = hits / trials
    if share > min(model + bias, 1.0):
        p_value = min(1.0, 2 * float(stats.binom.sf(hits - 1, trials, model + bias)))
    elif share < max(model - bias, 0.0):
        p_value = min(1.0, 2 * float(stats.binom.cdf(hits, trials, model - bias)))
    else:
        p_value = 1.0
    error = (model * (1 - model) / trials) ** 0.5
    return _Comparison(share, error, p_value, _count_power(model, trials, bias, detect, level), f"{trials} trials")


def _compare(model: float, samples: Samples, bias: float, detect: float, level: float) -> _Comparison:
    if isinstance(samples, Count):
        return _compare_count(model, samples, bias, detect, level)
    if isinstance(samples, MeanAndError):
        positive("standard_error", samples.standard_error)
        positive("degrees_of_freedom", min(samples.degrees_of_freedom, 1e300))
        return _compare_mean(model, samples, "given with its error", bias, detect, level)
    found = samples if isinstance(samples, MeanInterval) else mean_interval(samples)
    require(
        found.standard_error > 0,
        f"all {found.samples} samples equal {found.value:g}, so their standard error is unknown: "
        "pass Count(successes=..., trials=...) for a proportion, or MeanAndError(mean=..., standard_error=...)",
    )
    moments = MeanAndError(
        mean=found.value, standard_error=found.standard_error, degrees_of_freedom=found.degrees_of_freedom
    )
    return _compare_mean(model, moments, f"{found.samples} samples", bias, detect, level)


def sufficient_standard_error(detect: float, *, degrees_of_freedom: float, bias: float = 0.0) -> float:
    r"""Return the largest standard error with which :func:`agreement` finds an error of size `detect`.

    Parameters
    ----------
    detect, bias : float
        As in :func:`agreement`.
    degrees_of_freedom : float
        Of the standard error, at least 1.

    Returns
    -------
    float
        In the unit of `detect`: how long to measure is known beforehand where the spread of samples is.

    Raises
    ------
    ParameterError
        If `detect` does not exceed `bias`.

    Notes
    -----
    :math:`(d-b)/\delta`, where the noncentral t with noncentrality δ passes the critical value of `LEVEL` with
    probability `POWER`; δ is 6.8 with many degrees of freedom, 8.0 with 31.

    Examples
    --------
    >>> error = sufficient_standard_error(0.1, degrees_of_freedom=31)
    >>> samples = MeanAndError(mean=1.0, standard_error=error, degrees_of_freedom=31)
    >>> round(agreement(1.0, samples, detect=0.1).power, 6)
    0.99
    """
    require(detect > bias, f"detect = {detect:g}, but no test sees less than the declared bias, {bias:g}")
    critical = float(special.stdtrit(degrees_of_freedom, 1 - LEVEL / 2))
    return (detect - bias) / float(special.nctdtrinc(degrees_of_freedom, 1 - POWER, critical))


def agreement(
    model: float,
    samples: Samples,
    *,
    detect: float,
    bias: float = 0.0,
    level: float = LEVEL,
    power: float = POWER,
) -> Agreement:
    r"""Return whether samples agree with a model's prediction.

    Parameters
    ----------
    model : float
        Prediction, any unit.
    samples : array_like, MeanAndError, MeanInterval or Count
        At least two independent replicates; a mean with its standard error, such as the result of
        :func:`~capsmodel.experiments.statistics.batch_means`; or successes in independent trials.
    detect : float
        Error that matters: a true mean that far from `model` must be found to disagree. Above `bias`, in the unit of
        `model`.
    bias : float
        Error that the model declares, at least 0, in the unit of `model`; its cause belongs into the model's
        docstring.
    level : float
        Probability of a false alarm, in (0, 1).
    power : float
        Probability of finding an error of size `detect`, in (0, 1).

    Returns
    -------
    Agreement
        The verdict with all that went into it.

    Raises
    ------
    ParameterError
        If `detect` does not exceed `bias`, samples are too few for a standard error or all equal, or an argument
        leaves its range.

    Notes
    -----
    With mean :math:`\bar x`, standard error SE and f degrees of freedom the samples disagree if
    :math:`|\bar x-m|-b>t_{f,1-\alpha/2}\,SE`. The power is that of the noncentral t at :math:`(d-b)/SE`. Counts are
    compared with the binomial law at the nearer end of :math:`m\pm b`, without a normal approximation, so a model of
    0.9999 and no failure at all is a fair comparison; their power is the smaller of both directions that exist.
    One comparison has the level of the whole family of agreement tests, `FAMILY_FALSE_ALARM_PROB`, divided by
    `FAMILY_TESTS`. A disagreement is told even without the power: it was found.

    Examples
    --------
    >>> print(agreement(0.9804, Count(successes=19624, trials=20_000), detect=0.01))  # doctest: +NORMALIZE_WHITESPACE
    agrees: model 0.9804, measured 0.9812 with standard error 0.00098 (20000 trials), difference +0.0008,
    declared bias 0, p = 0.43 at level 1e-05; an error of 0.01 is found with probability 1
    >>> agreement(0.9804, Count(successes=98, trials=100), detect=0.01).verdict
    'too few samples'
    >>> agreement(1.0, MeanAndError(mean=1.5, standard_error=0.1), detect=0.1).verdict
    'disagrees'
    """
    require(bool(np.isfinite(model)), f"model = {model}, but it must be a finite number")
    margin, error = float(non_negative("bias", bias)), float(positive("detect", detect))
    require(error > margin, f"detect = {error:g}, but no test sees less than the declared bias, {margin:g}")
    alarm, needed = float(probability("level", level)), float(probability("power", power))
    require(alarm > 0 and needed > 0, "level and power must lie in (0, 1)")
    found = _compare(float(model), samples, margin, error, alarm)
    verdict: VerdictWord = "agrees" if found.power >= needed else "too few samples"
    return Agreement(
        verdict="disagrees" if found.p_value < alarm else verdict,
        model=float(model), measured=found.measured, standard_error=found.standard_error, bias=margin, detect=error,
        p_value=found.p_value, level=alarm, power=found.power, required_power=needed, evidence=found.evidence,
    )  # fmt: skip
