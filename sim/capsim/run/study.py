"""A study: one scenario over a grid of settings and seeds, as a TOML file, on one machine or many.

::

    name = "load"
    scenario = "websearch-load-60"      # a preset, a TOML file beside this one, or a table [scenario]
    seeds = 5                           # runs of each point of the grid

    [grid]
    scheme = ["ecmp", "rps", "caps"]    # the first is the base of ratios
    "traffic.load" = [0.2, 0.4, 0.6]    # any name of capsim.scenario.settings, quantities with their units
    "transport.min_rto_s" = ["10ms", "200ms"]

``scheme`` may hold ``"all"`` (:func:`capsim.protocols.registry.named_schemes`). With an axis ``scenario``, a list of
presets or files, the key ``scenario`` is left out.

Every combination is run with every seed, on common random numbers (:mod:`capsim.run.runs`). Rows are kept as those of
any sweep (:mod:`capsmodel.experiments.sweep`): a study that was stopped goes on where it was, and its parts may be run
on several machines.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pandas as pd

from capsim.base import bounds
from capsim.base.structs import converted
from capsim.protocols.registry import named_schemes
from capsim.protocols.registry import scheme as find
from capsim.results.load_record import load_remarks
from capsim.roles.scheme_files import file_of, in_folder
from capsim.run.runs import (
    ALL_METRICS,
    COMPILING,
    METRICS,
    Point,
    Saved,
    metric_table,
    result_name,
    run_tasks,
    save_lacking,
)
from capsim.scenario.scenario import Scenario, from_dict, load_scenario
from capsim.scenario.settings import with_settings
from capsmodel._files import read_text
from capsmodel.checks import ParameterError, choice, require
from capsmodel.experiments.sweep import Done, Executor, Progress, SweepReport, Task, merge, run_sweep

MOST_RUNS = 100_000
_CHOSEN = frozenset({"scheme", "scenario"})  # axes whose values are names, not settings
Value = bool | int | float | str


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scenario and the grid of what is changed in it.

    Parameters
    ----------
    scenario : Scenario
        What all runs share; its seed is the first one.
    grid : dict
        The values of each axis by its name, ``scheme``, ``scenario`` or a name of :mod:`capsim.scenario.settings`.
    seeds : int
        Runs of each point.
    name, notes : str
        For people.
    engine : str
        ``compiled`` or ``reference``.
    """

    scenario: Scenario
    grid: dict[str, tuple[Value, ...]]
    seeds: Annotated[int, bounds.SEEDS.meta] = 5
    name: str = "study"
    notes: str = ""
    engine: Literal["compiled", "reference"] = "compiled"

    def values(self) -> list[dict[str, Any]]:
        """Return the points of the grid, the last axis changing first."""
        return [dict(zip(self.grid, point, strict=True)) for point in product(*self.grid.values())]

    def points(self) -> list[Point]:
        """Return what is run at each point.

        Raises
        ------
        ParameterError
            If a name or value of the grid does not fit the scenario or a scheme.
        """
        return [self._point(values) for values in self.values()]

    def _point(self, values: dict[str, Any]) -> Point:
        settings = {name: value for name, value in values.items() if name not in _CHOSEN}
        base = load_scenario(str(values["scenario"])) if "scenario" in values else self.scenario
        scenario = with_settings(base, settings)
        name = str(values.get("scheme", scenario.scheme))
        return Point(values=values, scenario=scenario, scheme=find(name), file=file_of(name))

    def tasks(self, *, results: str | Path | None = None) -> list[Task]:
        """Return a task for each point and seed; `results` as in :func:`capsim.run.runs.run_tasks`."""
        return run_tasks(self.points(), seeds=self.seeds, engine=self.engine, results=results)


@dataclass(frozen=True)
class Studied:
    """Outcome of a study.

    Attributes
    ----------
    runs : DataFrame
        One row for each point and seed: the axes, ``seed``, the summary, percentiles of completion times, the run's id
        and resources.
    study : Study
        What was asked.
    """

    runs: pd.DataFrame
    study: Study

    def table(self, metrics: Sequence[str] = METRICS) -> pd.DataFrame:
        """Return one row for each point and metric; see :func:`capsim.run.runs.metric_table`.

        Raises
        ------
        ParameterError
            If there is no such metric.
        """
        for metric in metrics:
            choice("metric", metric, ALL_METRICS)
        schemes = self.study.grid.get("scheme")
        first = None if schemes is None else str(schemes[0])
        return metric_table(self.runs, self.study.values(), metrics, first_scheme=first)

    def remarks(self) -> list[str]:
        """Return why the runs may say little about the loads asked for (`load_remarks`)."""
        several = [axis for axis, values in self.study.grid.items() if len(values) > 1]
        return load_remarks(self.runs, several or list(self.study.grid))


def load_study(file: str | Path) -> Study:
    """Return the study of a TOML file; `read_study` returns its text too.

    Raises
    ------
    ParameterError
        If the file is no TOML or breaks a rule; the text names the key.
    OSError
        If it cannot be read.
    """
    return read_study(Path(file))[0]


def read_study(path: Path) -> tuple[Study, str]:
    """Return the study of a TOML file and the text of the file, which is read once; errors as :func:`load_study`."""
    try:
        text = read_text(path)
        tables = tomllib.loads(text)
    except RecursionError:
        raise ParameterError(f"{path.name}: its tables and lists are nested too deeply") from None
    except ValueError as error:  # of UTF-8, of TOML, or a whole number of thousands of digits
        raise ParameterError(f"{path.name} is not TOML: {error}") from None
    return study_from_dict(tables, folder=path.parent, where=path.name), text


