r"""How many replicates decide a statement: seeds are added until its interval lies on one side, or a limit is met.

========================= =========================== ==================================
Quantity                  Name                        Source
========================= =========================== ==================================
numbers of seeds looked   :func:`looks`               Howard et al. 2021, section 3
level spent at a look     :func:`level_at`            Lan and DeMets 1983
interval at any look      :func:`repeated_interval`   Jennison and Turnbull 1989
sum over many decisions   :func:`expected_false`      Markov's bound needs no independence
========================= =========================== ==================================

Looking at an interval of 95% after each new seed until it leaves a bound finds an effect where there is none far more
often than in 5% of all studies. Here a sample is looked at when it has 4, 8, 16, ... seeds, and look j uses Student's t
at the level :math:`\alpha 2^{-j}`. These levels add up to :math:`\alpha`, so by the union bound *all* intervals cover
the mean together with probability at least :math:`1-\alpha`, whatever makes a study stop or go on: a decision, a limit,
a budget, or somebody who asks for more seeds later. For normal observations this is exact in each look and needs no
known variance. Equal observations are the exception: they say something about the median and nothing about the mean
(:func:`repeated_interval`).

Two other ways were looked at. Boundaries of group-sequential trials use the correlation of the looks; with five of them
Pocock's are shorter by up to a quarter at the last look and longer at the first, but their number is fixed before.
Confidence sequences for every number of seeds (Wang and Ramdas 2025 for Student's t) allow a look after each one; at 4
to 16 seeds, where most studies end, they are 1.2 to 1.6 times as long.

References
----------
C. Jennison, B. W. Turnbull. Interim analyses: the repeated confidence interval approach. Journal of the Royal
Statistical Society B 51(3), pp. 305-361, 1989.

K. K. G. Lan, D. L. DeMets. Discrete sequential boundaries for clinical trials. Biometrika 70(3), pp. 659-663, 1983.

S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon. Time-uniform, nonparametric, nonasymptotic confidence sequences.
Annals of Statistics 49(2), pp. 1055-1080, 2021.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from capsmodel.checks import probability, require, whole
from capsmodel.experiments.statistics.intervals import MeanInterval, mean_interval, sample

__all__ = ["FIRST_LOOK_SEEDS", "expected_false", "level_at", "look_number", "looks", "repeated_interval"]

FIRST_LOOK_SEEDS = 4
"""Seeds at the first look: fewer leave Student's t without a useful interval at small levels."""


def looks(most_seeds: int) -> tuple[int, ...]:
    """Return the numbers of seeds at which a sample is looked at, each twice the one before.

    Parameters
    ----------
    most_seeds : int
        Limit, at least `FIRST_LOOK_SEEDS`.

    Returns
    -------
    tuple of int
        4, 8, 16, ... up to `most_seeds`.

    Raises
    ------
    ParameterError
        If there is no look up to `most_seeds`.

    Notes
    -----
    A larger limit has the same looks and some more, so a study may go on where it stopped. Doubling takes at most twice
    the seeds that are needed, and few looks, each of which costs level.

    Examples
    --------
    >>> looks(20)
    (4, 8, 16)
    """
    limit = int(whole("most_seeds", most_seeds, minimum=FIRST_LOOK_SEEDS))
    count = (limit // FIRST_LOOK_SEEDS).bit_length()
    return tuple(FIRST_LOOK_SEEDS << number for number in range(count))


def look_number(seeds: int) -> int:
    """Return which look, counted from 1, has so many seeds.

    Raises
    ------
    ParameterError
        If no look has: a sample that is looked at in between would break the level.

    Examples
    --------
    >>> look_number(16)
    3
    """
    count = int(whole("seeds", seeds, minimum=FIRST_LOOK_SEEDS))
    times, rest = divmod(count, FIRST_LOOK_SEEDS)
    planned = rest == 0 and times & (times - 1) == 0
    require(planned, f"seeds = {count}, but a sample is looked at when it has {FIRST_LOOK_SEEDS}, 8, 16, ... of them")
    return times.bit_length()


def level_at(look: int, *, false_alarm: float) -> float:
    r"""Return the part of the level that a look may spend.

    Parameters
    ----------
    look : int
        Number of the look, from 1.
    false_alarm : float
        Level :math:`\alpha` of all looks together, in (0, 1).

    Returns
    -------
    float
        :math:`\alpha 2^{-j}`; over all j the sum is :math:`\alpha`.

    Examples
    --------
    >>> [level_at(look, false_alarm=0.04) for look in (1, 2, 3)]
    [0.02, 0.01, 0.005]
    """
    alpha = float(probability("false_alarm", false_alarm))
    require(alpha > 0, "false_alarm = 0, but it must lie in (0, 1): no finite sample decides without any error")
    return alpha / 2.0 ** int(whole("look", look, minimum=1))


def repeated_interval(samples: npt.ArrayLike, *, false_alarm: float) -> MeanInterval:
    r"""Return the mean of a sample with the interval of its look.

    Parameters
    ----------
    samples : array_like
        One observation for each seed, such as the logarithm of the ratio of two schemes under common random numbers;
        4, 8, 16, ... of them, any unit.
    false_alarm : float
        Level :math:`\alpha` of all looks at this sample, in (0, 1).

    Returns
    -------
    MeanInterval
        Student's t at the confidence :math:`1-\alpha 2^{-j}` of look j, in the unit of `samples`. The intervals of all
        looks cover the mean together with probability at least :math:`1-\alpha`, unless all observations of a look are
        equal: then it is their value, or without bounds if they are too few (see Notes).

    Raises
    ------
    ParameterError
        If the number of observations is not that of a look, or one is not finite.

    Notes
    -----
    A constant sample has no spread to tell its noise by. What n equal observations show is the *median* of an
    observation: if it were another value, all n would lie on one side of it with probability :math:`2^{1-n}` at most.
    Once that is at most :math:`\alpha 2^{-j}`, their value is returned; at the level 0.005 that is from 16 observations
    on, at the level :math:`2^{-15}`. Of the mean they show nothing: of runs in which an event has the probability 0.05,
    the first 16 are without one in 44% of all studies. Whoever asks whether there are any must take such a sample for
    silent.

    Exact for independent normal observations. Skewed ones are missed more often on the side of their short tail: with
    exponential ones and five looks, the false alarms are 0.14 in place of 0.05, and 0.046 in place of 0.005. The
    logarithm of a ratio of two alike positive quantities is nearly symmetric; with gamma distributions of the shapes 4
    and 8 it keeps both levels (0.041 and 0.005).

    Examples
    --------
    >>> print(repeated_interval([0.9, 1.0, 1.1, 1.0], false_alarm=0.05))
    1 [0.829494, 1.17051] at 0.975, 4 samples
    """
    found = sample("samples", samples, minimum=FIRST_LOOK_SEEDS)
    spent = level_at(look_number(found.size), false_alarm=false_alarm)
    interval = mean_interval(found, confidence=1 - spent)
    is_short = np.ptp(found) == 0 and 2.0 ** (1 - found.size) > spent
    return replace(interval, low=-np.inf, high=np.inf) if is_short else interval


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
    >>> expected_false(200, false_alarm=0.005)
    1.0
    """
    return int(whole("decisions", decisions)) * float(probability("false_alarm", false_alarm))
