"""The runs of a study that are in a folder: what they measured, what they took, and about what others will take.

Runs are tasks of a sweep (:mod:`capsmodel.experiments.sweep`). Those of a study are all that its claims can ask for, up
to the limits of seeds, in groups: of a setting, of the paper's scale or of the reduced one, and of a set of seeds.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pandas import DataFrame, concat

from capsim.study.claims.design import Design
from capsim.study.claims.looks import numbers_of
from capsim.study.claims.samples import RunRows, compared_columns
from capsim.study.measures import TaskList
from capsim.study.points import Point, Scale
from capsmodel.experiments.kept import DIGEST, check_columns, keep, with_digests
from capsmodel.experiments.manifest import table_id
from capsmodel.experiments.results import TASK_COLUMN, finished_tasks, merge
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.sweep import Task

__all__ = [
    "MOST_SEEDS_OF_OTHERS",
    "SECOND_FAMILY",
    "Group",
    "KeptRuns",
    "all_tasks",
    "numbers_of_setting",
    "second_family",
]

MOST_SEEDS_OF_OTHERS = 16
"""Limit of the seeds in each setting but the text's."""
SECOND_FAMILY = 1000
"""What is added to 1, 2, ... to give the seeds by which what fails is checked, where the first set has no more."""


class Group(NamedTuple):
    """Runs that are analysed together.

    Attributes
    ----------
    setting : str
        Its name.
    scale : str
        That of the paper, or the reduced one.
    offset : int
        What is added to 1, 2, ... to give their seeds: 0, or :func:`second_family`.
    """

    setting: str
    scale: Scale
    offset: int = 0


