r"""Replicates until a statement is decided: seeds are added until its interval lies on one side, or a limit is met.

=============================== =========================== ==================================
Quantity                        Name                        Source
=============================== =========================== ==================================
seeds of the interim analyses   :func:`looks`               Howard et al. 2021, section 3
level spent at one of them      :func:`level_at`            Lan and DeMets 1983
interval at any of them         :func:`repeated_median`     Jennison and Turnbull 1989
sum over many decisions         :func:`expected_false`      Markov's bound needs no independence
=============================== =========================== ==================================

Looking at an interval of 95% after each new seed until it leaves a bound finds an effect where there is none far more
often than in 5% of all studies. Here a sample is analysed when it has 8, 16, 32, ... seeds, and each interim analysis
spends a part of the level :math:`\alpha`: four fifths the first, half of what is left each later one. These parts add
up to :math:`\alpha`, so by the union bound *all* intervals cover the true value together with probability at least
:math:`1-\alpha`, whatever makes a study stop or go on: a decision, a limit, a budget, or somebody who asks for more
seeds later.

The true value is the *median* of an observation. Its interval lies between two order statistics and keeps the level for
every law with any number of observations. No interval of a mean does (Bahadur and Savage 1956): a rare large
observation that has not been drawn yet moves the mean as far as it likes, and the observations that have been drawn do
not show it. Runs of packet simulations have such a law, since few of them have a timeout. The price: the median says
what happens in most runs, not on average, and its interval is about 1.25 times as long for normal observations.

At :math:`\alpha=0.01` the first interim analysis spends 0.008. All 8 observations lie on one side of their median with
probability :math:`2^{-7}=0.0078`, so that this analysis decides where all of them agree, and none before could.

Two other ways of spending were considered. Boundaries of group-sequential trials use the correlation of the interim
analyses, but their number is fixed before. Confidence sequences for every number of seeds allow an interim analysis
after each one; at 8 to 16 seeds, where most studies end, they are longer.

References
----------
R. R. Bahadur, L. J. Savage. The nonexistence of certain statistical procedures in nonparametric problems. Annals of
Mathematical Statistics 27(4), pp. 1115-1122, 1956.

C. Jennison, B. W. Turnbull. Interim analyses: the repeated confidence interval approach. Journal of the Royal
Statistical Society B 51(3), pp. 305-361, 1989.

K. K. G. Lan, D. L. DeMets. Discrete sequential boundaries for clinical trials. Biometrika 70(3), pp. 659-663, 1983.

S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon. Time-uniform, nonparametric, nonasymptotic confidence sequences.
Annals of Statistics 49(2), pp. 1055-1080, 2021.
"""

import numpy as np
import numpy.typing as npt

from capsmodel.checks import closed_form, probability, require, whole
from capsmodel.experiments.statistics.intervals import Interval, quantile_ranks, sample

__all__ = [
    "FALSE_ALARM",
    "FIRST_LOOK_SEEDS",
    "expected_false",
    "level_at",
    "look_number",
    "looks",
    "repeated_median",
]

FALSE_ALARM = 0.01
"""Probability at most that the verdict on one claim in one setting is false, where a study states no other."""
FIRST_LOOK_SEEDS = 8
"""Seeds at the first interim analysis: fewer that all agree do not decide at that level."""
_FIRST_PART = 0.8
"""Part of the level for the first interim analysis: with it 8 runs that all agree decide at the level `FALSE_ALARM`."""


