"""The word on what a figure measures at several points, all together."""

from collections.abc import Iterable
from typing import Protocol

from capsim.study.relations import Predicate
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.experiments.words import Holds, VerdictWord, joined, verdict_word

CONFIDENCE = 0.95


class Estimate(Protocol):
    """What is measured at a point; a mean and a ratio of :mod:`capsmodel.experiments.statistics.intervals` are."""

    def at(self, confidence: float) -> Interval:
        """Return it with its interval at a confidence, in (0, 1)."""


def word_on(
    points: Iterable[Estimate],
    met: Predicate,
    holds: Predicate | None = None,
    *,
    with_size: int | None = None,
    unknown: int = 0,
) -> VerdictWord:
    """Return the word on all points; "differs in size" speaks of *some*, which takes a part of the level (Bonferroni).

    Parameters
    ----------
    points : iterable of Estimate
        What is measured at all points.
    met, holds : callable
        What an interval must be for the claim to be met with its size, and for its direction; `met` for both.
    with_size : int, optional
        So many of the first points must have the size; the others count for the direction only.
    unknown : int
        Points that were not run.
    """
    listed = list(points)

    def pairs(counted: list[Estimate]) -> list[tuple[Interval, Interval]]:
        of_part = 1 - (1 - CONFIDENCE) / len(counted)
        return [(one.at(CONFIDENCE), one.at(of_part)) for one in counted]

    direction = holds or met
    unknowns: list[Holds] = [None] * unknown
    sizes: list[Holds] = [joined(yes=met(whole), no=met(part)) for whole, part in pairs(listed[:with_size])]
    sides: list[Holds] = [joined(yes=direction(part), no=direction(whole)) for whole, part in pairs(listed)]
    return verdict_word(sizes + unknowns, sides + unknowns)
