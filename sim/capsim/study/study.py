"""A study that is run: its rows in a folder, the verdicts on its claims, its table and its picture.

>>> study = Study(
...     scenario={
...         "fabric": {"kind": "dumbbell", "hosts_per_side": 2},
...         "traffic": [{"kind": "poisson", "workload": "websearch", "load": "{load}", "flows": 10, "pairs": "sides"}],
...     },
...     axes={"scheme": ["ecmp", "rps"], "load": [0.2, 0.6]},
...     engine="reference",
...     seeds=2,
... )
>>> print(study.describe())
study: 4 points, 8 runs
axes: scheme (ecmp, rps), load (0.2, 0.6)
"""

import math
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsim.fabric.collectives import Collective
from capsim.results.fct import Kind, counted_flows, fct_percentile_s
from capsim.results.load_record import load_remarks
from capsim.results.plots import plot_cdf
from capsim.results.result import Result
from capsim.scenario.profile import Filled, setting_remarks
from capsim.scenario.scenario import Scenario
from capsim.study.campaign import Campaign, Verdict, advance
from capsim.study.claims.design import Design
from capsim.study.claims.looks import numbers_of
from capsim.study.claims.samples import Statement
from capsim.study.file import Claim, Source, read_study
from capsim.study.kept_runs import Group
from capsim.study.metrics import METRICS, OF_COLLECTIVES
from capsim.study.plot import PLOTTED, PLOTTED_OF_ALL, DrawnStudy, draw, draw_side_by_side, metric_latex
from capsim.study.points import Point, Scale, point_name
from capsim.study.scheme_runs import (
    COMPILING,
    SHOWN_METRICS,
    Saved,
    check_names,
    distinct_times,
    metric_table,
    result_name,
    save_lacking,
)
from capsim.study.texts import check_percentile, claimed, mean_cells, mean_lines
from capsim.study.verdict_tables import setting_rows, verdict_cells, verdict_latex, verdict_rows
from capsmodel.checks import ParameterError, choice, require
from capsmodel.experiments.reprs import as_html
from capsmodel.experiments.results import TASK_COLUMN, finished_tasks, merge
from capsmodel.experiments.statistics.designs import each_value_once
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.sweep import Done, Executor, Progress, Task, all_cores, end_of, one_by_one, run_sweep
from capsmodel.plotting import saved

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Studied", "Study", "load_study"]

ROWS, RESULTS = "runs", "results"
"""Folders of a study: rows of runs, and whole results where they are kept."""
MOST_RUNS = 100_000


