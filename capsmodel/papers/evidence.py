"""What a claim is judged by: its statement about some runs, also where they are carried over from a smaller fabric.

A setting is compared with the text at the reduced scale of an experiment, where a printed size of the whole fabric need
not be met by either. What the setting *changes* there, seed by seed on the same flows, is carried over to the runs of
the text at the paper's scale: a ratio is multiplied by the factor by which the setting changes it, a value likewise,
and to a printed difference the change is added. The interval of the result covers the noise of all three kinds of runs.

That a setting changes both scales by the same factor is an assumption, which ``data/papers/carried_over.csv`` checks
(``benchmarks/check_carried_over.py`` writes it). Tails do not follow it and are not carried over. Signs, of trends
and of differences that can be 0, do not need it: they are those of the setting's own runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from capsmodel.experiments.statistics.sequential import repeated_interval
from capsmodel.papers.decisions import FALSE_ALARM, Point
from capsmodel.papers.index import Claim
from capsmodel.papers.metric_columns import TAILS
from capsmodel.papers.statements import Runs, Statement

__all__ = ["CarriedOver", "Evidence", "OfRuns", "can_be_carried_over", "is_changed"]


class Evidence(Protocol):
    """What a claim is judged by."""

    @property
    def statement(self) -> Statement:
        """Return what the claim compares, of all schemes."""

    def has(self, seeds: int) -> bool:
        """Return whether the first `seeds` seeds of all that is simulated are there."""

    def points(self, claim: Claim, seeds: int) -> Sequence[Point]:
        """Return the points of the claim that these seeds give."""


@dataclass(frozen=True)
class OfRuns:
    """A statement about runs as they are."""

    statement: Statement
    runs: Runs

    def has(self, seeds: int) -> bool:
        """Return whether the first `seeds` seeds of all that is simulated are there."""
        return self.runs.has(self.statement.simulated.terms, seeds)

    def points(self, claim: Claim, seeds: int) -> Sequence[Point]:
        """Return the points of the claim that these seeds give."""
        return self.statement.simulated.points(claim, self.runs, seeds)


@dataclass(frozen=True)
class CarriedOver:
    """A statement about the paper's scale in another setting.

    Attributes
    ----------
    text : OfRuns
        The statement in the setting of the text, about its runs at the paper's scale.
    before, after : OfRuns
        The same at the reduced scale, and the statement in the other setting at that scale.
    """

    text: OfRuns
    before: OfRuns
    after: OfRuns

    @property
    def statement(self) -> Statement:
        """Return what the claim compares in the other setting, of all schemes."""
        return self.after.statement

    def has(self, seeds: int) -> bool:
        """Return whether the first `seeds` seeds are there at both scales."""
        return all(one.has(seeds) for one in (self.text, self.before, self.after))

    def points(self, claim: Claim, seeds: int) -> Sequence[Point]:
        """Return the points of the claim, carried over but for signs."""
        if self.statement.has_signs_only(claim):
            return self.after.points(claim, seeds)
        of_all = zip(*(one.points(claim, seeds) for one in (self.text, self.before, self.after)), strict=True)
        return [_carried_over(*points, added=self.statement.gap) for points in of_all]


def can_be_carried_over(statement: Statement, claim: Claim) -> bool:
    """Return whether a smaller fabric says what a setting changes of what a claim compares."""
    return statement.has_signs_only(claim) or statement.column_of(claim) not in TAILS


def is_changed(claim: Claim, before: OfRuns, after: OfRuns, seeds: int) -> bool:
    """Return whether runs in two settings, seed by seed on the same flows, prove that a point of a claim differs."""
    old = {point.name: point for point in before.points(claim, seeds) if not point.is_silent}
    new = [point for point in after.points(claim, seeds) if not point.is_silent and point.name in old]
    shifts = [point.samples - old[point.name].samples for point in new]
    found = [repeated_interval(shift, false_alarm=FALSE_ALARM / len(shifts)) for shift in shifts]
    return any(one.low > 0 or one.high < 0 for one in found)


def _carried_over(text: Point, before: Point, after: Point, *, added: bool) -> Point:
    """Return the point of the text with what changes from `before` to `after`, seed by seed."""
    if unknown := next((one for one in (text, before, after) if one.is_silent), None):
        return unknown
    if added or after.logarithmic:
        return replace(after, samples=text.samples + (after.samples - before.samples))
    if not ((before.samples > 0) & (after.samples > 0)).all():
        return Point.silent(f"{after.name} (0 in some runs)", text.samples.size)
    return replace(after, samples=text.samples * (after.samples / before.samples))
