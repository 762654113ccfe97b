"""The evidence for a claim: its statement about some runs, also where they are carried over from a smaller fabric.

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

import numpy as np

from capsim import schemes as simulated
from capsim.study.decide import FALSE_ALARM, Decision, Sample, decide
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.experiments.statistics.sequential import looks, repeated_interval
from capsmodel.papers.index import Claim
from capsmodel.papers.metric_columns import TAILS
from capsmodel.papers.statements import TAU, Runs, Statement, relation_of
from capsmodel.papers.verdicts import Verdict, of_sample

__all__ = [
    "CarriedOver",
    "Evidence",
    "Judged",
    "OfRuns",
    "can_be_carried_over",
    "checked_again",
    "is_changed",
    "judged",
    "verdict_of",
]


class Evidence(Protocol):
    """What a claim is judged by."""

    @property
    def statement(self) -> Statement:
        """Return what the claim compares, of all schemes."""

    def has(self, seeds: int) -> bool:
        """Return whether the first `seeds` seeds of all that is simulated are there."""

    def points(self, claim: Claim, seeds: int) -> Sequence[Sample]:
        """Return the points of the claim that these seeds give."""


@dataclass(frozen=True)
class OfRuns:
    """A statement about runs as they are."""

    statement: Statement
    runs: Runs

    def has(self, seeds: int) -> bool:
        """Return whether the first `seeds` seeds of all that is simulated are there."""
        return self.runs.has(self.statement.simulated.terms, seeds)

    def points(self, claim: Claim, seeds: int) -> Sequence[Sample]:
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

    def points(self, claim: Claim, seeds: int) -> Sequence[Sample]:
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


def _carried_over(text: Sample, before: Sample, after: Sample, *, added: bool) -> Sample:
    """Return the point of the text with what changes from `before` to `after`, seed by seed."""
    if unknown := next((one for one in (text, before, after) if one.is_silent), None):
        return unknown
    if added or after.logarithmic:
        return replace(after, samples=text.samples + (after.samples - before.samples))
    if not ((before.samples > 0) & (after.samples > 0)).all():
        return Sample.silent(f"{after.name} (0 in some runs)", text.samples.size)
    return replace(after, samples=text.samples * (after.samples / before.samples))


@dataclass(frozen=True)
class Judged:
    """Where a claim in one setting stands.

    Attributes
    ----------
    decision : Decision
        What the last look said; without a word and without points before the first.
    seeds : int
        Seeds of that look; 0 before the first.
    next_seeds : int
        Seeds that the next look needs; 0 if it is decided, at its limit, or nothing of it is simulated.
    """

    decision: Decision
    seeds: int
    next_seeds: int


def judged(claim: Claim, evidence: Evidence, *, most_seeds: int) -> Judged:
    """Return where a claim stands: the first look that gives a word, or the last one that can be taken.

    Parameters
    ----------
    claim : Claim
        The claim.
    evidence : Evidence
        What it is judged by.
    most_seeds : int
        Limit of the looks; 0 if there is none to take.
    """
    statement = evidence.statement
    unknown = len(statement.comparisons) - len(statement.simulated.comparisons)
    found = Judged(Decision("open", {}), 0, 0)
    if unknown == len(statement.comparisons) or not most_seeds:
        return found
    for seeds in looks(most_seeds):
        if not evidence.has(seeds):
            return Judged(found.decision, found.seeds, seeds)
        found = Judged(decide(evidence.points(claim, seeds), unknown=unknown), seeds, 0)
        if found.decision.word != "open":
            break
    return found


def verdict_of(claim: Claim, statement: Statement, found: Judged, *, testbed: bool) -> Verdict:
    """Return the verdict with its value in the unit of the claim, and what it rests on."""
    intervals = found.decision.intervals
    parts = [f"{found.seeds} seeds, level {FALSE_ALARM:g}" if found.seeds else "no look yet"]
    parts += [statement.note] if statement.note else []
    parts += ["the testbed is simulated in packets"] if testbed else []
    parts += _about_schemes(statement)
    if found.seeds and (equal := statement.simulated.without_events(claim, intervals)):
        parts.append(f"none in any run: {', '.join(equal)}")
    parts += [f"{name}: {one.value:.4g}" for name, one in intervals.items()]
    quantity = statement.quantity(claim)
    shown = [one for name, one in intervals.items() if quantity != TAU or name.endswith(TAU)]
    values, ends = _in_one_range(claim, shown)
    if quantity == TAU:  # Student's interval knows nothing of the range of a mean of tau
        ends = tuple(min(max(end, -1.0), 1.0) for end in ends)
    verdict = Verdict(claim.id, values, found.decision.word, "; ".join(parts), ends, quantity)
    return of_sample(verdict, f"{found.seeds} seeds") if found.seeds else verdict


def _about_schemes(statement: Statement) -> list[str]:
    """Return which of the schemes that are compared are not simulated, and which are reconstructions."""
    names, known = {name for one in statement.comparisons for name in one.schemes}, simulated()
    missing = sorted(names - known.keys())
    rebuilt = sorted(name for name in names & known.keys() if known[name].reconstructed)
    lacking = {"not simulated": missing, "reconstructed": rebuilt}
    return [f"{word}: {', '.join(found)}" for word, found in lacking.items() if found]


def _in_one_range(claim: Claim, found: Sequence[Interval]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the value of one point with the ends of its interval, or the least and the largest of several."""
    values = sorted(_in_unit(claim, one.value) for one in found)
    if len(values) != 1:
        return tuple(values[:1] + values[1:][-1:]), ()
    low, high = sorted(_in_unit(claim, end) for end in (found[0].low, found[0].high))
    return tuple(values), (low, high) if np.isfinite(high - low) else ()


def _in_unit(claim: Claim, ratio: float) -> float:
    """Return a ratio in the unit of the claim; that an optimum is best is shown by the ratio itself."""
    return ratio if claim.relation == "argmax" else relation_of(claim).in_unit(ratio)


def checked_again(verdict: Verdict, found: Judged, again: Judged) -> Verdict:
    """Return what becomes of a verdict that refutes a claim: it is open unless a second family of seeds refutes it too.

    Parameters
    ----------
    verdict : Verdict
        That of the first family.
    found, again : Judged
        Where the claim stands by the first family, and by the second.
    """
    if again.decision.word == "refuted":
        return replace(verdict, reason=f"{verdict.reason}; {again.seeds} other seeds refute it too")
    others = f"{again.seeds} others give {again.decision.word!r}" if again.seeds else "no others were run yet"
    reason = f"{verdict.reason}; these seeds refute it, but {others}"
    return of_sample(replace(verdict, verdict="open", reason=reason), f"{found.seeds} seeds")