def looks(most_seeds: int) -> tuple[int, ...]:
    """Return the numbers of seeds at which a sample is analysed, each twice the one before.

    Parameters
    ----------
    most_seeds : int
        Limit, at least `FIRST_LOOK_SEEDS`.

    Returns
    -------
    tuple of int
        8, 16, 32, ... up to `most_seeds`.

    Raises
    ------
    ParameterError
        If there is no interim analysis up to `most_seeds`.

    Notes
    -----
    A larger limit has the same interim analyses and some more, so a study may go on where it stopped. Doubling takes at
    most twice the seeds that are needed, and few interim analyses, each of which costs level.

    Examples
    --------
    >>> looks(40)
    (8, 16, 32)
    """
    limit = int(whole("most_seeds", most_seeds, minimum=FIRST_LOOK_SEEDS))
    count = (limit // FIRST_LOOK_SEEDS).bit_length()
    return tuple(FIRST_LOOK_SEEDS << number for number in range(count))


def look_number(seeds: int) -> int:
    """Return which interim analysis, counted from 1, has so many seeds.

    Raises
    ------
    ParameterError
        If no interim analysis has: a sample that is analysed in between would break the level.

    Examples
    --------
    >>> look_number(16)
    2
    """
    count = int(whole("seeds", seeds, minimum=FIRST_LOOK_SEEDS))
    times, rest = divmod(count, FIRST_LOOK_SEEDS)
    planned = rest == 0 and times & (times - 1) == 0
    require(planned, f"seeds = {count}, but a sample is analysed when it has {FIRST_LOOK_SEEDS}, 16, 32, ... of them")
    return times.bit_length()


def level_at(look: int, *, false_alarm: float) -> float:
    r"""Return the part of the level that an interim analysis may spend.

    Parameters
    ----------
    look : int
        Number of the interim analysis, from 1.
    false_alarm : float
        Level :math:`\alpha` of all interim analyses together, in (0, 1).

    Returns
    -------
    float
        :math:`0.8\alpha` at the first, :math:`0.2\alpha 2^{1-j}` at the j-th after it; the sum is
        :math:`\alpha`.

    Examples
    --------
    >>> [round(level_at(look, false_alarm=0.01), 6) for look in (1, 2, 3)]
    [0.008, 0.001, 0.0005]
    """
    alpha = float(probability("false_alarm", false_alarm))
    require(alpha > 0, "false_alarm = 0, but it must lie in (0, 1): no finite sample decides without any error")
    later = int(whole("look", look, minimum=1)) - 1
    return alpha * ((1 - _FIRST_PART) / 2.0**later if later else _FIRST_PART)


@closed_form
def repeated_median(samples: npt.ArrayLike, *, false_alarm: float, seeds: int = 0) -> Interval:
    r"""Return the median of a sample with the interval of its interim analysis.

    Parameters
    ----------
    samples : array_like
        One observation for each seed, such as the logarithm of the ratio of two schemes under common random numbers,
        any unit.
    false_alarm : float
        Level :math:`\alpha` of all interim analyses of this sample, in (0, 1).
    seeds : int
        Seeds of the interim analysis, 8, 16, 32, ..., where some of them have no observation; as many as `samples` when
        left out.

    Returns
    -------
    Interval
        Between two order statistics, at the confidence that the interim analysis has (:func:`level_at`), in the unit of
        `samples`; without bounds where the observations are too few for it. The value is the middle one, or the mean of
        both. The intervals of all interim analyses cover the median of an observation together with probability at
        least :math:`1-\alpha`, for every law.

    Raises
    ------
    ParameterError
        If the number of seeds is not that of an interim analysis, or an observation is not finite.

    Notes
    -----
    :func:`~capsmodel.experiments.statistics.intervals.quantile_interval`: the number of observations below the median
    is binomial. To decide by whether 0 lies in it is the sign test, and for logarithms of ratios says which of two
    schemes is ahead in most runs.

    Equal observations need no rule of their own: what 8 runs have in common is proven at the first interim analysis, as
    what most runs have, and nothing is said of an event that most runs are without.

    Examples
    --------
    >>> print(repeated_median([0.2, 1.0, 1.1, 1.3, 2.0, 2.4, 3.0, 60.0], false_alarm=0.01))
    1.65 [0.2, 60] at 0.992, 8 samples
    """
    values = np.sort(sample("samples", samples, minimum=1))
    confidence = 1 - level_at(look_number(seeds or values.size), false_alarm=false_alarm)
    low, high, _ = quantile_ranks(values.size, 0.5, confidence)
    half = values.size // 2
    return Interval(
        value=float((values[half] + values[~half]) / 2), low=float(values[low - 1]) if low else -np.inf,
        high=float(values[high - 1]) if low else np.inf, confidence=confidence, samples=values.size,
    )  # fmt: skip


def expected_false(decisions: int, *, false_alarm: float) -> float:
    r"""Return how many of many decisions are expected to be false at most.

    Parameters
    ----------
    decisions : int
        Statements decided, each at the level `false_alarm`.
    false_alarm : float
        Level :math:`\alpha` of one, in (0, 1).

    Returns
    -------
    float
        :math:`m\alpha`, a count. An expectation is additive, so decisions may depend on each other.

    Examples
    --------
    >>> expected_false(200, false_alarm=0.01)
    2.0
    """
    return int(whole("decisions", decisions)) * float(probability("false_alarm", false_alarm))
