"""The campaign of a study: which runs come next, and where all claims stand, in the setting of the text and in others.

Runs are kept in one folder (:mod:`capsim.study.kept_runs`), so a campaign may be stopped at any moment, goes on when it
is started again, and may be shared by several processes. Which runs come next, and every verdict, follow from the runs
that are there: nothing else is remembered.

Claims that are decided ask for no more seeds. Settings other than the text's are tried at the sampled points of the
study, at its reduced scale if it has one; then so is the text's, and what changes between the two is carried over to
the paper's scale (:mod:`capsim.study.claims.looks`). A setting counts for a claim only if it changes the runs that the
claim compares.

A claim that fails by these seeds in the setting of the text is analysed once more, by a second set of seeds, with the
same interim analyses and the same limit. It stays open until it fails by them too; and it stays open if one of the two
sides is not what the paper has: where something in the same unit is printed of a side, and ours is off by more than
`BASELINE_RELATIVE`, the contrary is not of the paper's comparison. What fails then, or is absent, *depends* on a
setting if it has the paper's direction in one that the paper leaves open. Where a scheme is a reconstruction of a few
sentences, the claim is open too: such a scheme refutes nothing.
"""

import time
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from capsim.study.claims.design import Design
from capsim.study.claims.looks import (
    CarriedOver,
    Judged,
    OfRuns,
    can_be_carried_over,
    foreseen_seeds,
    is_changed,
    judged,
    seeds_there,
    why_open,
)
from capsim.study.claims.samples import Quantity, RunRows, Statement
from capsim.study.kept_runs import Group, KeptRuns, numbers_of_setting, second_family
from capsim.study.metrics import known_metric
from capsim.study.points import Point, Scale, point_name
from capsmodel.experiments.progress import Minutes
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.experiments.statistics.robustness import TEXT, Robustness, robustness
from capsmodel.experiments.sweep import Executor, Progress, Task, end_of, run_sweep
from capsmodel.experiments.words import FOR_THE_PAPER

__all__ = ["Campaign", "Look", "Verdict", "advance"]

SAMPLED_WEIGHT = 4
"""An interim analysis of the sampled points comes after those of all points with less than so many times its seeds."""
BASELINE_RELATIVE = 0.25
"""How far a side of a comparison may be from print, where it is printed, so that the contrary counts."""
OPEN, ABSENT, FAILS, DEPENDS = "open", "absent", "fails", "depends"


@dataclass(frozen=True)
class Look:
    """Runs that open claims wait for.

    Attributes
    ----------
    weight : int
        How many times its seeds count.
    group : Group
        Setting, scale and set of seeds.
    seeds : int
        How many.
    points : tuple of Point
        What has to be run with each seed.
    claims : int
        Claims that wait for it.
    """

    weight: int
    group: Group
    seeds: int
    points: tuple[Point, ...]
    claims: int

    @property
    def urgency(self) -> int:
        """Return its seeds with their weight: interim analyses with less come first within a study."""
        return self.weight * self.seeds


@dataclass(frozen=True)
class Verdict:
    """What the runs say of a claim in the setting of the text.

    Attributes
    ----------
    word : str
        That it fails only if both sets of seeds say so, both sides are near what is printed of them, no setting has
        the paper's direction, and no scheme is a reconstruction.
    value, interval : tuple of float
        In the unit of the claim: the value of a single sample and the ends of its interval, or the least and the
        largest value of several.
    quantity : str
        What the value is where it is not in the unit of the claim.
    seeds : int
        Of the interim analysis that it rests on; 0 before the first.
    points : tuple
        Name and interval of each sample.
    undecided_at : mapping
        The bounds that the interval of each sample lies across while they keep an open claim so, by name.
    skewness : mapping
        Of the samples, by name.
    again : Judged, optional
        Where the claim stands by the second set of seeds, if it fails by the first one.
    not_as_printed : tuple of str
        Sides of the comparison that are not near what is printed of them, if the claim fails.
    times_printed : float
        The factor by which the worst point is off what is printed; 1 where it is met, 0 if nothing has a factor.
    next_seeds : int
        Seeds of the next interim analysis if it is open; 0 if there is none.
    next_cpu_s : float
        About the processor time of the runs that it lacks, in seconds.
    takes_seeds : int
        Seeds that would decide an open claim if further ones scatter as those that are there; before any, those of the
        first interim analysis. 0 if no number does.
    takes_cpu_s : float
        About the processor time of the runs that are missing for them, in seconds.
    stays_open : str
        Why no number of seeds decides it.
    """

    word: str
    value: tuple[float, ...]
    interval: tuple[float, ...]
    quantity: Quantity
    seeds: int
    points: tuple[tuple[str, Interval], ...]
    skewness: Mapping[str, float]
    undecided_at: Mapping[str, tuple[float, ...]]
    again: Judged | None = None
    not_as_printed: tuple[str, ...] = ()
    times_printed: float = 0.0
    next_seeds: int = 0
    next_cpu_s: float = 0.0
    takes_seeds: int = 0
    takes_cpu_s: float = 0.0
    stays_open: str = ""