@dataclass(frozen=True)
class KeptRuns:
    """What is in a folder of the runs of a study.

    Attributes
    ----------
    design : Design
        The study.
    folder : Path
        Where the runs are; it may be missing.
    tasks : mapping
        All runs of the study by group, which do not change while runs are added.
    earlier : DataFrame
        What was `measured` when the folder had fewer runs: these are not merged again.
    """

    design: Design
    folder: Path
    tasks: Mapping[Group, TaskList[Point]] = field(default_factory=dict)
    earlier: DataFrame = field(default_factory=DataFrame, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", self.tasks or all_tasks(self.design))

    @cached_property
    def _records(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the record of each task that is there, by its id."""
        return finished_tasks(self.folder) if self.folder.is_dir() else {}

    @cached_property
    def cpu_s(self) -> Mapping[str, float]:
        """Return the processor time of each run that is there, in seconds, by the id of its task."""
        return {name: float(record["cpu_s"]) for name, record in self._records.items()}

    @cached_property
    def there(self) -> Sequence[tuple[Group, Point, Task]]:
        """Return the runs of this study that are there; tasks of seeds that nothing has are not made."""
        seeds = {
            record["seed"] if "seed" in record else record["payload"].get("seed") for record in self._records.values()
        }
        return [
            (group, point, task)
            for group, tasks in self.tasks.items()
            for (point, _), task in tasks.of_seeds(seeds)
            if task.id in self.cpu_s
        ]

    @cached_property
    def ids(self) -> Set[str]:
        """Return the ids of the runs of this study that are there."""
        return {task.id for _, _, task in self.there}

    @cached_property
    def measured(self) -> DataFrame:
        """Return what the claims compare of each run that is there, by the id of its task."""
        new = sorted(self.ids - {*self.earlier.index})
        if not new:
            return self.earlier
        columns = compared_columns(self.design)
        check_columns(self.folder, new, columns)
        read = with_digests(merge([self.folder], task_ids=new))
        kept = [name for name in (TASK_COLUMN, DIGEST, *columns) if name in read]
        rows = read[kept].set_index(TASK_COLUMN)
        return rows if self.earlier.empty else concat([self.earlier, rows]).sort_index()

    @cached_property
    def frame(self) -> DataFrame:
        """Return a row for each run that is there: setting, scale, axes, seed, and what was measured."""
        keys: list[dict[str, Any]] = [
            {"setting": group.setting, "scale": group.scale}
            | dict(point)
            | {"seed": task.payload["seed"], TASK_COLUMN: task.id}
            for group, point, task in self.there
        ]
        return DataFrame(keys).join(self.measured, on=TASK_COLUMN) if keys else DataFrame()

    @cached_property
    def result_id(self) -> str:
        """Return the hash of the runs that are there."""
        return table_id(self.frame)

    def keep(self, folder: Path) -> None:
        """Write the rows that are there to a folder, in which they give the same verdicts, those that it lacks.

        What places a run in the study has the name of the study in its column, since several may share the run.
        """
        if not self.frame.empty:
            measured = {TASK_COLUMN, "seed", *self.measured}
            places = {name: f"{self.design.name}.{name}" for name in self.frame if name not in measured}
            columns = compared_columns(self.design)
            keep(self.frame.rename(columns=places), self._records, folder, name=self.design.name, columns=columns)

    @cached_property
    def rows(self) -> Mapping[Group, RunRows]:
        """Return the rows that are there by group, with the seeds of each family counted from 1."""
        points: dict[Group, list[Point]] = {}
        keys: dict[Group, list[dict[str, Any]]] = {}
        for group, point, task in self.there:
            points.setdefault(group, []).append(point)
            keys.setdefault(group, []).append({"seed": task.payload["seed"] - group.offset, TASK_COLUMN: task.id})
        return {
            group: RunRows(points[group], DataFrame(listed).join(self.measured, on=TASK_COLUMN))
            for group, listed in keys.items()
        }

    def outcome(self, task_id: str) -> str:
        """Return the digest of all that a run has measured, and of one that is not there the id of its task."""
        return self._outcomes.get(task_id, task_id)

    @cached_property
    def _outcomes(self) -> Mapping[str, str]:
        """Return the digest of all that each run has measured, by the id of its task."""
        return {} if self.measured.empty else dict(self.measured[DIGEST])

    def price_s(self, group: Group, seeds: int, points: Iterable[Point]) -> float:
        """Return about the processor time of the runs that so many seeds of a group lack at points, in seconds."""
        return sum(many * self.cost_s(group, point) for point, many in self.lacking(group, seeds, points).items())

    def lacking(self, group: Group, seeds: int, points: Iterable[Point]) -> dict[Point, int]:
        """Return how many of so many seeds of a group points lack, those that lack some."""
        there = self._seeds_of.get(group, {})
        lacking = ((point, seeds - sum(one <= seeds for one in there.get(point, ()))) for point in points)
        return {point: many for point, many in lacking if many > 0}

    def cost_s(self, group: Group, point: Point) -> float:
        """Return about the processor time of a run, in seconds.

        That of those at the same point and scale in its setting, or in another one times what is expected of it over
        what is expected of that one; before the first of these, what is expected of it, times what others of this scale
        took over what had been expected of them.
        """
        known, expected = self._costs_s.get((group.scale, point), {}), self.design.expected_cpu_s
        if group.setting in known:
            return known[group.setting]
        expected_s = expected(point, group.setting, group.scale)
        if not known:
            return expected_s * self._over_expected.get(group.scale, 1.0)
        other, cost_s = next(iter(known.items()))
        return cost_s * expected_s / expected(point, other, group.scale)

    @cached_property
    def _over_expected(self) -> Mapping[Scale, float]:
        """Return what the runs of each scale that are there took over what was expected of them."""
        pairs: dict[Scale, list[tuple[float, float]]] = {}
        for (scale, point), costs_s in self._costs_s.items():
            setting, cost_s = next(iter(costs_s.items()))
            pairs.setdefault(scale, []).append((cost_s, self.design.expected_cpu_s(point, setting, scale)))
        return {scale: sum(one for one, _ in both) / sum(one for _, one in both) for scale, both in pairs.items()}

    @cached_property
    def _costs_s(self) -> Mapping[tuple[Scale, Point], Mapping[str, float]]:
        """Return the mean processor time of runs by scale, point and setting, the text first, in seconds."""
        costs: dict[tuple[Scale, Point], dict[str, list[float]]] = {}
        for group, point, task in sorted(self.there, key=lambda one: one[0].setting != TEXT):
            costs.setdefault((group.scale, point), {}).setdefault(group.setting, []).append(self.cpu_s[task.id])
        return {at: {one: sum(times) / len(times) for one, times in each.items()} for at, each in costs.items()}

    @cached_property
    def _seeds_of(self) -> Mapping[Group, Mapping[Point, list[int]]]:
        """Return the seeds that are there at each point of a group, counted from 1 in each family."""
        seeds_of: dict[Group, dict[Point, list[int]]] = {}
        for group, point, task in self.there:
            seeds_of.setdefault(group, {}).setdefault(point, []).append(task.payload["seed"] - group.offset)
        return seeds_of


def all_tasks(design: Design) -> dict[Group, TaskList[Point]]:
    """Return all runs of a study up to the limits of seeds, by group.

    The text's runs at all points include those at the sampled ones, unless these have a scale of their own.
    """
    text = Group(TEXT, design.scale(sampled=False))
    others = {Group(setting, design.scale(sampled=True)): True for setting in design.settings}
    tasks = {}
    for group, sampled in (others | {text: False, text._replace(offset=second_family(design)): False}).items():
        points = design.points(group.setting, sampled=sampled)
        numbers = range(group.offset + 1, group.offset + numbers_of_setting(design, group.setting)[-1] + 1)
        tasks[group] = design.tasks(points, numbers, setting=group.setting, scale=group.scale)
    return tasks


def second_family(design: Design) -> int:
    """Return what is added to 1, 2, ... to give the second set of seeds: no seed is in both."""
    return max(SECOND_FAMILY, numbers_of_setting(design, TEXT)[-1])


def numbers_of_setting(design: Design, setting: str) -> tuple[int, ...]:
    """Return the seeds of the interim analyses in a setting."""
    numbers = numbers_of(design.source.file.seeds)
    return (
        numbers
        if setting == TEXT
        else tuple(seeds for seeds in numbers if seeds <= MOST_SEEDS_OF_OTHERS) or numbers[:1]
    )
