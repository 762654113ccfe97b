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
from math import ceil, inf, isnan, nan
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy  # scipy.stats is loaded at its first use: it takes a third of the import of capsim
from scipy import special

from capsmodel.checks import closed_form, non_negative, positive, probability, require, whole
from capsmodel.experiments.statistics.intervals import MeanInterval, mean_interval

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
Sides = tuple[float, float]
"""What belongs to a truth below the model, and to one above it."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Agreement:
    """A model held against samples; true when they agree, and its text is the verdict in one line.

    Attributes
    ----------
    verdict : str
        ``"agrees"``, ``"disagrees"`` or ``"too few samples"``.
    model, measured, standard_error : float
        Prediction, estimate and its standard error, in the unit of the model.
    bias, detect : (float, float)
        Declared bias, and error to be detected, below and above the model, in its unit: (-0.1, 0.1) for 0.1.
    p_value : float
        Probability of samples at least this far outside the declared bias if the model holds; 1 inside.
    level : float
        Below it the verdict is "disagrees".
    power : float
        Probability that a true mean at `detect` from the model would have been found to disagree; the smaller of both.
    required_power : float
        Below it there are too few samples.
    evidence : str
        What the samples are, such as ``"400 trials"``.
    sufficient_samples : float
        Where there are too few: about how many replicates or trials would do. NaN otherwise, and for a mean that was
        measured elsewhere.
    """

    verdict: VerdictWord
    model: float
    measured: float
    standard_error: float
    bias: Sides
    detect: Sides
    p_value: float
    level: float
    power: float
    required_power: float
    evidence: str
    sufficient_samples: float = nan

    def __bool__(self) -> bool:
        return self.verdict == "agrees"

    @property
    def found_model_error(self) -> float:
        """Error of the model, either way, that is found with `power` wherever in its bias the truth lies."""
        return max(self.bias[1] - self.detect[0], self.detect[1] - self.bias[0])

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        beyond = f", an error of the model from {self.found_model_error:.2g} on" if any(self.bias) else ""
        return (
            f"{self.verdict}: model {self.model:.6g}, measured {self.measured:.6g} with standard error "
            f"{self.standard_error:.2g} ({self.evidence}), difference {self.measured - self.model:+.2g}, "
            f"declared bias {_text(self.bias)}, p = {self.p_value:.2g} at level {self.level:.1g}; "
            f"an error of {_text(self.detect)} is found with probability {self.power:.4g}{beyond}{self._advice()}"
        )

    def _advice(self) -> str:
        """Return how many samples would do, where there are too few."""
        if self.verdict != "too few samples":
            return ""
        count = "more samples" if isnan(self.sufficient_samples) else f"about {self.sufficient_samples:.0f} samples"
        return f", with {count} {self.required_power:g}"


def _text(sides: Sides) -> str:
    low, high = sides
    return f"{high:.2g}" if abs(low) == high else f"{low:.2g} to {high:.2g}"


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
    model: float, measured: MeanAndError, evidence: str, bias: Sides, detect: Sides, level: float
) -> _Comparison:
    error, dof = measured.standard_error, measured.degrees_of_freedom
    difference = measured.mean - model
    outside = max(bias[0] - difference, difference - bias[1], 0.0) / error
    p_value = 2 * float(special.stdtr(dof, -outside)) if outside else 1.0
    critical = float(special.stdtrit(dof, 1 - level / 2))
    nearer = min(bias[0] - detect[0], detect[1] - bias[1])
    return _Comparison(measured.mean, error, p_value, _mean_power(nearer / error, dof, critical), evidence)


def _count_power(model: float, trials: int, bias: Sides, detect: Sides, level: float) -> float:
    """Return the smaller power against a proportion `detect` above and below, of those that are proportions."""
    low, high = max(model + bias[0], 0.0), min(model + bias[1], 1.0)
    powers = []
    if model + detect[1] <= 1:
        most = float(scipy.stats.binom.isf(level / 2, trials, high))  # a count above it disagrees
        powers.append(float(scipy.stats.binom.sf(most, trials, model + detect[1])))
    if model + detect[0] >= 0:
        least = float(scipy.stats.binom.ppf(level / 2, trials, low))  # a count below it disagrees
        powers.append(float(scipy.stats.binom.cdf(least - 1, trials, model + detect[0])))
    text = f"detect = {_text(detect)}, but no proportion is that far from {model:g}: choose a smaller error"
    require(bool(powers), text)
    return min(powers)


def _compare_count(model: float, counted: Count, bias: Sides, detect: Sides, level: float) -> _Comparison:
    trials = int(whole("trials", counted.trials, minimum=1))
    hits = int(whole("successes", counted.successes))
    require(hits <= trials, f"successes = {hits}, but there were only {trials} trials")
    require(0 <= model <= 1, f"model = {model:g}, but a share of trials is compared with a probability")
    share = hits / trials
    if share > min(model + bias[1], 1.0):
        p_value = min(1.0, 2 * float(scipy.stats.binom.sf(hits - 1, trials, model + bias[1])))
    elif share < max(model + bias[0], 0.0):
        p_value = min(1.0, 2 * float(scipy.stats.binom.cdf(hits, trials, model + bias[0])))
    else:
        p_value = 1.0
    error = (model * (1 - model) / trials) ** 0.5
    return _Comparison(share, error, p_value, _count_power(model, trials, bias, detect, level), f"{trials} trials")


def _sufficient_trials(model: float, trials: int, bias: Sides, detect: Sides, level: float, power: float) -> float:
    """Return a number of trials, at most a tenth above the least, that has the power."""
    while _count_power(model, trials, bias, detect, level) < power:
        trials = ceil(1.1 * trials)
    return trials


def _sufficient_replicates(interval: MeanInterval, shift: float, level: float, power: float) -> float:
    """Return about how many replicates with the deviation of these have the power to find `shift`."""
    count, deviation = float(interval.samples), interval.standard_error * interval.samples**0.5
    for _ in range(5):  # the quantiles depend little on the degrees of freedom
        critical = float(special.stdtrit(max(count - 1, 1), 1 - level / 2))
        count = (float(special.nctdtrinc(max(count - 1, 1), 1 - power, critical)) * deviation / shift) ** 2
    return ceil(count)


def _sufficient(model: float, samples: Samples, bias: Sides, detect: Sides, level: float, power: float) -> float:
    if isinstance(samples, Count):
        return _sufficient_trials(model, samples.trials, bias, detect, level, power)
    if isinstance(samples, MeanAndError):
        return nan
    interval = samples if isinstance(samples, MeanInterval) else mean_interval(samples)
    return _sufficient_replicates(interval, min(bias[0] - detect[0], detect[1] - bias[1]), level, power)


def _compare(model: float, samples: Samples, bias: Sides, detect: Sides, level: float) -> _Comparison:
    if isinstance(samples, Count):
        return _compare_count(model, samples, bias, detect, level)
    if isinstance(samples, MeanAndError):
        positive("standard_error", samples.standard_error)
        positive("degrees_of_freedom", min(samples.degrees_of_freedom, 1e300))
        return _compare_mean(model, samples, "given with its error", bias, detect, level)
    interval = samples if isinstance(samples, MeanInterval) else mean_interval(samples)
    require(
        interval.standard_error > 0,
        f"all {interval.samples} samples equal {interval.value:g}, so their standard error is unknown: "
        "pass Count(successes=..., trials=...) for a proportion, or MeanAndError(mean=..., standard_error=...)",
    )
    moments = MeanAndError(
        mean=interval.value, standard_error=interval.standard_error, degrees_of_freedom=interval.degrees_of_freedom
    )
    return _compare_mean(model, moments, f"{interval.samples} samples", bias, detect, level)


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
        If `detect` does not exceed `bias`, or there is less than one degree of freedom.

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
    require(degrees_of_freedom >= 1, f"degrees_of_freedom = {degrees_of_freedom:g}, but it must be at least 1")
    critical = float(special.stdtrit(degrees_of_freedom, 1 - LEVEL / 2))
    return (detect - bias) / float(special.nctdtrinc(degrees_of_freedom, 1 - POWER, critical))


def _sides(name: str, value: float | Sides) -> Sides:
    """Return the error below and above the model; one number is meant both ways."""
    if not isinstance(value, tuple):
        size = float(non_negative(name, value))
        return -size, size
    low, high = (float(end) for end in value)
    require(-inf < low <= 0 <= high < inf, f"{name} = ({low:g}, {high:g}), but it must hold 0: (low, high)")
    return low, high


def _beyond(detect: float | Sides, bias: Sides) -> Sides:
    """Return the errors to be detected, which lie beyond the declared bias."""
    errors = _sides("detect", detect)
    text = f"detect = {_text(errors)}, but no test sees less than the declared bias, {_text(bias)}"
    require(errors[0] < bias[0] and errors[1] > bias[1], text)
    return errors


@closed_form
def agreement(
    model: float,
    samples: Samples,
    *,
    detect: float | Sides,
    bias: float | Sides = 0.0,
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
        :func:`~capsmodel.experiments.statistics.intervals.batch_means`; or successes in independent trials.
    detect : float or (float, float)
        Error that matters: a true mean that far from `model` must be found to disagree. In the unit of `model`, beyond
        `bias`; a pair is the error below, negative, and above.
    bias : float or (float, float)
        Error that the model declares, in the unit of `model`: a number is meant both ways, a pair is the lowest and the
        highest of truth minus model, (-0.2, 0) where the truth never lies above. Its cause belongs into the model's
        docstring. Derive it, or measure it with other seeds and settings, never from `samples`.
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
        If `detect` does not exceed `bias` on both sides, samples are too few for a standard error or all equal, or an
        argument leaves its range.

    Notes
    -----
    With mean :math:`\bar x`, standard error SE and f degrees of freedom the samples disagree if :math:`\bar x` lies
    more than :math:`t_{f,1-\alpha/2}\,SE` outside :math:`[m+b_-, m+b_+]`. The power is that of the noncentral t at
    the smaller of :math:`(d_+-b_+)/SE` and :math:`(b_--d_-)/SE`. Counts are compared with the binomial law at the
    nearer end of that interval, without a normal approximation, so a model of 0.9999 and no failure at all is a fair
    comparison; their power is the smaller of both directions that exist.

    The power is that of a true mean at :math:`d` from the model. An error of the *model* is another thing: the truth
    may lie anywhere in its bias, so a model that is too high is found with that power from :math:`b_+-d_-` on, one that
    is too low from :math:`d_+-b_-` on; both are :math:`b+d` for a bias meant both ways. The printed line says so.

    One comparison has the level of the whole family of agreement tests, `FAMILY_FALSE_ALARM_PROB`, divided by
    `FAMILY_TESTS`. A disagreement is reported even without the power: it was found.

    Examples
    --------
    >>> print(agreement(0.9804, Count(successes=19624, trials=20_000), detect=0.01))  # doctest: +NORMALIZE_WHITESPACE
    agrees: model 0.9804, measured 0.9812 with standard error 0.00098 (20000 trials), difference +0.0008,
    declared bias 0, p = 0.43 at level 1e-05; an error of 0.01 is found with probability 1
    >>> agreement(0.9804, Count(successes=98, trials=100), detect=0.01).verdict
    'too few samples'
    >>> str(agreement(0.9804, Count(successes=98, trials=100), detect=0.01)).rpartition("; ")[2]
    'an error of 0.01 is found with probability 0, with about 11288 samples 0.99'
    >>> agreement(1.0, MeanAndError(mean=1.5, standard_error=0.1), detect=0.1).verdict
    'disagrees'
    >>> found = agreement(1.0, MeanAndError(mean=0.9, standard_error=0.01), bias=(-0.2, 0.0), detect=(-0.3, 0.1))
    >>> str(found).partition("; ")[2]
    'an error of -0.3 to 0.1 is found with probability 1, an error of the model from 0.3 on'
    """
    require(bool(np.isfinite(model)), f"model = {model}, but it must be a finite number")
    margin = _sides("bias", bias)
    errors = _beyond(detect, margin)
    alarm, needed = float(probability("level", level)), float(probability("power", power))
    require(alarm > 0 and needed > 0, "level and power must lie in (0, 1)")
    comparison = _compare(float(model), samples, margin, errors, alarm)
    verdict: VerdictWord = "agrees" if comparison.power >= needed else "too few samples"
    verdict = "disagrees" if comparison.p_value < alarm else verdict
    too_few = verdict == "too few samples"
    return Agreement(
        verdict=verdict,
        model=float(model), measured=comparison.measured, standard_error=comparison.standard_error, bias=margin,
        detect=errors, p_value=comparison.p_value, level=alarm, power=comparison.power, required_power=needed,
        evidence=comparison.evidence,
        sufficient_samples=_sufficient(float(model), samples, margin, errors, alarm, needed) if too_few else nan,
    )  # fmt: skip
