r"""One long run in place of many replicates: its mean with an interval, and where its start ends.

=============================== ============================== =========================================
Quantity                        Name                           Rests on
=============================== ============================== =========================================
mean of one long run            :func:`batch_means`            stationary, batches longer than memory
start of a long run             :func:`remove_warm_up`         MSER-5
=============================== ============================== =========================================
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capsmodel.checks import FloatArray, closed_form, require, whole
from capsmodel.experiments.statistics.intervals import MeanInterval, checked_confidence, sample, student_interval


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


@dataclass(frozen=True, kw_only=True)
class WarmUp:
    """A run without its start.

    Attributes
    ----------
    kept : ndarray
        What remains.
    removed_samples : int
        What was cut from the start.
    settled : bool
        False where the best cut lies at the limit, half of the run: the run is too short to tell.
    batch_samples : int
        Observations averaged before the search; the cut is a multiple.
    """

    kept: FloatArray
    removed_samples: int
    settled: bool
    batch_samples: int


@closed_form
def batch_means(samples: npt.ArrayLike, *, batches: int = 32, confidence: float = 0.95) -> BatchMeans:
    r"""Return the mean of one long correlated run, with an interval from the means of its batches.

    Parameters
    ----------
    samples : array_like
        Observations of a stationary run in order, at least two for each batch, any unit; cut the start with
        :func:`remove_warm_up` first.
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
    found, level = sample("samples", samples, minimum=2 * count), checked_confidence(confidence)
    size = found.size // count
    used = found[found.size - size * count :]
    means = used.reshape(count, size).mean(axis=1)
    error = float(means.std(ddof=1)) / count**0.5
    require(error > 0, "samples has equal batch means: a run that does not vary has no standard error")
    deviation = means - means.mean()
    interval = student_interval(float(used.mean()), error, count - 1, level, used.size)
    return BatchMeans(
        **vars(interval), batch_samples=size, dropped_samples=found.size - used.size,
        effective_samples=float(used.var(ddof=1)) / error**2,
        batch_correlation=float(deviation[1:] @ deviation[:-1] / (deviation @ deviation)),
    )  # fmt: skip


@closed_form
def remove_warm_up(samples: npt.ArrayLike, *, batch_samples: int = 5) -> WarmUp:
    r"""Return a run without its start, cut where the standard error of the rest is least (MSER-5).

    Parameters
    ----------
    samples : array_like
        Observations of one run in order, at least ten batches, any unit.
    batch_samples : int
        Observations averaged before the search, at least 1; the rule is named for 5.

    Returns
    -------
    WarmUp
        The rest of the run, and what was cut.

    Raises
    ------
    ParameterError
        If the run is shorter than ten batches.

    Notes
    -----
    With batch means :math:`y_1,\ldots,y_m` the cut after d batches minimises
    :math:`\sum_{i>d}(y_i-\bar y_d)^2/(m-d)^2` over :math:`0\le d\le m/2`, the first such d.

    Examples
    --------
    >>> found = remove_warm_up([9.0] * 10 + [1.0, 2.0] * 50)
    >>> found.removed_samples, found.settled
    (10, True)
    """
    size = int(whole("batch_samples", batch_samples, minimum=1))
    found = sample("samples", samples, minimum=10 * size)
    batches = found.size // size
    # Shifted by the overall mean, so that the sums of squares do not cancel.
    means = found[: batches * size].reshape(batches, size).mean(axis=1) - found.mean()
    left = np.arange(batches, 0, -1)
    sums, squares = np.cumsum(means[::-1])[::-1], np.cumsum(means[::-1] ** 2)[::-1]
    limit = batches // 2
    score = ((squares - sums**2 / left) / left**2)[: limit + 1]
    cut = int(np.argmin(score))
    return WarmUp(kept=found[cut * size :].copy(), removed_samples=cut * size, settled=cut < limit, batch_samples=size)
