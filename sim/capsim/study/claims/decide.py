r"""Decisions on claims: the statement at every point of a sweep, at levels that keep its error small.

A *point* is one comparison that a claim makes: a value for each seed, such as the logarithm of the ratio of two schemes
on the same flows, and what its interval must be (:class:`capsim.study.claims.relations.Says`). Points are analysed as
:mod:`capsmodel.experiments.statistics.sequential` says, with the level α = `FALSE_ALARM` for one claim in one setting.
The verdicts are those of :func:`capsmodel.experiments.words.verdict_word`.

*All or some.* "Agrees", "holds", "absent" and "fails" speak of all m points. Each is wrong only if one given point is,
so that each point may have the whole of α (intersection-union test, Berger 1982). "Differs" and "holds in part" say
that *some* point is missed, or contrary; these use α/m (Bonferroni), as does that *some* point reaches the size that a
claim says its differences go "up to".

*No race.* A printed number is agreed with where the whole interval is within 10% of it, and differed from where the
whole interval is outside: of two verdicts that exclude each other one at most is true, so that more seeds do not turn
one into the other. An order without a size is absent at the last interim analysis only.

*Many points.* An order that is claimed for many places is not lost on a tie: it holds if it is nowhere worse by more
than 3%, and better in the geometric mean of the points, seed by seed. Both are proven, the mean at the level α.

*The median of runs.* A verdict is about what happens in most runs: the median over seeds of the ratio of two schemes on
the same flows, of a difference or of a value. Its interval keeps the level for every law
(:func:`capsmodel.experiments.statistics.sequential.repeated_median`); that of no mean of runs does, since most runs are
without the timeouts that carry it (`docs/verdict_rules.md` has the measured levels of both). At the first interim
analysis, with 8 seeds, all of them have to be on one side. A rare event is not in the median: that there is some is
neither claimed nor denied where half of the runs or fewer have it, and runs in which two counts are equal say nothing
of their order.

*The ratio of means.* A reader may mean the ratio of two means over seeds where a claim says by how much one scheme is
faster. No interval of it keeps the level, but where its value gives another verdict than the value of the median there
is no verdict (:func:`means_say_otherwise`).

"Fails" counts only if a second set of seeds, disjoint from the first and analysed in the same way, says so too
(:mod:`capsim.study.campaign`); otherwise the claim stays open. It needs both families, so it is wrong with probability
α at most as before, and α² where the families are independent.

Over a ledger of m verdicts, those in other settings included, αm are expected to be false at most, one in 100, whatever
the claims have in common (:func:`capsmodel.experiments.statistics.sequential.expected_false`).

References
----------
R. L. Berger. Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4), pp. 295-300, 1982.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan

import numpy as np

from capsim.study.claims.relations import Says
from capsmodel.checks import FloatArray
from capsmodel.experiments.statistics.intervals import Interval, skewness
from capsmodel.experiments.statistics.sequential import FALSE_ALARM, repeated_median
from capsmodel.experiments.words import STATEMENT, Holds, PointAnswers, VerdictWord, verdict_word

__all__ = ["ABOUT", "FALSE_ALARM", "Decision", "Sample", "decide", "means_say_otherwise"]

ABOUT = "median of runs"
"""What a verdict is about, and the value and the interval beside it."""


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
        What its interval must be; None if the point cannot be analysed.
    logarithmic : bool
        Whether the samples are logarithms; intervals are those of the ratio.
    only_signs : bool
        Whether it matters only which of two is larger: seeds with 0, where they are equal, do not count.
    of_means : float
        Of logarithms of ratios, that of the ratio of the means over seeds; NaN where there is none.
    """

    name: str
    samples: FloatArray
    says: Says | None
    logarithmic: bool = False
    only_signs: bool = False
    of_means: float = nan

    @classmethod
    def silent(cls, name: str, seeds: int) -> "Sample":
        """Return a point that cannot be analysed, which keeps the claim open."""
        return cls(name=name, samples=np.zeros(seeds), says=None)

    @property
    def is_silent(self) -> bool:
        """Whether it cannot be analysed."""
        return self.says is None

    @cached_property
    def skewness(self) -> float:
        """The skewness of its samples."""
        return skewness(self.samples)

    @property
    def median(self) -> float:
        """Return the median of its samples, of a ratio if they are logarithms."""
        value = float(np.median(self.samples))
        return float(np.exp(value)) if self.logarithmic else value

    def known_as(self, value: float) -> "Sample":
        """Return it with one value in place of its samples."""
        return replace(self, samples=np.full(self.samples.size, value))

    def interval(self, false_alarm: float) -> Interval:
        """Return the median with the interval of the interim analysis at as many seeds as samples."""
        counted = self.samples[self.samples != 0] if self.only_signs else self.samples
        interval = repeated_median(counted, false_alarm=false_alarm, seeds=self.samples.size)
        ends = {name: getattr(interval, name) for name in ("value", "low", "high")}
        if self.logarithmic:
            ends = {name: float(np.exp(value)) for name, value in ends.items()}
        return Interval(**ends, confidence=interval.confidence, samples=interval.samples)

    def answers(self, interval: Interval) -> PointAnswers:
        """Return what an interval of it says of the claim."""
        return self.says.answers(interval) if self.says else _UNKNOWN

    def undecided_at(self, interval: Interval) -> tuple[float, ...]:
        """Return the bounds that keep what an interval of it says of the claim undecided."""
        return self.says.undecided_at(interval) if self.says else ()

    def reached(self, interval: Interval) -> Holds:
        """Return whether it reaches the size that differences go "up to"."""
        return self.says.reached(interval) if self.says and self.says.reached else None


