"""The campaign of an experiment: its runs and the next ones, by look, in the setting of the text and in the others.

Runs are tasks of a sweep in one folder (:mod:`capsmodel.experiments.sweep`), so a campaign may be stopped at any
moment, goes on when it is started again, and may be shared by several processes. Which runs come next, and every
verdict, follow from the runs that are there: nothing else is remembered.

A claim in one setting is looked at when 4, 8, 16, ... seeds of everything that it compares are there, and decided at
the first look that gives a word. Claims that are decided ask for no more seeds. Settings other than the text's are
tried at the sampled places of the experiment, at its reduced scale if it has one; then so is the text's, and what
changes between the two is carried over to the paper's scale (:mod:`capsmodel.papers.judging`). A setting counts for a
claim only if it changes the runs that the claim compares. :mod:`capsmodel.papers.runs` has the limits.

A claim that these seeds refute in the setting of the text is looked at once more, by the seeds of a second family, with
the same looks and the same limit. It stays open until they have refuted it too.
"""

import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pandas import DataFrame, concat

from capsim.study.measures import TaskList
from capsmodel.experiments.manifest import table_id
from capsmodel.experiments.results import TASK_COLUMN, finished_tasks, keep_part, merge
from capsmodel.experiments.statistics.robustness import TEXT, Robustness, robustness
from capsmodel.experiments.statistics.sequential import looks
from capsmodel.experiments.sweep import Executor, Progress, Task, end_of, run_sweep
from capsmodel.experiments.words import VerdictWord
from capsmodel.papers.experiments import PublishedExperiment, Scale
from capsmodel.papers.index import read_claims
from capsmodel.papers.judging import (
    CarriedOver,
    Judged,
    OfRuns,
    can_be_carried_over,
    checked_again,
    is_changed,
    judged,
    verdict_of,
)
from capsmodel.papers.runs import (
    SECOND_FAMILY,
    Group,
    Look,
    all_tasks,
    check_columns,
    compared_columns,
    counting_settings,
    kept_rows,
    most_seeds_of,
    not_kept,
)
from capsmodel.papers.statements import Runs, Term
from capsmodel.papers.verdicts import Verdict

__all__ = ["Campaign", "advance"]

UNKNOWN_COST_S = 10.0
"""What a run is taken to cost before one of its experiment has been made, in seconds of processor time."""
SAMPLED_WEIGHT = 4
"""A look at the sampled places comes after those at all places that have less than so many times its seeds."""
_OPEN: VerdictWord = "open"


