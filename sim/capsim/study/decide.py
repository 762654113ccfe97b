r"""Decisions on claims: the statement at every point of a sweep, at levels that keep its error small.

A *point* is one comparison that a claim makes: a value for each seed, such as the logarithm of the ratio of two schemes
on the same flows, and what its interval must be (:class:`capsim.study.relations.Says`). Points are looked at as
:mod:`capsmodel.experiments.statistics.sequential` says, with the level α = `FALSE_ALARM` for one claim in one setting.
The words are those of :func:`capsmodel.experiments.words.verdict_word`.

*All or some.* "Agrees", "holds", "absent" and "fails" speak of all m points. Each is wrong only if one given point is,
so that each point may have the whole of α (intersection-union test, Berger 1982). "Differs" and "holds in part" say
that *some* point is missed, or contrary; these use α/m (Bonferroni), as does that *some* point reaches the size that a
claim says its differences go "up to".

*No race.* A printed number is agreed with where the whole interval is within 10% of it, and differed from where the
whole interval is outside: of two words that exclude each other one at most is true, so that more seeds do not turn one
into the other. An order without a size is absent at the last look only.

*Many points.* An order that is claimed for many places is not lost on a tie: it holds if it is nowhere worse by more
than 3%, and better in the geometric mean of the points, seed by seed. Both are proven, the mean at the level α.

*Few seeds.* Logarithms of ratios of one claim have variances that help each other
(:mod:`capsmodel.experiments.statistics.moderated`), except those of skewed and of constant samples.

*Skewed samples.* The intervals of means are Student's, which the means of skewed samples leave more often than stated.
From `FEWEST_TO_SEE_SKEWNESS` seeds on, a point whose samples are as skewed as exponential ones (`SKEWED`) is looked at
by its median, whose interval keeps the level for every law; it is about the median then. Fewer seeds do not show it.

*Constant samples.* Where all runs have the same number the word is about the *median* of a run, at the level
:math:`2^{-15}` with 16 runs, and nothing is claimed about the mean
(:func:`~capsmodel.experiments.statistics.sequential.repeated_interval`). So 0 in all runs refutes no claim that there
is some: a rare event may not have happened, and the point is silent. A Poisson law would bound the mean, but counts of
events do not follow one: over the kept runs the variance of timeouts is 0.3 to 2.6 times their mean, and that of fast
retransmits 4 to 100 times. Kendall's tau that is 1, or -1, in every run has
no spread to tell its noise by: the ends of the series, which have, decide alone.

"Fails" counts only if a second family of seeds, disjoint from the first and looked at in the same way, says so too
(:mod:`capsim.study.campaign`); otherwise the claim stays open. It needs both families, so it is wrong with probability
α at most as before, and α² where the families are independent.

Over a ledger of m words, those in other settings included, αm are expected to be false at most, one in 200, whatever
the claims have in common (:func:`capsmodel.experiments.statistics.sequential.expected_false`).

References
----------
R. L. Berger. Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4), pp. 295-300, 1982.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from capsim.study.relations import Says
from capsmodel.checks import FloatArray, choice
from capsmodel.experiments.statistics.intervals import Interval, skewness, student_interval
from capsmodel.experiments.statistics.moderated import moderated
from capsmodel.experiments.statistics.sequential import (
    level_at,
    look_number,
    repeated_interval,
    repeated_median,
)
from capsmodel.experiments.words import STATEMENT, Answers, Holds, VerdictWord, verdict_word

__all__ = ["FALSE_ALARM", "About", "Decision", "Sample", "decide"]

About = Literal["mean", "median"]
"""What of a run a statement is about: Student's interval of the mean, or one of the median that holds for every law."""

FALSE_ALARM = 0.005
"""Probability at most that the word on one claim in one setting is false."""
SKEWED = 2.0
"""Skewness of an exponential law, from which on, either way, samples are looked at by their median."""
FEWEST_TO_SEE_SKEWNESS = 16
"""Seeds from which on a sample shows its skewness, and has an interval of the median at the level of a claim."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One comparison that a claim makes.

    Attributes
    ----------
    name : str
        Baseline and place, for people.
    samples : ndarray
        A value for each seed: logarithms of ratios if `logarithmic`, in the unit of the claim otherwise.
    says : Says
        What its interval must be; None if the point cannot be looked at.
    logarithmic : bool
        Whether the samples are logarithms; intervals are those of the ratio.
    ends : (float, float)
        Values that no sample is beyond, and so no interval.
    """

    name: str
    samples: FloatArray
    says: Says | None
    logarithmic: bool = False
    ends: tuple[float, float] = (-np.inf, np.inf)

    @classmethod
    def silent(cls, name: str, seeds: int) -> "Sample":
        """Return a point that cannot be looked at, which keeps the claim open."""
        return cls(name=name, samples=np.zeros(seeds), says=None)

    @property
    def is_silent(self) -> bool:
        """Whether it cannot be looked at."""
        return self.says is None

    @cached_property
    def skewness(self) -> float:
        """The skewness of its samples."""
        return skewness(self.samples)

    @property
    def is_skewed(self) -> bool:
        """Whether its samples are so skewed that their mean has no interval."""
        return self.samples.size >= FEWEST_TO_SEE_SKEWNESS and abs(self.skewness) >= SKEWED

    def interval(self, false_alarm: float, about: About = "mean") -> Interval:
        """Return the mean, geometric mean or median, with the interval of the look at as many seeds as samples."""
        of_look = repeated_median if about == "median" or self.is_skewed else repeated_interval
        return self.in_unit(of_look(self.samples, false_alarm=false_alarm))

    def in_unit(self, found: Interval) -> Interval:
        """Return an interval of the samples as one of what they stand for."""
        least, most = self.ends
        ends = {name: min(max(getattr(found, name), least), most) for name in ("value", "low", "high")}
        if self.logarithmic:
            ends = {name: float(np.exp(value)) for name, value in ends.items()}
        return Interval(**ends, confidence=found.confidence, samples=found.samples)

    def answers(self, found: Interval) -> Answers:
        """Return what an interval of it says of the claim."""
        return self.says.answers(found) if self.says else _UNKNOWN

    def reached(self, found: Interval) -> Holds:
        """Return whether it reaches the size that differences go "up to"."""
        return self.says.reached(found) if self.says and self.says.reached else None