class Study:
    """Runs at the points of axes, and what is claimed about them; the keys of a file (:mod:`capsim.study.file`).

    Parameters
    ----------
    name : str
        What it is called.
    scenario : Scenario, str or dict
        What is run.
    **keys
        The other keys: ``axes``, ``seeds``, ``let``, ``panel``, ``claim``, ...

    Raises
    ------
    ParameterError
        If a key breaks its rule.
    """

    def __init__(self, *, name: str = "study", scenario: Scenario | str | Mapping[str, Any] = "", **keys: Any) -> None:
        described = scenario.to_dict() if isinstance(scenario, Scenario) else scenario
        tables = {**keys, **({"scenario": described} if described else {})}
        self._design = Design(Source.of_tables(tables, name=name))
        self._check()

    @classmethod
    def of(cls, design: Design) -> "Study":
        """Return the study of a design."""
        study = cls.__new__(cls)
        study._design = design
        study._check()
        return study

    def _check(self) -> None:
        """Refuse what cannot be run before anything is."""
        design = self._design
        require(bool(design.axes) or not design.source.file.scenario, f"{design.name}.toml: axes is missing: give one")
        for claim in self.claims:
            if self.claims[claim].is_simulated:
                statement = Statement(design, claim)
                _ = statement.metric, statement.relation, statement.comparisons
        for panel in design.source.file.panel:
            design.selected(panel.at, where=f"{design.name}.toml: panel.at")
        points = design.points()
        count = len(points) * self.most_seeds
        require(count <= MOST_RUNS, f"{design.name}.toml: {count} runs, but a study has at most {MOST_RUNS}")
        for point in each_value_once(points):
            design.arguments(point)
        for setting in design.settings:
            design.arguments(points[0], setting)
        rule = "claims are about the seeds 1, 2, ...: leave the seed of the scenario out"
        require(design.first_seed == 1 or not self._simulated, f"{design.name}: seed = {design.first_seed}, but {rule}")
        design.check_parameters(points)
        if design.source.file.scenario or design.source.file.measure:  # else what is missing is named at the first run
            design.check_names()
            design.check_values(points)

    @property
    def design(self) -> Design:
        """Return what it may run and what its claims compare."""
        return self._design

    @property
    def name(self) -> str:
        """Return what it is called: the name of its file, without ``.toml``."""
        return self._design.name

    @property
    def claims(self) -> Mapping[str, Claim]:
        """Return the claims by id."""
        return self._design.claims

    @property
    def most_seeds(self) -> int:
        """Return how many seeds a run has at most."""
        return numbers_of(self._design.source.file.seeds)[-1]

    def describe(self) -> str:
        """Return what it runs and claims, for people."""
        return "\n".join([*self._heads, *(f"{name}: {text}" for name, text in self._facts.items())])

    __repr__ = describe

    def _repr_html_(self) -> str:
        """Return the same, axes and claims as a table."""
        return as_html("; ".join(self._heads), [{"": name, self.name: text} for name, text in self._facts.items()])

    @property
    def _heads(self) -> list[str]:
        """Return how many runs it has, and its title."""
        file, points = self._design.source.file, self._design.points()
        several = "" if isinstance(file.seeds, int) else f", at most {self.most_seeds} seeds each"
        count = len(points) * numbers_of(file.seeds)[0]
        return [f"{self.name}: {len(points)} points, {count} runs{several}", *filter(None, [file.title])]

    @property
    def _facts(self) -> dict[str, str]:
        """Return its axes and what is left open, and its claims by id."""
        design = self._design
        axes = (f"{axis.name} ({', '.join(str(value) for value in axis.values)})" for axis in design.axes.values())
        left_open = {"left open": f"{', '.join(design.unstated)}; {len(design.settings)} settings"}
        claims = {name: claimed(claim) for name, claim in self.claims.items()}
        return {"axes": ", ".join(axes)} | (left_open if design.unstated else {}) | claims

    def tasks(self, *, results: Path | None = None) -> list[Task]:
        """Return the runs with a fixed number of seeds: of panels without a claim, or of all points without claims."""
        points = self._fixed_points
        check_names([dict(point) for point in points], results)
        seeds = self._design.seeds(numbers_of(self._design.source.file.seeds)[0])
        listed = self._design.tasks(points, seeds, results=results)
        return list({listed[point, seed].id: listed[point, seed] for seed in seeds for point in points}.values())

    @cached_property
    def _fixed_points(self) -> list[Point]:
        """Return the points whose runs do not wait for a verdict: all where the number of seeds is one."""
        adds_seeds = self._simulated and not isinstance(self._design.source.file.seeds, int)
        compared = set(self._design.points(claims=self._simulated)) if adds_seeds else set()
        return [point for point in self._design.points() if point not in compared]

    @property
    def _simulated(self) -> list[str]:
        return [name for name, claim in self.claims.items() if claim.is_simulated]

    def run(
        self,
        folder: str | Path,
        *,
        jobs: int = 1,
        executor: Executor | None = None,
        shard: tuple[int, int] = (1, 1),
        budget_s: float = math.inf,
        settings: bool = False,
        keep_results: bool = False,
        done: Done | None = None,
    ) -> "Studied":
        """Run what a folder lacks: all points, or what claims need until they are decided.

        Parameters
        ----------
        folder : path
            Where rows are kept, in its folder ``runs``. A study that was stopped goes on where it was, and several
            processes may share it.
        jobs : int
            Processes at the same time.
        executor : callable, optional
            What runs them in place of these (:func:`capsmodel.experiments.sweep.dask_cluster`).
        shard : (int, int)
            Share i of n of the runs, from 1.
        budget_s : float
            Time after which no further run is begun, in seconds.
        settings : bool
            Whether settings that are left open are tried too, at the points ``unstated_at``.
        keep_results : bool
            Whether the whole result of each run is saved in the folder ``results``; of runs with fixed seeds.
        done : callable, optional
            Called in place of a progress bar, with the tasks that have just ended.

        Returns
        -------
        Studied
            All runs that are there.

        Raises
        ------
        ParameterError
            If the share does not exist, or a run breaks a rule.
        """
        part, parts = shard
        require(1 <= part <= parts, f"shard {part}/{parts}, but it must be 1/{parts} to {parts}/{parts}")
        place, execute = Path(folder), executor or (one_by_one if jobs == 1 else all_cores(jobs))
        places = Places(place / ROWS, place / RESULTS if keep_results else None)
        return self.run_in(places, execute, shard=shard, budget_s=budget_s, settings=settings, done=done)

    def run_in(
        self,
        places: "Places",
        executor: Executor,
        *,
        shard: tuple[int, int] = (1, 1),
        budget_s: float = math.inf,
        settings: bool = False,
        done: Done | None = None,
    ) -> "Studied":
        """Run what two folders lack; parameters and errors as of :meth:`run`."""
        end_s = end_of(budget_s)
        places.rows.mkdir(parents=True, exist_ok=True)
        made, already = self._run_fixed(places, executor, shard, budget_s, done)
        if self._simulated:
            design = self._design if settings else replace(self._design, text_only=True)
            left_s = max(0.0, end_s - time.monotonic())
            shown = Progress(first=COMPILING)
            made += advance([design], places.rows, budget_s=left_s, shard=shard, executor=executor, progress=shown)
        return replace(self.results([places.rows]), ran=made, found=already, results=places.results)

    def _run_fixed(
        self, places: "Places", execute: Executor, shard: tuple[int, int], budget_s: float, done: Done | None
    ) -> tuple[int, int]:
        """Run what has a fixed number of seeds; return how many runs were made, and how many were there."""
        part, parts = shard
        tasks = self.tasks(results=places.results)[part - 1 :: parts]
        if not tasks:
            return 0, 0
        progress = Progress(label=self.name, first=COMPILING, named=self._named)
        report = run_sweep(tasks, places.rows, executor=execute, progress=progress, done=done, budget_s=budget_s)
        again = 0
        if places.results is not None:
            there = [task for task in tasks if task.id in finished_tasks(places.rows)]
            ids = dict(merge([places.rows], task_ids=[task.id for task in there])[[TASK_COLUMN, "id"]].to_numpy())
            wanted = [one for task in there for one in self._saved(task, places.results, ids[task.id])]
            again = save_lacking(wanted, executor=execute, progress=progress, done=done)
        return report.ran + again, report.found - again

    @cached_property
    def _by_id(self) -> Mapping[str, list[tuple[Point, int]]]:
        """Return point and seed of each run with a fixed number of seeds, all those of equal runs, by the task's id."""
        seeds = self._design.seeds(numbers_of(self._design.source.file.seeds)[0])
        keys_of: dict[str, list[tuple[Point, int]]] = {}
        for key, task in self._design.tasks(self._fixed_points, seeds).items():
            keys_of.setdefault(task.id, []).append(key)
        return keys_of

    def _named(self, task: Task) -> str:
        point, seed = self._by_id[task.id][0]
        return f"{point_name(point)}, seed {seed}"

    def _saved(self, task: Task, results: Path, run_id: str) -> list[Saved]:
        """Return where the result of a run is saved, under the name of each of its points."""
        keys = self._by_id[task.id]
        seeds = sorted({seed for _, seed in keys})
        listed = self._design.tasks([point for point, _ in keys], seeds, results=results)
        return [Saved(listed[key], results / result_name(dict(key[0]), key[1]), run_id) for key in keys]

    @property
    def trial(self) -> tuple[Sequence[Point], Scale]:
        """Return the points that a trial runs, and at which scale: all as ``quick`` says, else the first as it is."""
        points = self._design.points()
        return (points, "quick") if self._design.source.file.quick else (points[:1], "paper")

    def try_out(self, folder: str | Path, *, executor: Executor = one_by_one) -> int:
        """Run two seeds of each point of :attr:`trial`; return how many runs there are."""
        points, scale = self.trial
        listed = self._design.tasks(points, (1, 2), scale=scale)
        tasks = list({task.id: task for task in listed.values()}.values())
        run_sweep(tasks, Path(folder) / ROWS, executor=executor, progress=Progress(label=self.name, first=COMPILING))
        return len(tasks)

    def costs(self, folder: str | Path) -> dict[str, Any]:
        """Return how many runs are there, and how many are missing, with their processor time in seconds.

        ``missing_runs`` are those of the next interim analysis; ``most_runs`` all that may be missing, if every claim
        takes the last of its seeds, and one that fails those of the second set.
        """
        campaign = Campaign(self._design, Path(folder) / ROWS)
        made = [campaign.cpu_s[name] for name in campaign.ids]
        text = Group(TEXT, self._design.scale(sampled=False))
        fixed = {
            name: campaign.cost_s(text, keys[0][0]) for name, keys in self._by_id.items() if name not in campaign.cpu_s
        }
        missing, most = fixed | campaign.next_costs_s(), [*fixed.values(), *campaign.most_costs_s()]
        took = {"study": self.name, "runs": len(made), "cpu_s": sum(made)}
        took |= {"missing_runs": len(missing), "missing_cpu_s": sum(missing.values())}
        return took | {"most_runs": len(most), "most_cpu_s": sum(most)}

    def check(self, folder: str | Path) -> tuple[int, int]:
        """Return how many rows in a folder are of runs of this study, and how many of others."""
        place = Path(folder) / ROWS
        there = set(finished_tasks(place)) if place.is_dir() else set()
        ours = {task.id for task in self.tasks()}
        ours |= set(Campaign(self._design, place).ids) if self._simulated else set()
        return len(there & ours), len(there - ours)

    def results(self, folders: Iterable[str | Path]) -> "Studied":
        """Return the runs of a study from the folders that its shares were run in.

        Raises
        ------
        ParameterError
            If none is there, or two folders differ on one.
        """
        places = [Path(one) / ROWS if (Path(one) / ROWS).is_dir() else Path(one) for one in folders]
        for place in places:
            require(place.exists(), f"{place} does not exist: name a folder that the study has written to")
        known = {name: float(one["cpu_s"]) for place in places for name, one in finished_tasks(place).items()}
        missing = sum(task.id not in known for task in self.tasks())
        listed = self._design.tasks(self._design.points(), self._design.seeds(self.most_seeds))
        there = [(point, seed, task.id) for (point, seed), task in listed.items() if task.id in known]
        there.sort(key=lambda one: one[1])
        axes = pd.DataFrame([dict(point) for point, *_ in there], dtype=object)
        if not there:
            return Studied(self, pd.DataFrame(), tuple(places), missing=missing)
        rows = merge(places, task_ids=list(dict.fromkeys(name for *_, name in there))).set_index(TASK_COLUMN)
        rows_there = rows.loc[[name for *_, name in there]].reset_index(drop=True)
        rows_there["seed"] = [seed for _, seed, _ in there]
        if "cpu_s" not in rows_there:  # a measurement need not have it
            rows_there["cpu_s"] = [known[name] for *_, name in there]
        runs = pd.concat([axes, rows_there.drop(columns=[name for name in axes if name in rows_there])], axis=1)
        return Studied(self, runs, tuple(places), missing=missing)