@dataclass(frozen=True)
class Campaign:
    """What the runs in a folder say about an experiment.

    Attributes
    ----------
    experiment : PublishedExperiment
        What is run.
    folder : Path
        Where the runs are; it may be missing.
    tasks : mapping
        What :func:`~capsmodel.papers.runs.all_tasks` returns, which does not change while runs are added.
    rows : DataFrame
        Rows of finished tasks that were read before, as `measured` has them.
    """

    experiment: PublishedExperiment
    folder: Path
    tasks: Mapping[Group, TaskList[Term]] = field(default_factory=dict)
    rows: DataFrame = field(default_factory=DataFrame)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", self.tasks or all_tasks(self.experiment))

    @cached_property
    def _records(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the record of each task that is there, by its id."""
        return finished_tasks(self.folder) if self.folder.is_dir() else {}

    @cached_property
    def cpu_s(self) -> Mapping[str, float]:
        """Return the processor time of each run that is there, in seconds, by the id of its task."""
        return {name: float(record["cpu_s"]) for name, record in self._records.items()}

    @cached_property
    def there(self) -> Sequence[tuple[Group, Term, Task]]:
        """Return the runs of this experiment that are there; tasks of seeds that nothing has are not made."""
        seeds = {record["payload"].get("seed") for record in self._records.values()}
        return [
            (group, term, task)
            for group, tasks in self.tasks.items()
            for (term, _), task in tasks.of_seeds(seeds)
            if task.id in self.cpu_s
        ]

    @cached_property
    def ids(self) -> Set[str]:
        """Return the ids of the runs of this experiment that are there."""
        return {task.id for _, _, task in self.there}

    @cached_property
    def frame(self) -> DataFrame:
        """Return a row for each run that is there: setting, scale, scheme, place, seed, and what was measured."""
        keys: list[dict[str, Any]] = [
            {"setting": setting, "scale": scale}
            | {"scheme": scheme, "place": place, "seed": task.payload["seed"], "task_id": task.id}
            for (setting, scale, _), (scheme, place), task in self.there
        ]
        if not keys:
            return DataFrame()
        measured = self.measured.drop(columns=["scheme", "seed"], errors="ignore")
        return DataFrame(keys).merge(measured, on="task_id", validate="many_to_one")

    @cached_property
    def result_id(self) -> str:
        """Return the hash of the runs that are there, which entries of the ledger have."""
        return table_id(self.frame)

    @cached_property
    def measured(self) -> DataFrame:
        """Return the rows of the tasks that are there: what the claims compare."""
        new = sorted(self.ids - set([] if self.rows.empty else self.rows["task_id"]))
        if not new:
            return self.rows
        columns = compared_columns(self.experiment)
        check_columns(self.folder, new, columns)
        read = kept_rows(merge([self.folder], task_ids=new), columns)
        return read if self.rows.empty else concat([self.rows, read], ignore_index=True)

    def keep(self, folder: Path, others: Iterable[PublishedExperiment] = ()) -> None:
        """Write the rows that are there to a folder, in which they give the same verdicts, also on claims of `others`.

        Those that no file there has go to a new one, the first free of ``NAME.parquet``, ``NAME.2.parquet``, ...
        """
        ids = not_kept(folder, self.frame[TASK_COLUMN].unique(), compared_columns(self.experiment))
        if not ids:
            return
        columns = sorted({name for one in (self.experiment, *others) for name in compared_columns(one)})
        table = pa.Table.from_pandas(kept_rows(merge([self.folder], task_ids=ids), columns), preserve_index=False)
        keep_part(table, self._free(folder), tasks=[dict(self._records[task]) for task in ids])

    def _free(self, folder: Path) -> Path:
        """Return the first file that is not there of those that the rows of the experiment may have."""
        numbered = (f"{self.experiment.name}.{number}" for number in count(2))
        files = (folder / f"{name}.parquet" for name in chain([self.experiment.name], numbered))
        return next(file for file in files if not file.exists())

    @cached_property
    def _runs(self) -> Mapping[Group, Runs]:
        if self.frame.empty:
            return {group: Runs(self.frame) for group in self.tasks}
        offset = SECOND_FAMILY * (self.frame["seed"] > SECOND_FAMILY)
        frame = self.frame.assign(seed=self.frame["seed"] - offset, offset=offset)
        groups = dict(list(frame.groupby(["setting", "scale", "offset"])))
        return {group: Runs(groups.get(group, DataFrame())) for group in self.tasks}

    def judged(self, claim_id: str, setting: str, *, sampled: bool, offset: int = 0) -> Judged:
        """Return where a claim stands in a setting: at all places, or at the sampled ones, where settings are compared.

        With the `offset` `SECOND_FAMILY`, by the seeds of that family, which are run in the setting of the text only.
        What is carried over to the paper's scale has as many seeds at most as the text has there.
        """
        claim, most_seeds = read_claims()[claim_id], most_seeds_of(setting)
        if not (sampled and self.experiment.reduced):
            found = self._of_runs(claim_id, setting, "paper", sampled=sampled, offset=offset)
            return judged(claim, found, most_seeds=most_seeds)
        text = self._of_runs(claim_id, TEXT, "paper", sampled=True)
        evidence = text if setting == TEXT else self._carried_over(text, claim_id, setting)
        return judged(claim, evidence, most_seeds=_seeds_there(text, most_seeds))

    def _of_runs(self, claim_id: str, setting: str, scale: Scale, *, sampled: bool, offset: int = 0) -> OfRuns:
        statement = self.experiment.statement(claim_id, setting, sampled=sampled)
        return OfRuns(statement, self._runs.get(Group(setting, scale, offset), Runs(DataFrame())))

    def _carried_over(self, text: OfRuns, claim_id: str, setting: str) -> CarriedOver:
        before, after = (self._of_runs(claim_id, one, "reduced", sampled=True) for one in (TEXT, setting))
        return CarriedOver(text, before, after)

    def verdict(self, claim_id: str) -> Verdict:
        """Return the verdict on a claim in the setting of the text: refuted only if both families of seeds say so."""
        claim, statement = read_claims()[claim_id], self.experiment.statement(claim_id, TEXT, sampled=False)
        found = self.judged(claim_id, TEXT, sampled=False)
        verdict = verdict_of(claim, statement, found, testbed=self.experiment.is_testbed)
        if verdict.verdict != "refuted":
            return verdict
        return checked_again(verdict, found, self.judged(claim_id, TEXT, sampled=False, offset=SECOND_FAMILY))

    def words(self, claim_id: str) -> dict[str, VerdictWord]:
        """Return the words of a claim in all settings that count for it, at the sampled places.

        A word other than the text's is open unless the runs prove that the setting changes what is compared: two
        samples near the edge of a claim may have two words by chance, or since one of them is larger. Signs are those
        of the reduced scale, and open unless the text has its word there too.
        """
        base = self.judged(claim_id, TEXT, sampled=True).decision.word
        others = self.settings_of[claim_id][1:] if self._is_same_at_both_scales(claim_id, base) else ()
        words = {setting: self._word(claim_id, setting, base) for setting in others}
        return dict.fromkeys(self.settings_of[claim_id], _OPEN) | {TEXT: base} | words

    def _is_same_at_both_scales(self, claim_id: str, base: VerdictWord) -> bool:
        """Return whether the text's runs at the reduced scale have a word, if signs are taken from there."""
        claim, reduced = read_claims()[claim_id], self._of_runs(claim_id, TEXT, "reduced", sampled=True)
        if self.experiment.reduced is None or not reduced.statement.has_signs_only(claim):
            return True
        return judged(claim, reduced, most_seeds=most_seeds_of(TEXT)).decision.word == base

    def _word(self, claim_id: str, setting: str, base: VerdictWord) -> VerdictWord:
        found = self.judged(claim_id, setting, sampled=True)
        if found.decision.word in ("open", base):
            return found.decision.word
        scale = self.experiment.scale(sampled=True)
        before, after = (self._of_runs(claim_id, one, scale, sampled=True) for one in (TEXT, setting))
        seeds = _seeds_there(before, found.seeds)
        proven = seeds and is_changed(read_claims()[claim_id], before, after, seeds)
        return found.decision.word if proven else "open"

    @cached_property
    def settings_of(self) -> Mapping[str, Sequence[str]]:
        """Return the settings that count for each claim; only the text's where no other can be carried over."""
        found = counting_settings(self.experiment, self.tasks, self.measured)
        return {claim: settings if self._can_be_compared(claim) else (TEXT,) for claim, settings in found.items()}

    def _can_be_compared(self, claim_id: str) -> bool:
        statement = self.experiment.statement(claim_id, TEXT, sampled=True)
        return self.experiment.reduced is None or can_be_carried_over(statement, read_claims()[claim_id])

    def robustness(self, claim_id: str) -> Robustness:
        """Return in which settings the verdict on a claim holds, and what turns it."""
        return robustness(self.words(claim_id), self.experiment.combinations)

    def next_tasks(self, shard: tuple[int, int] = (1, 1)) -> list[Task]:
        """Return the runs of the most urgent looks that are missing, look by look, a seed after the other.

        Parameters
        ----------
        shard : (int, int)
            Only share i of n of each look, whether its runs are there or not; from 1.
        """
        part, parts = shard
        shared = [task for look in self.next_looks for task in self._runs_of(look)[part - 1 :: parts]]
        return list({task.id: task for task in shared if task.id not in self.cpu_s}.values())

    @cached_property
    def next_looks(self) -> Sequence[Look]:
        """Return the looks that come next: of those with missing runs the most urgent ones, in different settings."""
        by_urgency = attrgetter("urgency")
        for _, equal in groupby(sorted(self._wanted(), key=by_urgency), key=by_urgency):
            if missing := [look for look in equal if self._missing(look)]:
                return missing
        return []

    def name_of(self, task: Task) -> str:
        """Return what people call a run: scheme, place, setting and seed."""
        names = (
            f"{scheme}, {place}, {setting}, seed {seed}"
            for (setting, *_), tasks in self.tasks.items()
            for ((scheme, place), seed), one in tasks.of_seeds({task.payload["seed"]})
            if one.id == task.id
        )
        return next(names)

    def next_cost_s(self) -> float:
        """Return about how much processor time the next looks take for each claim that waits for them, in seconds.

        A run is taken to cost what those of this experiment at the same scale did, `UNKNOWN_COST_S` before the first.
        Each counts `Look.weight` times. Infinite if no look is left.
        """
        costs_s = [self._missing(look) * self._mean_s(look.group.scale) * look.weight for look in self.next_looks]
        return sum(costs_s) / sum(look.claims for look in self.next_looks) if costs_s else np.inf

    def _mean_s(self, scale: Scale) -> float:
        known = [self.cpu_s[task.id] for group, _, task in self.there if group.scale == scale]
        return sum(known) / len(known) if known else UNKNOWN_COST_S

    def _runs_of(self, look: Look) -> list[Task]:
        """Return all runs of a look, a seed after the other."""
        runs = self.tasks[look.group]
        seeds = (look.group.offset + number for number in range(1, look.seeds + 1))
        listed = [runs[term, seed] for seed in seeds for term in sorted(look.terms)]
        return list({task.id: task for task in listed}.values())

    def _missing(self, look: Look) -> int:
        return sum(task.id not in self.cpu_s for task in self._runs_of(look))

    def _wanted(self) -> Iterator[Look]:
        """Yield the next look at open claims, in each setting, and of those refuted once by the second family.

        The text is judged at the sampled places too, as the base of the comparison with others.
        """
        claims, settings = list(self.experiment.statements), list(self.experiment.combinations)
        counting = [(claim, one) for one in settings for claim in claims if one in self.settings_of[claim]]
        yield from self._looks([(claim, TEXT) for claim in claims], sampled=False)
        yield from self._looks(counting, sampled=True)
        once = [(claim, TEXT) for claim in claims if self._is_refuted_once(claim)]
        yield from self._looks(once, sampled=False, offset=SECOND_FAMILY)

    def _is_refuted_once(self, claim_id: str) -> bool:
        return self.judged(claim_id, TEXT, sampled=False).decision.word == "refuted"

    def _looks(self, judgements: Iterable[tuple[str, str]], *, sampled: bool, offset: int = 0) -> Iterator[Look]:
        """Yield the next looks at claims in settings, as far as they are open, by one family of seeds."""
        scale = self.experiment.scale(sampled=sampled)
        by_look: dict[tuple[Group, int], list[set[Term]]] = {}
        for claim_id, setting in judgements:
            if seeds := self.judged(claim_id, setting, sampled=sampled, offset=offset).next_seeds:
                for one in (TEXT, setting) if scale == "reduced" else (setting,):  # a change needs both
                    statement = self.experiment.statement(claim_id, one, sampled=sampled).simulated
                    by_look.setdefault((Group(one, scale, offset), seeds), []).append(statement.terms)
        for (group, seeds), terms in by_look.items():
            weight = SAMPLED_WEIGHT if sampled else 1
            yield Look(weight, group, seeds, frozenset().union(*terms), len(terms))


def _seeds_there(found: OfRuns, most_seeds: int) -> int:
    """Return the seeds of the last look that the runs which are there allow, up to a limit; 0 if there is none."""
    return max((seeds for seeds in looks(most_seeds) if found.has(seeds)), default=0)


def advance(
    experiments: PublishedExperiment | Sequence[PublishedExperiment],
    folder: Path,
    *,
    budget_s: float = np.inf,
    shard: tuple[int, int] = (1, 1),
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> int:
    """Run what the claims of experiments need next, until all are decided, at their limits, or the time is over.

    Of the next looks of all experiments, those that take the least processor time for each open claim come first, so
    that a budget decides as many as it can. Those of one experiment in several settings are one sweep.

    Parameters
    ----------
    experiments : PublishedExperiment or sequence of them
        What is run.
    folder : Path
        Where runs are kept; those already there are not run again.
    budget_s : float
        Time after which no further run is begun, in seconds.
    shard : (int, int)
        Share i of n of each look's runs, from 1. What the other shares find is not there, so a share ends with the
        looks that the folder asks for when it begins.
    executor, progress
        As in :func:`capsmodel.experiments.sweep.run_sweep`; label and names of runs are those of the experiment.

    Returns
    -------
    int
        Runs made.

    Raises
    ------
    ParameterError
        If `budget_s` is negative or NaN.
    """
    end_s, made = end_of(budget_s), 0
    listed = [experiments] if isinstance(experiments, PublishedExperiment) else experiments
    campaigns = [Campaign(experiment, folder) for experiment in listed]
    ended: set[int] = set()
    while (left_s := end_s - time.monotonic()) > 0 and (open_ := _cheapest(campaigns, ended)):
        number, found = open_
        shown = replace(progress or Progress(), label=found.experiment.name, named=found.name_of)
        tasks = found.next_tasks(shard)
        made += run_sweep(tasks, folder, executor=executor, progress=shown, budget_s=left_s).ran
        campaigns[number] = Campaign(found.experiment, folder, found.tasks, found.measured)
        ended |= {number} if shard != (1, 1) else set()
    return made


def _cheapest(campaigns: Sequence[Campaign], ended: Container[int]) -> tuple[int, Campaign] | None:
    """Return the campaign whose next looks cost least for each claim, and its number; None if no look is left."""
    costs_s = {number: one.next_cost_s() for number, one in enumerate(campaigns) if number not in ended}
    number = min(costs_s, key=lambda one: costs_s[one], default=None)
    return None if number is None or np.isinf(costs_s[number]) else (number, campaigns[number])