@dataclass(frozen=True)
class Campaign(KeptRuns):
    """What the runs in a folder say about a study.

    Attributes
    ----------
    design, folder, tasks, earlier
        As :class:`~capsim.study.kept_runs.KeptRuns`.
    only : frozenset of str
        Claims that are analysed; all of the study if none of it is among them.
    """

    only: frozenset[str] = frozenset()

    def numbers(self, setting: str = TEXT) -> tuple[int, ...]:
        """Return the seeds of the interim analyses in a setting."""
        return numbers_of_setting(self.design, setting)

    @property
    def level(self) -> float:
        """Return the chance of a false verdict for each claim in each setting."""
        return self.design.source.file.level

    def judged(self, claim_id: str, setting: str, *, sampled: bool, offset: int = 0) -> Judged:
        """Return where a claim stands in a setting: at all points, or at the sampled ones, where settings are compared.

        With the `offset` `second_family`, by the seeds of that family, which are run in the setting of the text only.
        What is carried over to the paper's scale has as many seeds at most as the text has there.
        """
        evidence = self.evidence(claim_id, setting, sampled=sampled, offset=offset)
        numbers = self.numbers(setting)
        if sampled and self.design.has_reduced:
            most = seeds_there(self.of_runs(claim_id, TEXT, "paper", sampled=True), numbers)
            numbers = tuple(seeds for seeds in numbers if seeds <= most)
        return judged(evidence, numbers, level=self.level)

    def evidence(self, claim_id: str, setting: str, *, sampled: bool, offset: int = 0) -> OfRuns | CarriedOver:
        """Return what a claim is judged by in a setting; at the reduced scale, what is carried over from there."""
        if not (sampled and self.design.has_reduced):
            return self.of_runs(claim_id, setting, "paper", sampled=sampled, offset=offset)
        text = self.of_runs(claim_id, TEXT, "paper", sampled=True)
        if setting == TEXT:
            return text
        before, after = (self.of_runs(claim_id, one, "reduced", sampled=True) for one in (TEXT, setting))
        return CarriedOver(text, before, after)

    def of_runs(self, claim_id: str, setting: str, scale: Scale, *, sampled: bool, offset: int = 0) -> OfRuns:
        """Return a claim in a setting with the runs that are there of a scale and a set of seeds."""
        rows = self.rows.get(Group(setting, scale, offset), RunRows())
        return OfRuns(Statement(self.design, claim_id, setting, sampled), rows)

    def verdict(self, claim_id: str) -> Verdict:
        """Return the verdict on a claim in the setting of the text."""
        first = self.judged(claim_id, TEXT, sampled=False)
        statement = Statement(self.design, claim_id)
        ours = statement.value(first.decision)
        verdict: str = first.decision.word
        again: Judged | None = None
        others: tuple[str, ...] = ()
        next_seeds = first.next_seeds
        if verdict == FAILS:
            again = self.judged(claim_id, TEXT, sampled=False, offset=second_family(self.design))
            others, next_seeds = self._not_as_printed(claim_id, first.seeds), again.next_seeds
            verdict = OPEN if again.decision.word != FAILS or others else FAILS
        if verdict in (FAILS, ABSENT) and any(one in FOR_THE_PAPER for one in self.words(claim_id).values()):
            verdict = DEPENDS
        rebuilt = self.design.reconstructed(claim_id) if verdict in (FAILS, ABSENT) else ""
        verdict = OPEN if rebuilt else verdict
        offset = second_family(self.design) if again else 0
        takes = 0 if verdict != OPEN or others or rebuilt else self._takes(again or first, first.seeds or next_seeds)
        return Verdict(
            word=verdict,
            value=ours.values,
            interval=ours.interval,
            quantity=ours.quantity,
            seeds=first.seeds,
            points=tuple(first.decision.intervals.items()),
            skewness=first.decision.skewness,
            undecided_at=first.decision.undecided_at if verdict == OPEN else {},
            again=again,
            not_as_printed=others,
            times_printed=statement.times_printed(one.value for one in first.decision.intervals.values()),
            next_seeds=next_seeds,
            next_cpu_s=self.price_s(Group(TEXT, "paper", offset), next_seeds, statement.points),
            takes_seeds=takes,
            takes_cpu_s=self.price_s(Group(TEXT, "paper", offset), takes, statement.points),
            stays_open=why_open(first.decision.points, others, rebuilt) if verdict == OPEN and not takes else "",
        )

    def _takes(self, last: Judged, first: int) -> int:
        """Return the seeds that would decide an open claim; of a family without an interim analysis, `first`.

        By the second set of seeds it is decided if the verdict is any.
        """
        return foreseen_seeds(last, self.numbers(), level=self.level) if last.seeds else first

    def _not_as_printed(self, claim_id: str, seeds: int) -> tuple[str, ...]:
        """Return the sides of a comparison of which something in its unit is printed that ours is not near."""
        rows = self.rows.get(Group(TEXT, "paper"), RunRows())
        unit = known_metric(self.design.metric(claim_id)).unit
        compared = {point for one in self.design.comparisons(claim_id) for _, point in one.terms}
        return tuple(
            f"{point_name(point)} ({statement.claim_id})"
            for statement in self._printed_levels
            for point in statement.points
            if point in compared
            and known_metric(statement.metric).unit == unit
            and statement.is_off(rows, seeds, BASELINE_RELATIVE)
        )

    @cached_property
    def _printed_levels(self) -> Sequence[Statement]:
        """Return the claims that print the value of one point."""
        statements = [Statement(self.design, name) for name, one in self.design.claims.items() if one.is_simulated]
        return [one for one in statements if one.is_printed_level]

    def words(self, claim_id: str) -> dict[str, str]:
        """Return the verdicts of a claim in all settings that count for it, at the sampled points.

        A verdict other than the text's is open unless the runs prove that the setting changes what is compared: two
        samples near the edge of a claim may have two verdicts by chance, or since one of them is larger. Signs are
        those of the reduced scale, and open unless the text has its verdict there too.
        """
        base = self.judged(claim_id, TEXT, sampled=True).decision.word
        others = self.settings_of[claim_id][1:] if self._is_same_at_both_scales(claim_id, base) else ()
        verdicts = {setting: self._verdict_in(claim_id, setting, base) for setting in others}
        return dict.fromkeys(self.settings_of[claim_id], OPEN) | {TEXT: base} | verdicts

    def _is_same_at_both_scales(self, claim_id: str, base: str) -> bool:
        """Return whether the text's runs at the reduced scale have a verdict, if signs are taken from there."""
        reduced = self.of_runs(claim_id, TEXT, "reduced", sampled=True)
        if not (self.design.has_reduced and reduced.statement.has_signs_only):
            return True
        return judged(reduced, self.numbers(), level=self.level).decision.word == base

    def _verdict_in(self, claim_id: str, setting: str, base: str) -> str:
        standing = self.judged(claim_id, setting, sampled=True)
        if standing.decision.word in (OPEN, base):
            return standing.decision.word
        scale = self.design.scale(sampled=True)
        before, after = (self.of_runs(claim_id, one, scale, sampled=True) for one in (TEXT, setting))
        seeds = seeds_there(before, [one for one in self.numbers(setting) if one <= standing.seeds])
        return standing.decision.word if seeds and is_changed(before, after, seeds, level=self.level) else OPEN

    @cached_property
    def settings_of(self) -> Mapping[str, Sequence[str]]:
        """Return the settings that count for each claim: those whose runs, as it compares them, no earlier one has.

        Equal runs agree, which says nothing. Runs of the first interim analysis are the same if they measured the same,
        by their digests; before they are made, if their tasks are equal. Only the text's count where no other can be
        carried over.
        """
        return {
            claim: tuple(self._first_with(claim).values()) if self._can_be_compared(claim) else (TEXT,)
            for claim in self.simulated
        }

    def _can_be_compared(self, claim_id: str) -> bool:
        return not self.design.has_reduced or can_be_carried_over(Statement(self.design, claim_id, sampled=True))

    @property
    def simulated(self) -> Sequence[str]:
        """Return the claims that runs decide."""
        names = [name for name, claim in self.design.claims.items() if claim.is_simulated]
        return [name for name in names if name in self.only] or names

    def _first_with(self, claim_id: str) -> dict[Any, str]:
        """Return the first setting of those that have the same runs for a claim, by what they have."""
        first: dict[Any, str] = {}
        for setting in self.design.settings:
            first.setdefault(self._compared(claim_id, setting), setting)
        return first

    def _compared(self, claim_id: str, setting: str) -> Any:
        """Return what a claim compares in a setting, with the runs of the first interim analysis in place of points."""
        tasks = self.tasks[Group(setting, self.design.scale(sampled=True))]
        seeds = range(1, self.numbers(setting)[0] + 1)
        return self.design.metric(claim_id, setting), tuple(
            (one.series, one.added, weight, *(self.outcome(tasks[point, seed].id) for seed in seeds))
            for one in self.design.comparisons(claim_id, sampled=True)
            for weight, point in one.terms
        )

    def robustness(self, claim_id: str) -> Robustness:
        """Return in which settings the verdict on a claim holds, and what turns it."""
        return robustness(self.words(claim_id), self.design.settings)

    def next_tasks(self, shard: tuple[int, int] = (1, 1)) -> list[Task]:
        """Return the missing runs of the most urgent interim analyses, one analysis and one seed after the other.

        Parameters
        ----------
        shard : (int, int)
            Only share i of n of each interim analysis, whether its runs are there or not; from 1.
        """
        part, parts = shard
        shared = [
            task for analysis in self.next_looks for task in list(self._runs_of(analysis).values())[part - 1 :: parts]
        ]
        return list({task.id: task for task in shared if task.id not in self.cpu_s}.values())

    def next_costs_s(self) -> dict[str, float]:
        """Return about the processor time of each missing run of the next interim analyses, in seconds, by its id."""
        return {
            task.id: self.cost_s(analysis.group, point)
            for analysis in self.next_looks
            for (point, _), task in self._runs_of(analysis).items()
            if task.id not in self.cpu_s
        }

    def most_costs_s(self) -> list[float]:
        """Return about the processor time of each run that is missing if all claims take their last seeds, in seconds.

        Those that are decided take no more; those that fail take the second set of seeds, once they do.
        """
        looks_of: dict[str, Look] = {}
        for analysis in self._wanted(last=True):
            for point in analysis.points:
                first = self.tasks[analysis.group][point, analysis.group.offset + 1].id
                looks_of.setdefault(first, replace(analysis, points=(point,)))
        return [
            self.cost_s(analysis.group, point)
            for analysis in looks_of.values()
            for point, many in self.lacking(analysis.group, analysis.seeds, analysis.points).items()
            for _ in range(many)
        ]

    @cached_property
    def next_looks(self) -> Sequence[Look]:
        """Return the next interim analyses: of those with missing runs the most urgent ones, in different settings."""
        by_urgency = attrgetter("urgency")
        for _, equal in groupby(sorted(self._wanted(), key=by_urgency), key=by_urgency):
            if missing := [analysis for analysis in equal if self._missing(analysis)]:
                return missing
        return []

    def name_of(self, task: Task) -> str:
        """Return what people call a run: the values of its axes, setting and seed."""
        names = (
            f"{point_name(point)}, {group.setting}, seed {seed}"
            for group, tasks in self.tasks.items()
            for (point, seed), one in tasks.of_seeds({task.payload["seed"]})
            if one.id == task.id
        )
        return next(names)

    def next_cost_s(self) -> float:
        """Return about the processor time of the next interim analyses for each claim that waits for them, in seconds.

        Each counts `Look.weight` times. Infinite if no interim analysis is left.
        """
        costs_s = [
            self.price_s(analysis.group, analysis.seeds, analysis.points) * analysis.weight
            for analysis in self.next_looks
        ]
        return sum(costs_s) / sum(analysis.claims for analysis in self.next_looks) if costs_s else np.inf

    def _runs_of(self, analysis: Look) -> dict[tuple[Point, int], Task]:
        """Return all runs of an interim analysis by point and seed, a seed after the other; of equal ones the first."""
        runs = self.tasks[analysis.group]
        run_of: dict[str, tuple[Point, int]] = {}
        seeds = (analysis.group.offset + number for number in range(1, analysis.seeds + 1))
        for key in ((point, seed) for seed in seeds for point in analysis.points):
            run_of.setdefault(runs[key].id, key)
        return {key: runs[key] for key in run_of.values()}

    def _missing(self, analysis: Look) -> int:
        return sum(task.id not in self.cpu_s for task in self._runs_of(analysis).values())

    def _wanted(self, *, last: bool = False) -> Iterator[Look]:
        """Yield the next interim analysis of open claims by setting, and of those that fail once by the second seeds.

        The text is judged at the sampled points too, as the base of the comparison with others. With `last` it is the
        last interim analysis of each.
        """
        claims, settings = self.simulated, list(self.design.settings)
        counting = [(claim, one) for one in settings for claim in claims if one in self.settings_of[claim]]
        yield from self._analyses([(claim, TEXT) for claim in claims], sampled=False, last=last)
        if len(settings) > 1:
            yield from self._analyses(counting, sampled=True, last=last)
        once = [(claim, TEXT) for claim in claims if self.judged(claim, TEXT, sampled=False).decision.word == FAILS]
        yield from self._analyses(once, sampled=False, last=last, offset=second_family(self.design))

    def _analyses(
        self, judgements: Iterable[tuple[str, str]], *, sampled: bool, last: bool, offset: int = 0
    ) -> Iterator[Look]:
        """Yield the next interim analyses of claims in settings, as far as they are open, by one set of seeds."""
        scale = self.design.scale(sampled=sampled)
        by_analysis: dict[tuple[Group, int], list[list[Point]]] = {}
        for claim_id, setting in judgements:
            if seeds := self.judged(claim_id, setting, sampled=sampled, offset=offset).next_seeds:
                seeds = self.numbers(setting)[-1] if last else seeds
                for one in (TEXT, setting) if scale == "reduced" else (setting,):  # a change needs both
                    needed = self.of_runs(claim_id, one, scale, sampled=sampled).statement.points
                    by_analysis.setdefault((Group(one, scale, offset), seeds), []).append(needed)
        for (group, seeds), listed in by_analysis.items():
            weight = SAMPLED_WEIGHT if sampled else 1
            points = tuple(dict.fromkeys(point for one in listed for point in one))
            yield Look(weight, group, seeds, points, len(listed))


