"""Intervals as results, and what the functions that compute them share."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from capsmodel.checks import FloatArray, as_floats, probability, require


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


def sample(name: str, values: npt.ArrayLike, *, minimum: int) -> FloatArray:
    """Check a sample: one dimension, finite, at least `minimum` observations."""
    found = as_floats(name, values)
    require(found.ndim == 1, f"{name} has {found.ndim} dimensions, but a sample has one: pass one run, flattened")
    require(found.size >= minimum, f"{name} holds {found.size} values, but it needs at least {minimum}")
    require(np.isfinite(found), f"{name} holds an infinite value: remove it and report how many there were")
    return found


def checked_confidence(value: float) -> float:
    """Check the probability that an interval shall cover the truth, in (0, 1)."""
    confidence = float(probability("confidence", value))
    require(confidence > 0, "confidence = 0, but it must lie in (0, 1)")
    return confidence


def student_interval(value: float, error: float, dof: float, confidence: float, samples: int) -> MeanInterval:
    """Return `value` with the interval of Student's t with `dof` degrees of freedom."""
    half = float(special.stdtrit(dof, (1 + confidence) / 2)) * error
    return MeanInterval(
        value=value, low=value - half, high=value + half, confidence=confidence, samples=samples,
        standard_error=error, degrees_of_freedom=dof,
    )  # fmt: skip