class Places(NamedTuple):
    """Folders of the rows of runs, and of whole results where these are kept."""

    rows: Path
    results: Path | None = None


@dataclass(frozen=True, repr=False)
class Studied:
    """What the runs of a study, or of a comparison of schemes, say.

    Attributes
    ----------
    study : Study
        What was asked.
    runs : DataFrame
        One row for each point and seed that is there, in the setting of the text: the axes, ``seed``, the metrics
        (:mod:`capsim.study.metrics`), the run's id and processor time.
    folders : tuple of Path
        Where they come from.
    ran, found : int
        How many runs were made just now, and how many of those with fixed seeds were there.
    missing : int
        How many of those with fixed seeds are not there.
    results : Path, optional
        Where the whole result of each run is, if it was kept.
    """

    study: Study
    runs: pd.DataFrame
    folders: tuple[Path, ...]
    ran: int = 0
    found: int = 0
    missing: int = 0
    results: Path | None = None

    @property
    def schemes(self) -> tuple[str, ...]:
        """Return the schemes, as the study calls them; the first is the one that the others are compared with."""
        axis = self.study.design.axes.get("scheme")
        return () if axis is None else tuple(map(str, axis.values))

    @cached_property
    def campaign(self) -> Campaign:
        """Return where the claims stand, by the runs of the first folder."""
        return Campaign(self.study.design, self.folders[0])

    def verdict(self, claim_id: str) -> Verdict:
        """Return what the runs say of a claim."""
        return self.campaign.verdict(claim_id)

    def verdicts(self) -> pd.DataFrame:
        """Return a row for each claim and point, with the verdict on the claim.

        The columns are ``id``, ``where``, ``claim``, ``metric`` in words, ``printed``, ``word``, ``begins``
        (:meth:`.Design.begins`), ``about``, ``seeds``, ``point``, ``ours``, ``low``, ``high``, ``bound`` and ``level``:
        what of the runs the verdict and ``ours`` are about, the median, ``low`` and ``high`` the ends of its interval,
        the bound of what is claimed across which the interval lies while the verdict is open, in the unit of ours, and
        the probability with which the interval has what ours would be over all seeds. Levels are in the unit that is
        printed, comparisons are ratios, and trends have two points: the last value against the first, and Kendall's
        tau.
        """
        return pd.DataFrame(verdict_rows(self.campaign))

    def by_setting(self) -> pd.DataFrame:
        """Return a row for each claim, setting and point where settings are compared, with our value there.

        The columns are ``id``, ``metric`` in words, ``setting``, ``word``, the verdict in it, ``seeds``, ``point``,
        ``ours``, ``low`` and ``high``, as of :meth:`verdicts`. Where a study has a reduced scale, the values of other
        settings than the text's are carried over from there (:mod:`capsim.study.claims.looks`).
        """
        return pd.DataFrame(setting_rows(self.campaign))

    @property
    def own_runs(self) -> pd.DataFrame:
        """Return `runs` without those of other studies, with which claims compare: these have the column ``study``."""
        return self.runs[self.runs["study"].isna()] if "study" in self.runs else self.runs

    @property
    def points(self) -> list[Point]:
        """Return the points that have runs, in their order."""
        axes = list(self.study.design.axes)
        there = set(self.own_runs[axes].itertuples(index=False, name=None)) if len(self.runs) else set()
        return [point for point in self.study.design.points() if tuple(one for _, one in point) in there]

    @cached_property
    def of_operations(self) -> tuple[str, ...]:
        """Return the metrics of collective operations to show: of times that are equal in every run, one."""
        return distinct_times(self.runs, self.measured(OF_COLLECTIVES))

    def measured(self, metrics: Sequence[str]) -> tuple[str, ...]:
        """Return those of `metrics` of which some run has a value."""
        return tuple(name for name in metrics if name in self.runs and self.runs[name].notna().any())

    @cached_property
    def has_other_flows(self) -> bool:
        """Return whether there are flows that are no messages of collective operations."""
        entries = (entry for one in self.filled.values() for entry in one.scenario.traffic)
        return not self.of_operations or any(not isinstance(entry, Collective) for entry in entries)

    @property
    def main_metrics(self) -> tuple[str, ...]:
        """Return what a picture and a LaTeX table show where nothing else is asked for, or what claims compare."""
        of_operations = tuple(one for one in self.of_operations if one != "p99_collective_s")
        of_flows = PLOTTED if self.measured(PLOTTED[:1]) else PLOTTED_OF_ALL
        wanted = self.measured((*of_operations, *of_flows)) if self.has_other_flows else of_operations
        return tuple(wanted) or tuple(dict.fromkeys(self.study.design.metric(claim) for claim in self.study.claims))

    def table(self, metrics: Sequence[str] = ()) -> pd.DataFrame:
        """Return one row for each point and metric; see :func:`capsim.study.scheme_runs.metric_table`.

        Without `metrics` it has those of all flows, and those of collective operations where the runs have some.

        Raises
        ------
        ParameterError
            If there is no such metric, or no run.
        """
        metrics = metrics or (OF_COLLECTIVES if self.of_operations else ()) + SHOWN_METRICS
        for metric in metrics:
            check_percentile(metric, "metric")
            choice("metric", metric, [*METRICS, *map(str, self.runs)])
        require(len(self.runs) > 0, f"{self.study.name} has no run yet: run it first")
        values = [dict(point) for point in self.points]
        first = None if (schemes := self.study.design.axes.get("scheme")) is None else str(schemes.first)
        complete = first is not None and all({**one, "scheme": first} in values for one in values)
        there = [metric for metric in metrics if metric in self.runs]
        return metric_table(self.own_runs, values, there, first_scheme=first if complete else None)

    def remarks(self) -> list[str]:
        """Return what a reader must know: of the loads asked for (`load_remarks`), of defaults (`setting_remarks`)."""
        axes = self.study.design.axes
        several = [name for name, axis in axes.items() if len(axis.values) > 1] or list(axes)
        has_loads = "offered_over_asked" in self.runs
        of_load = load_remarks(self.runs, several) if has_loads else []
        return of_load + setting_remarks([(one.scenario, one.scheme) for one in self.filled.values()])

    @cached_property
    def filled(self) -> dict[str, Filled]:
        """Return what each scheme runs at its first point, and what its profile filled in, by scheme."""
        return self.study.design.filled(self.points)

    def flows(self, at: str | Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Return the flows of all runs that count, with the values of axes that differ and ``seed`` in front.

        Parameters
        ----------
        at : str or mapping, optional
            A scheme, or values of axes, one or a list of each; of all points when left out.

        Raises
        ------
        ParameterError
            If there is no such scheme, axis or value, the results were not kept, or other runs have replaced one since.
        """
        if isinstance(at, str):
            choice("scheme", at, self.schemes)
        if self.results is None:
            raise ParameterError("flows were not kept: give compare(..., results=FOLDER), or --out DIR to the command")
        wanted = {} if at is None else {"scheme": at} if isinstance(at, str) else dict(at)
        selected = set(self.study.design.selected(wanted, where="flows"))
        points = [point for point in self.points if point in selected]
        several = [name for name, _ in points[0] if len({dict(point)[name] for point in points}) > 1] if points else []
        tables = [one for point in points for one in self._flows_at(point, several)]
        require(bool(tables), f"{self.study.name} has no run at {wanted}: run it first")
        flows = pd.concat(tables, ignore_index=True)
        front = [*several, "seed"]
        return flows[[*front, *flows.columns.drop(front)]]

    def _flows_at(self, point: Point, axes: Sequence[str]) -> Iterator[pd.DataFrame]:
        values, rule = dict(point), "give each study or comparison a folder of its own"
        runs = self.own_runs
        ran = runs[np.logical_and.reduce([(runs[name] == value) for name, value in point])]
        for seed, run_id in zip(ran["seed"].tolist(), ran["id"].tolist(), strict=True):
            place = Path(self.results or "") / result_name(values, seed)
            result = Result.load(place)
            same = result.manifest["id"] == run_id
            require(same, f"{place} was replaced meanwhile by a run of other settings: {rule}")
            counted = counted_flows(result.flows)
            yield counted.assign(seed=seed, **{name: values[name] for name in axes})

    def _by_curve(self, at: str | Mapping[str, Any] | None) -> dict[str, pd.DataFrame]:
        """Return the flows at each point by its name: the values of axes that have several."""
        wanted = {} if at is None else {"scheme": at} if isinstance(at, str) else dict(at)
        selected = set(self.study.design.selected(wanted, where="at"))
        points = [point for point in self.points if point in selected]
        several = [name for name, _ in points[0] if len({dict(point)[name] for point in points}) > 1] if points else []
        names = [point_name((name, one) for name, one in point if name in several) for point in points]
        return {
            name or point_name(point[:1]): self.flows(dict(point)) for name, point in zip(names, points, strict=True)
        }

    def plot_cdf(
        self,
        file: str | Path | None = None,
        *,
        kinds: Sequence[Kind] = ("short", "long"),
        at: str | Mapping[str, Any] | None = None,
    ) -> "Figure":
        """Return the distribution of completion times over all seeds, a curve for each point, such as each scheme.

        Parameters
        ----------
        file : path, optional
            Where it is written too.
        kinds : sequence of str
            A panel for each of ``all``, ``short`` and ``long``.
        at : str or mapping, optional
            The points, as of :meth:`flows`.

        Raises
        ------
        ParameterError
            As :meth:`flows`.
        """
        return plot_cdf(self._by_curve(at), file, kinds=kinds)

    def fct_percentile_s(
        self, percent: npt.ArrayLike, *, kind: Kind = "all", at: str | Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return a percentile of the completion times of all seeds together, in seconds, by point, such as by scheme.

        The mean over seeds of a percentile of each is in :meth:`table`; where a seed has few flows, that of a high
        percentile is too low. Parameters and errors as of :func:`capsim.results.fct.fct_percentile_s` and
        :meth:`flows`.
        """
        return {name: fct_percentile_s(flows, percent, kind=kind) for name, flows in self._by_curve(at).items()}

    def plot(self, file: str | Path | None = None, *, metrics: Sequence[str] = ()) -> "Figure":
        """Return the picture of the study, its panels over their axes with 95% intervals, and what is printed.

        Without a panel it shows metrics over the axes; of schemes alone a line for each, side by side.

        Parameters
        ----------
        file : path, optional
            Where it is written too; the suffix (.pdf, .png, .svg) chooses the format.
        metrics : sequence of str
            What is drawn of a study without a panel, a panel for each; `main_metrics` when left out.
        """
        design, metrics = self.study.design, metrics or self.main_metrics
        several = [name for name, axis in design.axes.items() if len(axis.values) > 1]
        if not design.source.file.panel and "scheme" in design.axes and several in ([], ["scheme"]):
            for metric in metrics:
                choice("metric", metric, list(map(str, self.runs)))
            schemes = [str(dict(point)["scheme"]) for point in self.points]
            return saved(draw_side_by_side(self.table(metrics), schemes, metrics), file)
        return saved(draw(DrawnStudy(design, self.own_runs, self.points), metrics), file)

    def to_latex(self, metrics: Sequence[str] = ()) -> str:
        """Return a LaTeX table: of the verdicts on claims where there are some, else of means and their intervals.

        The first has a line for each claim and point, with its metric, what is printed, and ours with its interval. The
        second has one for each point, of `metrics` or `main_metrics`; errors as :meth:`table`. See
        :func:`capsim.study.verdict_tables.verdict_latex` and :func:`capsim.study.plot.metric_latex`.
        """
        if self.study._simulated and not metrics:
            return verdict_latex(self.verdicts())
        axes = self.study.design.axes
        several = [name for name, axis in axes.items() if len(axis.values) > 1] or list(axes)
        return metric_latex(self.table(metrics or self.main_metrics), several)

    def __repr__(self) -> str:
        """Return how many runs there are, the means of a few metrics, and the verdicts on the claims."""
        verdicts = [f"  {name}: {self.verdict(name).word}" for name in self.study._simulated]
        return "\n".join([self._head, *(verdicts or mean_lines(self._means(), self.points))])

    def _repr_html_(self) -> str:
        """Return how many runs there are, and the verdicts on the claims, or else means of some metrics, as a table."""
        cells = verdict_cells(self.verdicts().to_dict("records"))
        return as_html(self._head, cells or mean_cells(self._means(), list(self.study.design.axes)))

    @property
    def _head(self) -> str:
        seeds = self.own_runs["seed"].nunique() if len(self.runs) else 0
        return f"Studied: {self.study.name}, {len(self.points)} points, {seeds} seeds, {len(self.runs)} runs"

    def _means(self) -> list[Mapping[Hashable, Any]]:
        """Return the rows of the table of the metrics that a picture shows, as far as they were measured."""
        there = [metric for metric in self.main_metrics if metric in self.runs]
        return list(self.table(there).to_dict("records")) if there else []


def load_study(file: str | Path, **changed: Any) -> Study:
    """Return the study of a TOML file.

    Parameters
    ----------
    file : path
        The file.
    **changed
        Values of names and settings in place of those of the file.

    Raises
    ------
    ParameterError
        If the file is no TOML or breaks a rule; the text names file and key.
    OSError
        If it cannot be read.
    """
    return Study.of(Design(read_study(Path(file)), changed))