def advance(
    designs: Sequence[Design],
    folder: Path,
    *,
    claims: Collection[str] = (),
    budget_s: float = np.inf,
    shard: tuple[int, int] = (1, 1),
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> int:
    """Run what the claims of studies need next, until all are decided, at their limits, or the time is over.

    Of the next interim analyses of all studies, those that take the least processor time for each open claim come
    first, so that a budget decides as many as it can. Those of one study in several settings are one sweep.

    Parameters
    ----------
    designs : sequence of Design
        What is run.
    folder : Path
        Where runs are kept; those already there are not run again.
    claims : collection of str
        Claims that are analysed alone; all of a study none of whose claims is among them.
    budget_s : float
        Time after which no further run is begun, in seconds.
    shard : (int, int)
        Share i of n of each interim analysis's runs, from 1. What the other shares find is not there, so a share ends
        with the interim analyses that the folder asks for when it begins.
    executor, progress
        As in :func:`capsmodel.experiments.sweep.run_sweep`; label and names of runs are those of the study.

    Returns
    -------
    int
        Runs made.

    Raises
    ------
    ParameterError
        If `budget_s` is negative or NaN.
    """
    end_s, made, bar = end_of(budget_s), 0, progress or Progress()
    minutes = bar.minutes or Minutes()
    campaigns = [Campaign(design, folder, only=frozenset(claims)) for design in designs]
    ended: set[int] = set()
    while (left_s := end_s - time.monotonic()) > 0 and (open_ := _cheapest(campaigns, ended)):
        number, campaign = open_
        shown = replace(bar, label=campaign.design.name, named=campaign.name_of, minutes=minutes)
        tasks = campaign.next_tasks(shard)
        made += run_sweep(tasks, folder, executor=executor, progress=shown, budget_s=left_s).ran
        campaigns[number] = replace(campaign, earlier=campaign.measured)
        ended |= {number} if shard != (1, 1) else set()
    return made


def _cheapest(campaigns: Sequence[Campaign], ended: Container[int]) -> tuple[int, Campaign] | None:
    """Return the campaign whose next interim analyses cost least a claim, and its number; None if none is left."""
    costs_s = {number: one.next_cost_s() for number, one in enumerate(campaigns) if number not in ended}
    number = min(costs_s, key=lambda one: costs_s[one], default=None)
    return None if number is None or np.isinf(costs_s[number]) else (number, campaigns[number])