_UNKNOWN = PointAnswers(None)


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
    def undecided_at(self) -> dict[str, tuple[float, ...]]:
        """The bounds that the interval of each point lies across while they keep the claim undecided."""
        return {point.name: point.undecided_at(self.intervals[point.name]) for point in self.points}

    @property
    def skewness(self) -> dict[str, float]:
        """The skewness of the samples of each point that can be analysed."""
        return {point.name: point.skewness for point in self.points if not point.is_silent}


def decide(
    points: Sequence[Sample],
    *,
    unknown: int = 0,
    false_alarm: float = FALSE_ALARM,
    is_last: bool = True,
) -> Decision:
    """Return the verdict that the samples allow.

    Parameters
    ----------
    points : sequence of Sample
        All with as many seeds, those of an interim analysis.
    unknown : int
        Points of the claim that cannot be analysed, such as those against a scheme that is not simulated: they keep
        what speaks of all points open.
    false_alarm : float
        Level of the claim.
    is_last : bool
        Whether it is the last interim analysis.

    Examples
    --------
    >>> from capsim.study.claims.relations import Says
    >>> from capsmodel.experiments.words import below
    >>> lower = Says.statement(lambda one: below(one, 1))
    >>> halves = Sample(name="ecmp", samples=np.log([0.49, 0.5, 0.51, 0.5] * 2), says=lower, logarithmic=True)
    >>> decide([halves]).word
    'holds'
    >>> decide([halves], unknown=1).word
    'open'
    """
    if not points:
        return Decision("open", {})
    whole = [one.interval(false_alarm) for one in points]
    verdict = _verdict(points, whole, unknown, false_alarm, is_last=is_last)
    if verdict != "open" and means_say_otherwise(points, false_alarm, verdict):
        verdict = "open"
    return Decision(verdict, {point.name: interval for point, interval in zip(points, whole, strict=True)}, points)


def _verdict(
    points: Sequence[Sample], whole: Sequence[Interval], unknown: int, false_alarm: float, *, is_last: bool
) -> VerdictWord:
    part = [one.interval(false_alarm / len(points)) for one in points]
    unknowns = [_UNKNOWN] * unknown
    counted = list(zip(points, whole, part, strict=True))
    kind = next((point.says.kind for point in points if point.says), STATEMENT)
    return verdict_word(
        kind,
        [point.answers(interval) for point, interval, _ in counted] + unknowns,
        [point.answers(interval) for point, _, interval in counted] + unknowns,
        reached=_reached(counted, unknown),
        on_average=_on_average(points, false_alarm) if not unknown else None,
        is_last=is_last,
    )


def means_say_otherwise(points: Sequence[Sample], false_alarm: float, *verdicts: str) -> bool:
    """Return whether ratios of means give none of `verdicts`, and not what medians of the same points would give.

    Both are taken as if they were known exactly: then what is absent by an interval is contrary by a hair.
    """
    if np.isnan([one.of_means for one in points]).all():
        return False
    medians = [one.known_as(float(np.median(one.samples))) for one in points]
    means = [one if np.isnan(one.of_means) else one.known_as(one.of_means) for one in medians]
    by_medians, by_means = (
        _verdict(exact, [one.interval(false_alarm) for one in exact], 0, false_alarm, is_last=True)
        for exact in (medians, means)
    )
    return by_means not in (*verdicts, by_medians)


def _reached(counted: Sequence[tuple[Sample, Interval, Interval]], unknown: int) -> Holds:
    """Return whether some point reaches the size that differences go "up to"; what cannot be analysed may."""
    if not any(point.says and point.says.reached for point, *_ in counted):
        return True
    if any(point.reached(part) for point, _, part in counted):
        return True
    answers = [point.reached(whole) for point, whole, _ in counted]
    return None if unknown or any(one is None for one in answers) else False


def _on_average(points: Sequence[Sample], false_alarm: float) -> Holds:
    """Return whether the direction of an order holds of the geometric mean over its points."""
    says = points[0].says
    comparable = len(points) > 1 and all(point.logarithmic and point.says for point in points)
    if not comparable or says is None or says.kind != STATEMENT or says.direction is None:
        return None
    mean = Sample(name="mean", samples=np.mean([one.samples for one in points], axis=0), says=None, logarithmic=True)
    return says.direction(mean.interval(false_alarm))