def study_from_dict(tables: dict[str, Any], *, folder: Path | None = None, where: str = "study") -> Study:
    """Return the study that plain tables describe; `folder` is what names of files are relative to.

    Raises
    ------
    ParameterError
        One line: the key and the rule it breaks.
    """
    place = folder or Path()
    flat = _grid(tables.get("grid"), place, where)
    both = "scenario" in tables and "scenario" in flat
    require(not both, f"{where}: scenario is there twice, as a key and as an axis of [grid]: leave out the key")
    asked = flat["scenario"][0] if "scenario" in flat else tables.get("scenario")
    require(
        isinstance(asked, str | dict), f"{where}: scenario is missing: name a preset or a file, or write [scenario]"
    )
    scenario = from_dict(asked, folder=place, where=where) if isinstance(asked, dict) else _named(str(asked), place)
    plain = tables | {"scenario": scenario.to_dict(), "grid": flat}
    study = converted(plain, Study, where=where)
    _check(study, where)
    return study


def _grid(grid: Any, folder: Path, where: str) -> dict[str, list[Any]]:
    """Return the axes by their dotted names, files with their folders."""
    require(isinstance(grid, dict) and bool(grid), f"{where}: the table [grid] is missing: give an axis and its values")
    flat = dict(_flat(grid))
    for name, values in flat.items():
        listed = isinstance(values, list) and len(values) > 0 and all(isinstance(value, Value) for value in values)
        require(listed, f"{where}: grid.{name}: give a list of numbers or words, as in [0.2, 0.4]")
    if "scheme" in flat:
        flat["scheme"] = list(named_schemes([in_folder(str(name), folder) for name in flat["scheme"]]))
    if "scenario" in flat:
        flat["scenario"] = [_beside(str(name), folder) for name in flat["scenario"]]
    return flat


def _named(name: str, folder: Path) -> Scenario:
    return load_scenario(_beside(name, folder))


def _beside(name: str, folder: Path) -> str:
    """Return the file `name` in `folder` if there is one, else the name as it is."""
    file = folder / name
    return str(file) if file.is_file() else name


def _flat(tables: dict[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Return nested tables as dotted names: in TOML ``traffic.load = [0.2]`` is a table in a table."""
    found: list[tuple[str, Any]] = []
    for name, value in tables.items():
        found += _flat(value, f"{before}{name}.") if isinstance(value, dict) else [(f"{before}{name}", value)]
    return found


def _check(study: Study, where: str) -> None:
    for name, values in study.grid.items():
        require(name != "seed", f"{where}: grid.seed: say how many seeds, as in seeds = 5; the scenario has the first")
        require(len(set(map(str, values))) == len(values), f"{where}: grid.{name} holds a value twice")
    count = study.seeds
    for values in study.grid.values():
        count *= len(values)
    require(count <= MOST_RUNS, f"{where}: {count} runs, but a study has at most {MOST_RUNS}: make the grid smaller")


def run_study(
    study: Study,
    folder: str | Path,
    *,
    results: str | Path | None = None,
    shard: tuple[int, int] = (1, 1),
    executor: Executor | None = None,
    log: bool = False,
    done: Done | None = None,
) -> SweepReport:
    """Run what `folder` lacks of a study, or of one of its shares.

    Parameters
    ----------
    study : Study
        What to run.
    folder : path
        Where the row of each run is kept.
    results : path, optional
        Where the whole result of each run is saved. Runs whose rows are in `folder` are made again where their results
        are not.
    shard : (int, int)
        Share i of n, from 1: every n-th run from the i-th on.
    executor, done
        As in :func:`capsmodel.experiments.sweep.run_sweep`.
    log : bool
        Print a line for each run where there is no terminal.

    Returns
    -------
    SweepReport
        How many runs were made, and how many were there.

    Raises
    ------
    ParameterError
        If the share does not exist, or a run breaks a rule.
    """
    part, parts = shard
    require(1 <= part <= parts, f"shard {part}/{parts}, but it must be 1/{parts} to {parts}/{parts}")
    tasks = study.tasks(results=results)
    names = [
        result_name(values, task.payload["scenario"]["seed"])
        for task, values in zip(tasks, study.values() * study.seeds, strict=True)
    ]
    by_id = {task.id: name for task, name in zip(tasks, names, strict=True)}
    share = list({task.id: task for task in tasks}.values())[part - 1 :: parts]
    progress = Progress(label=study.name, first=COMPILING, named=lambda task: by_id[task.id], log=log)
    report = run_sweep(share, folder, executor=executor, progress=progress, done=done)
    if results is None or not share:
        return report
    run_ids = dict(merge([folder], task_ids=[task.id for task in share])[["task_id", "id"]].to_numpy())
    asked = [
        Saved(task, Path(results) / name, run_ids[task.id])
        for task, name in zip(tasks, names, strict=True)
        if task.id in run_ids
    ]
    again = save_lacking(asked, executor=executor, progress=progress, done=done)
    return SweepReport(ran=report.ran + again, found=report.found - again)


def study_results(study: Study, folders: Sequence[str | Path]) -> Studied:
    """Return the runs of a study from the folders that its shares were run in.

    Raises
    ------
    ParameterError
        If a run is missing, or two folders differ on one.
    """
    tasks = study.tasks()
    found = merge(folders, task_ids=list(dict.fromkeys(task.id for task in tasks))).set_index("task_id")
    rows = found.loc[[task.id for task in tasks]].reset_index(drop=True)
    axes = pd.DataFrame(study.values() * study.seeds, dtype=object)
    return Studied(pd.concat([axes, rows.drop(columns=[name for name in axes if name in rows])], axis=1), study)
