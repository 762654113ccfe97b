"""When a claim is analysed, and by what: its runs as they are, or carried over from a smaller fabric.

A claim in one setting is analysed when 8, 16, 32, ... seeds of everything that it compares are there, and decided at
the first interim analysis that gives a verdict (:mod:`capsim.study.claims.decide`).

A setting is compared with the text at the reduced scale of a study, where a printed size of the whole fabric need not
be met by either. What the setting *changes* there, seed by seed on the same flows, is carried over to the runs of the
text at the paper's scale: a ratio is multiplied by the factor by which the setting changes it, a value likewise, and to
a printed difference the change is added. The interval of the result covers the noise of all three kinds of runs.

That a setting changes both scales by the same factor is an assumption. Tails do not follow it and are not carried over.
Signs, of trends and of differences that can be 0, do not need it: they are those of the setting's own runs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from capsim.study.claims.decide import FALSE_ALARM, Decision, Sample, decide, means_say_otherwise
from capsim.study.claims.samples import RunRows, Statement
from capsim.study.metrics import known_metric
from capsmodel.experiments.statistics.sequential import repeated_median

__all__ = [
    "CarriedOver",
    "Evidence",
    "Judged",
    "OfRuns",
    "can_be_carried_over",
    "foreseen_seeds",
    "is_changed",
    "judged",
    "numbers_of",
    "points_there",
    "seeds_there",
    "why_open",
]


MOST_FORESEEN_SEEDS = 16_384
"""Seeds up to which it is foreseen whether a claim will be decided."""


class Evidence(Protocol):
    """What a claim is judged by."""

    def has(self, seeds: int) -> bool:
        """Return whether the first `seeds` seeds of all that is compared are there."""

    def samples(self, seeds: int) -> Sequence[Sample]:
        """Return the samples that these seeds give."""


@dataclass(frozen=True)
class OfRuns:
    """A claim about runs as they are: what it says in a setting, and rows of that setting and one set of seeds."""

    statement: Statement
    rows: RunRows

    def has(self, seeds: int) -> bool:
        """Return whether the first `seeds` seeds of all that is compared are there."""
        return bool(self.statement.points) and self.rows.has(self.statement.points, seeds)

    def samples(self, seeds: int) -> Sequence[Sample]:
        """Return the samples that these seeds give."""
        return self.statement.samples(self.rows, seeds)


@dataclass(frozen=True)
class CarriedOver:
    """A claim about the paper's scale in another setting.

    Attributes
    ----------
    text : OfRuns
        The claim in the setting of the text, about its runs at the paper's scale.
    before, after : OfRuns
        The same at the reduced scale, and the claim in the other setting at that scale.
    """

    text: OfRuns
    before: OfRuns
    after: OfRuns

    def has(self, seeds: int) -> bool:
        """Return whether the first `seeds` seeds are there at both scales."""
        return all(one.has(seeds) for one in (self.text, self.before, self.after))

    def samples(self, seeds: int) -> Sequence[Sample]:
        """Return the samples, carried over but for signs."""
        if self.after.statement.has_signs_only:
            return self.after.samples(seeds)
        of_all = zip(*(one.samples(seeds) for one in (self.text, self.before, self.after)), strict=True)
        return [_carried_over(*three, added=self.after.statement.is_gap) for three in of_all]


def can_be_carried_over(statement: Statement) -> bool:
    """Return whether a smaller fabric says what a setting changes of what a claim compares."""
    return statement.has_signs_only or not known_metric(statement.metric).tail


def is_changed(before: OfRuns, after: OfRuns, seeds: int, *, level: float) -> bool:
    """Return whether runs in two settings, seed by seed on the same flows, prove that samples of a claim differ.

    That all of them do, each at the level, or that some do, at a part of it for each; it is wrong with the probability
    `level` at most for either.
    """
    old = {one.name: one for one in before.samples(seeds) if not one.is_silent}
    new = [one for one in after.samples(seeds) if not one.is_silent and one.name in old]
    shifts = [one.samples - old[one.name].samples for one in new]

    def apart(level: float) -> list[bool]:
        intervals = [repeated_median(shift, false_alarm=level) for shift in shifts]
        return [one.low > 0 or one.high < 0 for one in intervals]

    return bool(shifts) and (all(apart(level)) or any(apart(level / len(shifts))))


def _carried_over(text: Sample, before: Sample, after: Sample, *, added: bool) -> Sample:
    """Return the sample of the text with what changes from `before` to `after`, seed by seed."""
    if unknown := next((one for one in (text, before, after) if one.is_silent), None):
        return unknown
    if added or after.logarithmic:
        of_means = text.of_means + (after.of_means - before.of_means)
        return replace(after, samples=text.samples + (after.samples - before.samples), of_means=of_means)
    if not ((before.samples > 0) & (after.samples > 0)).all():
        return Sample.silent(f"{after.name} (0 in some runs)", text.samples.size)
    return replace(after, samples=text.samples * (after.samples / before.samples))


@dataclass(frozen=True)
class Judged:
    """Where a claim in one setting stands.

    Attributes
    ----------
    decision : Decision
        What the last interim analysis said; without a verdict and without samples before the first.
    seeds : int
        Seeds of that interim analysis; 0 before the first.
    next_seeds : int
        Seeds that the next interim analysis needs; 0 if it is decided or at its limit.
    """

    decision: Decision
    seeds: int
    next_seeds: int


def judged(evidence: Evidence, numbers: Sequence[int], *, level: float) -> Judged:
    """Return where a claim stands: the first interim analysis that gives a verdict, or the last one that can be taken.

    Parameters
    ----------
    evidence : Evidence
        What it is judged by.
    numbers : sequence of int
        Seeds of the interim analyses, in rising order; empty if there is none to take.
    level : float
        Chance of a false verdict.
    """
    last = Judged(Decision("open", {}), 0, 0)
    for seeds in numbers:
        if not evidence.has(seeds):
            return Judged(last.decision, last.seeds, seeds)
        decision = decide(evidence.samples(seeds), false_alarm=level, is_last=seeds == numbers[-1])
        last = Judged(decision, seeds, 0)
        if last.decision.word != "open":
            break
    return last


def foreseen_seeds(last: Judged, numbers: Sequence[int], *, level: float) -> int:
    """Return the seeds that would decide an open claim if further ones scatter as those of its last interim analysis.

    The samples are repeated until there is a verdict: mean and spread stay, and the interval becomes shorter. So it is
    a forecast, no verdict, and it is wrong where the mean of these seeds is off.

    Parameters
    ----------
    last : Judged
        An open claim that was analysed.
    numbers : sequence of int
        Seeds of the interim analyses; an order without a size may be absent at the last of them, and at more, which are
        then the last.
    level : float
        Chance of a false verdict.

    Returns
    -------
    int
        Twice the seeds of the interim analysis, or four times, ...; 0 if even `MOST_FORESEEN_SEEDS` do not decide.
    """
    seeds = 2 * last.seeds
    while 0 < seeds <= MOST_FORESEEN_SEEDS:
        points = [replace(one, samples=np.tile(one.samples, seeds // last.seeds)) for one in last.decision.points]
        if decide(points, false_alarm=level, is_last=seeds >= numbers[-1]).word != "open":
            return seeds
        seeds *= 2
    return 0


def why_open(points: Iterable[Sample], not_as_printed: Sequence[str], reconstructed: str) -> str:
    """Return why no number of seeds decides a claim, and what would."""
    if reconstructed:
        return f"no number of seeds decides it: {reconstructed} stands in for a scheme that the paper only names"
    if not_as_printed:
        return "no number of seeds decides it: one side is not what is printed of it; a setting in which both are would"
    listed = list(points)
    if means_say_otherwise(listed, FALSE_ALARM):
        return "no number of seeds decides it: the median of runs and the ratio of their means give different verdicts"
    if silent := "; ".join(one.name for one in listed if one.is_silent):
        return f"no number of seeds decides it: there is nothing to compare at {silent}; runs with more flows would"
    return f"{MOST_FORESEEN_SEEDS} seeds like these would not decide it: they lie on the bound of two words; others may"


def seeds_there(of_runs: OfRuns, numbers: Sequence[int]) -> int:
    """Return the seeds of the last of some interim analyses that the runs which are there allow; 0 if there is none."""
    return max((seeds for seeds in numbers if of_runs.has(seeds)), default=0)


def points_there(evidence: Evidence, most: int) -> tuple[int, Sequence[Sample]]:
    """Return how many seeds are there, of 2 to `most`, and the points that they give; 0 and no point below two."""
    seeds = next((one for one in range(most, 1, -1) if evidence.has(one)), 0)
    return seeds, evidence.samples(seeds) if seeds else ()


def numbers_of(seeds: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return the seeds of the interim analyses: a number alone, or the first one and its doubles up to the last.

    Examples
    --------
    >>> numbers_of(5), numbers_of((8, 40))
    ((5,), (8, 16, 32))
    """
    if isinstance(seeds, int):
        return (seeds,)
    first, most = seeds
    return tuple(first * 2**number for number in range(most.bit_length()) if first * 2**number <= most)
