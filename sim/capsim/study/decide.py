r"""Decisions on claims: the statement at every point of a sweep, at levels that keep its error small.

A *point* is one comparison that a claim makes: a value for each seed, such as the logarithm of the ratio of two schemes
on the same flows, whether the claim is met with its size, and whether its direction holds. Points are looked at as
:mod:`capsmodel.experiments.statistics.sequential` says, with the level α = `FALSE_ALARM` for one claim in one setting.

"Reproduced" says that all m points are met, and "refuted" that the direction fails at all of them. Either is wrong only
if one given point is, so that each point may have the whole of α (intersection-union test, Berger 1982). "Differs in
size" says that *some* point is missed and that the direction holds at *some* point; these two use α/m (Bonferroni), as
does that *some* point reaches the size that a claim says its differences go "up to".
A printed size is met where the mean lies within 10% of it (:func:`capsmodel.experiments.words.has_size`), and missed
where the mean is another number. For one that is off by a few per cent both are true; the first that the runs prove
is said.

An interval errs on each side with half of its level, so a verdict other than "open" is wrong with probability α at
most, as far as Student's interval covers the mean. Of skewed samples it does so less often
(:mod:`capsmodel.experiments.statistics.sequential` has a table), so a decision has the skewness of its samples, and
:func:`decide` can be asked about the median of a run instead, whose interval keeps the level for every law. Where all
runs have the same number the word is about the *median* of a run, at the level :math:`2^{-15}` with 16 runs, and
nothing is claimed about the mean (:func:`~capsmodel.experiments.statistics.sequential.repeated_interval`). So 0 in all
runs refutes no claim that there is some: a rare event may not have happened, and the point is silent.

A refutation counts only if a second family of seeds, disjoint from the first and looked at in the same
way, refutes the claim as well (:mod:`capsim.study.campaign`); otherwise the claim stays open. "Refuted" needs both
families, so it is wrong with probability α at most as before, and α² where the families are independent, as disjoint
seeds are. No other word gains from this: what the second family alone says decides nothing.

Over a ledger of m verdicts αm are expected to be false at most, one in 200, whatever the claims have in common
(:func:`capsmodel.experiments.statistics.sequential.expected_false`). A rule by which with 95% not a single one of 700
is false would give each claim 0.00007, which takes two to four times the seeds at the first looks.

References
----------
R. L. Berger. Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4), pp. 295-300, 1982.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from capsmodel.checks import FloatArray, choice
from capsmodel.experiments.statistics.intervals import Interval, skewness
from capsmodel.experiments.statistics.sequential import repeated_interval, repeated_median
from capsmodel.experiments.words import Holds, VerdictWord, joined, verdict_word

__all__ = ["FALSE_ALARM", "About", "Decision", "Sample", "decide"]

About = Literal["mean", "median"]
"""What of a run a statement is about: Student's interval of the mean, or one of the median that holds for every law."""

FALSE_ALARM = 0.005
"""Probability at most that the verdict on one claim in one setting is false."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One comparison that a claim makes.

    Attributes
    ----------
    name : str
        Baseline and place, for people.
    samples : ndarray
        A value for each seed: logarithms of ratios if `logarithmic`, in the unit of the claim otherwise.
    met, holds : callable
        Whether an interval of the ratio, or value, meets the claim with its size, and whether its direction holds.
    reached : callable, optional
        Whether an interval has the size that the claim says differences go "up to", which that of some point must have.
    logarithmic : bool
        Whether the samples are logarithms; intervals are those of the ratio.
    """

    name: str
    samples: FloatArray
    met: Callable[[Interval], Holds]
    holds: Callable[[Interval], Holds]
    reached: Callable[[Interval], Holds] | None = None
    logarithmic: bool = False

    @classmethod
    def silent(cls, name: str, seeds: int) -> "Sample":
        """Return a point that cannot be looked at, which keeps the claim open."""
        return cls(name=name, samples=np.zeros(seeds), met=_nothing, holds=_nothing)

    @property
    def is_silent(self) -> bool:
        """Whether it cannot be looked at."""
        return self.met is _nothing

    def interval(self, false_alarm: float, about: About = "mean") -> Interval:
        """Return the mean, geometric mean or median, with the interval of the look at as many seeds as samples."""
        of_look = repeated_interval if about == "mean" else repeated_median
        found: Interval = of_look(self.samples, false_alarm=false_alarm)
        ends = {name: getattr(found, name) for name in ("value", "low", "high")}
        if self.logarithmic:
            ends = {name: float(np.exp(value)) for name, value in ends.items()}
        return Interval(**ends, confidence=found.confidence, samples=found.samples)


def _nothing(_: Interval) -> Holds:
    return None


@dataclass(frozen=True)
class Decision:
    """A verdict on a claim in one setting, and the points that it rests on, by name.

    Attributes
    ----------
    word : str
        The verdict.
    intervals : dict
        Interval of each point.
    skewness : dict
        Skewness of the samples of each point that can be looked at.
    """

    word: VerdictWord
    intervals: dict[str, Interval]
    skewness: dict[str, float] = field(default_factory=dict)


def decide(
    points: Sequence[Sample], *, unknown: int = 0, false_alarm: float = FALSE_ALARM, about: About = "mean"
) -> Decision:
    """Return the verdict that the samples allow.

    Parameters
    ----------
    points : sequence of Sample
        All with as many seeds, those of a look.
    unknown : int
        Points of the claim that cannot be looked at, such as those against a scheme that is not simulated: they keep
        "reproduced" and "refuted" open.
    false_alarm : float
        Level of the claim.
    about : {"mean", "median"}
        Whether the claim is taken to be about the mean of runs, geometric for ratios, or about their median; the ledger
        takes the mean.

    Examples
    --------
    >>> from capsmodel.experiments.words import below
    >>> lower = {"met": lambda one: below(one, 1), "holds": lambda one: below(one, 1), "logarithmic": True}
    >>> halves = Sample(name="ecmp", samples=np.log([0.49, 0.5, 0.51, 0.5]), **lower)
    >>> decide([halves]).word
    'reproduced'
    >>> decide([halves], unknown=1).word
    'open'
    """
    choice("about", about, get_args(About))
    alone = [point.interval(false_alarm, about) for point in points]
    one_of_all = [point.interval(false_alarm / len(points), about) for point in points]
    unknowns: list[Holds] = [None] * unknown
    met: list[Holds] = []
    holds: list[Holds] = []
    reached: list[Holds] = []
    for point, whole, part in zip(points, alone, one_of_all, strict=True):
        met.append(joined(yes=point.met(whole), no=point.met(part)))
        holds.append(joined(yes=point.holds(part), no=point.holds(whole)))
        if point.reached:
            reached.append(joined(yes=point.reached(part), no=point.reached(whole)))
    if reached:  # what cannot be looked at may reach it
        reached += unknowns + [None for point in points if point.is_silent]
        met.append(True if any(reached) else None if None in reached else False)
    word = verdict_word(met + unknowns, holds + unknowns) if points else "open"
    skewed = {point.name: skewness(point.samples) for point in points if not point.is_silent}
    return Decision(word, {point.name: found for point, found in zip(points, alone, strict=True)}, skewed)
