"""Several schemes on the same flows, over several seeds, with intervals (:mod:`capsim.study.scheme_runs`)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
import pandas as pd

from capsim.base.bounds import SEEDS
from capsim.protocols.registry import scheme as find
from capsim.results.fct import Kind, counted_flows, fct_percentile_s
from capsim.results.load_record import load_remarks
from capsim.results.plots import plot_cdf
from capsim.results.result import Result
from capsim.roles.components import Scheme
from capsim.roles.scheme_files import file_of
from capsim.scenario.profile import Filled, filled, setting_remarks
from capsim.scenario.scenario import Scenario, load_scenario
from capsim.study.metrics import known_metric
from capsim.study.plot import PLOTTED, draw_side_by_side, metric_latex
from capsim.study.scheme_runs import (
    COMPILING,
    SHOWN_METRICS,
    RunPoint,
    Saved,
    metric_table,
    result_name,
    run_name,
    run_tasks,
    save_lacking,
)
from capsmodel.checks import ParameterError, choice, require
from capsmodel.experiments.number_texts import with_error
from capsmodel.experiments.sweep import Done, Executor, Progress, all_cores, gather, one_by_one
from capsmodel.plotting import saved

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MOST_SHOWN = 8  # schemes


@dataclass(frozen=True, repr=False)
class Compared:
    """Outcome of a comparison.

    Attributes
    ----------
    runs : DataFrame
        One row for each scheme and seed: the summary (:class:`capsim.results.summary.Summary`), percentiles of
        completion times, the run's id and resources.
    schemes : tuple of str
        In the order asked for; the first is the one that the others are compared with.
    filled : mapping
        What each of them ran, with the first seed, and what its profile filled in.
    results : Path, optional
        Where the whole result of each run is, if it was kept.
    """

    runs: pd.DataFrame
    schemes: tuple[str, ...]
    filled: Mapping[str, Filled] = field(default_factory=dict)
    results: Path | None = None

    def table(self, metrics: Sequence[str] = SHOWN_METRICS) -> pd.DataFrame:
        """Return one row for each scheme and metric: mean and half-width over seeds, and the ratio to the first.

        The columns are those of :func:`capsim.study.scheme_runs.metric_table`.
        """
        points = [{"scheme": scheme} for scheme in self.schemes]
        return metric_table(self.runs, points, metrics, first_scheme=self.schemes[0])

    def __repr__(self) -> str:
        """Return what was compared, and the means of a few metrics."""
        seeds = self.runs.groupby("scheme")["seed"].nunique().max()
        there = [metric for metric in PLOTTED if metric in self.runs]
        lines = [f"Compared: {len(self.schemes)} schemes, {seeds} seeds, {len(self.runs)} runs"]
        for scheme, rows in self.table(there).groupby("scheme", sort=False) if there else ():
            lines.append(f"  {scheme}: {'; '.join(map(_in_words, rows.to_dict('records')))}")
        more = len(lines) - 1 - _MOST_SHOWN
        return "\n".join(lines[: _MOST_SHOWN + 1] + ([f"  and {more} more"] if more > 0 else []))

    def to_latex(self, metrics: Sequence[str] = PLOTTED) -> str:
        """Return means and half-widths as a LaTeX table (:func:`capsim.study.plot.metric_latex`)."""
        return metric_latex(self.table(metrics), ["scheme"])

    def plot(self, file: str | Path | None = None, *, metrics: Sequence[str] = PLOTTED) -> "Figure":
        """Return a picture of means with 95% intervals, a panel for each metric and a line for each scheme.

        Parameters
        ----------
        file : path, optional
            Where it is written too; the suffix (.pdf, .png, .svg) chooses the format.
        metrics : sequence of str
            What the panels show.
        """
        for metric in metrics:
            choice("metric", metric, list(map(str, self.runs)))
        return saved(draw_side_by_side(self.table(metrics), self.schemes, metrics), file)

    def plot_cdf(self, file: str | Path | None = None, *, kinds: Sequence[Kind] = ("short", "long")) -> "Figure":
        """Return the distribution of completion times over all seeds, a curve for each scheme.

        Parameters
        ----------
        file : path, optional
            Where it is written too.
        kinds : sequence of str
            A panel for each of ``all``, ``short`` and ``long``.

        Raises
        ------
        ParameterError
            If the results were not kept.
        """
        return plot_cdf({name: self.flows(name) for name in self.schemes}, file, kinds=kinds)

    def flows(self, scheme: str) -> pd.DataFrame:
        """Return the flows of all runs of a scheme that count, with the column ``seed`` in front.

        Raises
        ------
        ParameterError
            If the results were not kept, or another comparison has replaced one since.
        """
        choice("scheme", scheme, self.schemes)
        if self.results is None:
            raise ParameterError("flows were not kept: give compare(..., results=FOLDER), or --out DIR to the command")
        tables = []
        ran = self.runs[self.runs["scheme"] == scheme]
        for seed, run_id in zip(ran["seed"].tolist(), ran["id"].tolist(), strict=True):
            place = self.results / result_name({"scheme": scheme}, seed)
            result = Result.load(place)
            rule = "give each comparison a folder of its own"
            same = result.manifest["id"] == run_id
            require(same, f"{place} was replaced meanwhile by a run of other settings: {rule}")
            counted = counted_flows(result.flows, warm_up_s=result.scenario.warm_up_s)
            tables.append(counted.assign(seed=seed))
        found = pd.concat(tables, ignore_index=True)
        return found[["seed", *found.columns.drop("seed")]]

    def fct_percentile_s(self, percent: npt.ArrayLike, *, kind: Kind = "all") -> dict[str, Any]:
        """Return a percentile of the completion times of all seeds together, in seconds, by scheme.

        The mean over seeds of a percentile of each is in :meth:`table`; where a seed has few flows, that of a high
        percentile is too low. Parameters and errors as of :func:`capsim.results.fct.fct_percentile_s` and
        :meth:`flows`.
        """
        return {name: fct_percentile_s(self.flows(name), percent, kind=kind) for name in self.schemes}

    def remarks(self) -> list[str]:
        """Return what a reader must know: of the load asked for (`load_remarks`), of defaults (`setting_remarks`)."""
        return load_remarks(self.runs) + setting_remarks([(one.scenario, one.scheme) for one in self.filled.values()])


def compare(
    scenario: Scenario | str | Path,
    *,
    schemes: Sequence[str | Scheme],
    seeds: int = 5,
    engine: str = "compiled",
    jobs: int = 1,
    folder: str | Path | None = None,
    results: str | Path | None = None,
    executor: Executor | None = None,
    done: Done | None = None,
) -> Compared:
    """Run `scenario` with each scheme and each of `seeds` seeds.

    Parameters
    ----------
    scenario : Scenario, str or Path
        A scenario, the name of a preset or a TOML file (:func:`capsim.load_scenario`). Its scheme is
        replaced; its parameters go to the schemes as they are.
    schemes : sequence of str or Scheme
        At least one; the first is the base of the ratios.
    seeds : int
        Replicates; they use the seeds ``scenario.seed``, ``scenario.seed + 1``, ...
    engine : str
        ``compiled`` or ``reference``.
    jobs : int
        Processes that run at the same time.
    folder : str or Path, optional
        Where the row of each run is kept, so that a comparison that was interrupted goes on where it stopped.
    results : str or Path, optional
        Where the whole result of each run is saved, a folder each (``caps-seed1``), for :meth:`capsim.Result.load`.
        Runs whose rows are in `folder` are made again where their results are not.
    executor : callable, optional
        What runs them in place of `jobs` processes, such as :func:`capsmodel.experiments.sweep.dask_cluster`.
    done : callable, optional
        Called in place of a progress bar, with the tasks that have just ended.

    Returns
    -------
    Compared
        All runs, and their table.

    Raises
    ------
    ParameterError
        If a scheme is unknown or named twice, or the scenario breaks a rule.
    """
    require(not isinstance(schemes, str), f'schemes = {schemes!r}, but it must be a list: write ["{schemes}"]')
    described = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    found = [find(scheme) if isinstance(scheme, str) else scheme for scheme in schemes]
    names = tuple(scheme.name for scheme in found)
    require(len(names) > 0, "schemes: name at least one")
    require(len(set(names)) == len(names), f"schemes: {', '.join(names)} names one twice")
    SEEDS.check("seeds", seeds)
    files = [file_of(scheme) if isinstance(scheme, str) else "" for scheme in schemes]
    ran = {scheme.name: filled(described, scheme) for scheme in found}
    points = [
        RunPoint({"scheme": scheme.name}, ran[scheme.name].scenario, scheme, file)
        for scheme, file in zip(found, files, strict=True)
    ]
    tasks = run_tasks(points, seeds=seeds, engine=engine, results=results)
    execute = executor or (one_by_one if jobs == 1 else all_cores(jobs))
    progress = Progress(label="comparing", first=COMPILING, named=run_name)
    rows = gather(tasks, folder, executor=execute, progress=progress, done=done)
    if results is not None:
        names_of_results = map(result_name, ({"scheme": name} for name in rows["scheme"]), rows["seed"])
        places = [Path(results) / name for name in names_of_results]
        asked = [Saved(*each) for each in zip(tasks, places, rows["id"], strict=True)]
        save_lacking(asked, executor=execute, progress=progress, done=done)
    kept = None if results is None else Path(results)
    return Compared(rows.drop(columns="task_id"), names, ran, kept)


def _in_words(row: Mapping[Hashable, Any]) -> str:
    """Return a row of a metric table in words."""
    known = known_metric(str(row["metric"]))
    name, unit = (known.words, f" {known.shown_unit}" if known.shown_unit else "")
    return f"{name} {with_error(row['mean'] * known.factor, row['half_width'] * known.factor)}{unit}"
