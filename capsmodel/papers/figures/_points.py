"""The word on what a figure measures at several points, all together."""

from collections.abc import Iterable
from typing import Protocol

from capsim.study.decide import FALSE_ALARM
from capsim.study.relations import Predicate
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.experiments.words import Answers, Kind, VerdictWord, verdict_word

CONFIDENCE = 1 - FALSE_ALARM


class Estimate(Protocol):
    """What is measured at a point; a mean and a ratio of :mod:`capsmodel.experiments.statistics.intervals` are."""

    def at(self, confidence: float) -> Interval:
        """Return it with its interval at a confidence, in (0, 1)."""


def word_on_points(
    kind: Kind,
    points: Iterable[Estimate],
    met: Predicate,
    holds: Predicate | None = None,
    *,
    unknown: int = 0,
) -> VerdictWord:
    """Return the word on all points; one that speaks of *some* takes a part of the level (Bonferroni).

    Parameters
    ----------
    kind : Kind
        What the claim gives.
    points : iterable of Estimate
        What is measured at all points.
    met, holds : callable
        What an interval must be for the claim to be met as it is made, and for its direction; `met` for both.
    unknown : int
        Points that were not run.
    """
    listed = list(points)

    def answers(confidence: float) -> list[Answers]:
        found = [one.at(confidence) for one in listed]
        return [Answers.of(met(one), (holds or met)(one)) for one in found] + [Answers.of(None)] * unknown

    return verdict_word(kind, answers(CONFIDENCE), answers(1 - FALSE_ALARM / len(listed)))