_UNKNOWN = Answers(None)


@dataclass(frozen=True)
class Decision:
    """A verdict on a claim in one setting, and the points that it rests on, by name.

    Attributes
    ----------
    word : str
        The verdict.
    intervals : dict
        Interval of each point.
    points : sequence of Sample
        The points.
    """

    word: VerdictWord
    intervals: dict[str, Interval]
    points: Sequence[Sample] = field(default=(), compare=False, repr=False)

    @property
    def skewness(self) -> dict[str, float]:
        """The skewness of the samples of each point that can be looked at."""
        return {point.name: point.skewness for point in self.points if not point.is_silent}


def decide(
    points: Sequence[Sample],
    *,
    unknown: int = 0,
    false_alarm: float = FALSE_ALARM,
    about: About = "mean",
    is_last: bool = True,
) -> Decision:
    """Return the verdict that the samples allow.

    Parameters
    ----------
    points : sequence of Sample
        All with as many seeds, those of a look.
    unknown : int
        Points of the claim that cannot be looked at, such as those against a scheme that is not simulated: they keep
        what speaks of all points open.
    false_alarm : float
        Level of the claim.
    about : {"mean", "median"}
        Whether the claim is taken to be about the mean of runs, geometric for ratios, or about their median; the ledger
        takes the mean, and the median of skewed samples.
    is_last : bool
        Whether it is the last look.

    Examples
    --------
    >>> from capsim.study.relations import Says
    >>> from capsmodel.experiments.words import below
    >>> lower = Says.statement(lambda one: below(one, 1))
    >>> halves = Sample(name="ecmp", samples=np.log([0.49, 0.5, 0.51, 0.5]), says=lower, logarithmic=True)
    >>> decide([halves]).word
    'holds'
    >>> decide([halves], unknown=1).word
    'open'
    """
    choice("about", about, get_args(About))
    if not points:
        return Decision("open", {})
    whole, part = _intervals(points, [false_alarm, false_alarm / len(points)], about)
    unknowns = [_UNKNOWN] * unknown
    counted = list(zip(points, whole, part, strict=True))
    kind = next((point.says.kind for point in points if point.says), STATEMENT)
    word = verdict_word(
        kind,
        [point.answers(found) for point, found, _ in counted] + unknowns,
        [point.answers(found) for point, _, found in counted] + unknowns,
        reached=_reached(counted, unknown),
        on_average=_on_average(points, false_alarm, about) if not unknown else None,
        is_last=is_last,
    )
    return Decision(word, {point.name: found for point, found in zip(points, whole, strict=True)}, points)


def _intervals(points: Sequence[Sample], levels: Sequence[float], about: About) -> list[list[Interval]]:
    """Return the interval of each point at each level; those of logarithms with variances that help each other."""
    alike = [
        number
        for number, point in enumerate(points)
        if about == "mean" and point.logarithmic and np.ptp(point.samples) > 0 and not point.is_skewed
    ]
    if not alike:
        return [[point.interval(level, about) for point in points] for level in levels]
    rows = np.array([points[number].samples for number in alike])
    variances, dof = moderated(rows)
    means = dict(zip(alike, rows.mean(axis=1), strict=True))
    errors = dict(zip(alike, np.sqrt(variances / rows.shape[1]), strict=True))
    look = look_number(rows.shape[1])
    confidences = {level: 1 - level_at(look, false_alarm=level) for level in levels}

    def interval(number: int, level: float) -> Interval:
        if number not in means:
            return points[number].interval(level, about)
        mean, error = float(means[number]), float(errors[number])
        return points[number].in_unit(student_interval(mean, error, dof, confidences[level], rows.shape[1]))

    return [[interval(number, level) for number in range(len(points))] for level in levels]


def _reached(counted: Sequence[tuple[Sample, Interval, Interval]], unknown: int) -> Holds:
    """Return whether some point reaches the size that differences go "up to"; what cannot be looked at may."""
    if not any(point.says and point.says.reached for point, *_ in counted):
        return True
    if any(point.reached(part) for point, _, part in counted):
        return True
    answers = [point.reached(whole) for point, whole, _ in counted]
    return None if unknown or any(one is None for one in answers) else False


def _on_average(points: Sequence[Sample], false_alarm: float, about: About) -> Holds:
    """Return whether the direction of an order holds of the geometric mean over its points."""
    says = points[0].says
    comparable = len(points) > 1 and all(point.logarithmic and point.says for point in points)
    if not comparable or says is None or says.kind != STATEMENT or says.direction is None:
        return None
    mean = Sample(name="mean", samples=np.mean([one.samples for one in points], axis=0), says=None, logarithmic=True)
    return says.direction(mean.interval(false_alarm, about))
