r"""The minimum of a curve whose points are means of samples: the best place, and all that may be it.

=============================== ============================== =========================================
Quantity                        Name                           Rests on
=============================== ============================== =========================================
place of the smallest mean      :func:`argmin_interval`        independent samples, means nearly normal
=============================== ============================== =========================================
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from capsmodel.checks import FloatArray, closed_form, require
from capsmodel.experiments.statistics.intervals import Interval, checked_confidence, sample


@dataclass(frozen=True, kw_only=True)
class ArgminInterval(Interval):
    """The place of the smallest mean; `low` and `high` are the outermost places that may be it.

    Attributes
    ----------
    places : tuple of float
        All places that cannot be told from the best, in rising order. Between `low` and `high` some may be missing.
    """

    places: tuple[float, ...]


@closed_form
def argmin_interval(
    places: npt.ArrayLike, samples: Sequence[npt.ArrayLike], *, confidence: float = 0.95
) -> ArgminInterval:
    r"""Return the place with the smallest mean, and every place that could have it.

    Parameters
    ----------
    places : array_like
        Where the samples were taken, such as sizes of a coding unit; at least two, all different, any unit.
    samples : sequence of array_like
        For each place at least two independent observations, independent of those at other places; same unit.
    confidence : float
        Smallest probability that the place of the least true mean is among those returned, in (0, 1).

    Returns
    -------
    ArgminInterval
        In the unit of `places`; `samples` counts all observations.

    Raises
    ------
    ParameterError
        If there is not one sample for each place, places repeat, or two samples do not vary at all.

    Notes
    -----
    A place i is left out if some other place j is lower for certain:
    :math:`\bar x_i-\bar x_j>t_{f,1-\alpha/(m-1)}\sqrt{s_i^2/n_i+s_j^2/n_j}` with m places and the degrees of freedom of
    Welch. The place of the least true mean is left out only if one of its m - 1 comparisons errs, each on one side
    with probability at most :math:`\alpha/(m-1)`: Bonferroni, so no statement on the other places is needed. Where the
    minimum is flat or the samples are few, many places stay. A set, not an interval, of places; nothing is said on
    places between those sampled.

    References
    ----------
    Gupta 1965 (subset selection), with unequal variances; Hsu 1984 (comparisons with the best).

    Examples
    --------
    >>> found = argmin_interval([1, 2, 3], [[5.0, 5.2, 4.8], [1.0, 1.3, 0.8], [1.1, 0.9, 1.2]])
    >>> print(found, found.places)
    2 [2, 3] at 0.95, 9 samples (2.0, 3.0)
    """
    where, level = sample("places", places, minimum=2), checked_confidence(confidence)
    require(np.unique(where).size == where.size, "places repeat: give all observations of a place as one sample")
    require(len(samples) == where.size, f"{where.size} places, but {len(samples)} samples: give one for each place")
    checked = [sample(f"the sample at {place:g}", one, minimum=2) for place, one in zip(where, samples, strict=True)]
    means = np.array([one.mean() for one in checked])
    beaten = _beaten(means, checked, level)
    kept = np.sort(where[~beaten])
    return ArgminInterval(
        value=float(where[means.argmin()]), low=float(kept[0]), high=float(kept[-1]), confidence=level,
        samples=sum(one.size for one in checked), places=tuple(kept.tolist()),
    )  # fmt: skip


def _beaten(means: FloatArray, samples: Sequence[FloatArray], confidence: float) -> npt.NDArray[np.bool_]:
    """Return which means lie above another one for certain."""
    sizes = np.array([one.size for one in samples])
    parts = np.array([one.var(ddof=1) for one in samples]) / sizes
    squared = parts[:, None] + parts
    different = ~np.eye(len(means), dtype=bool)
    require(squared[different] > 0, "two samples do not vary: their difference has no standard error")
    shares = parts**2 / (sizes - 1)
    dof = np.divide(squared**2, shares[:, None] + shares, where=different, out=np.ones_like(squared))
    critical = special.stdtrit(dof, 1 - (1 - confidence) / (len(means) - 1))
    above = means[:, None] - means > critical * np.sqrt(squared)
    return np.asarray((above & different).any(axis=1))
