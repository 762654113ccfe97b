"""Several schemes on the same flows, over several seeds, with intervals (:mod:`capsim.study.scheme_runs`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from capsim.base.bounds import SEEDS
from capsim.protocols.registry import scheme as find
from capsim.results.load_record import load_remarks
from capsim.roles.components import Scheme
from capsim.roles.scheme_files import file_of
from capsim.scenario.profile import Filled, filled, rate_remarks
from capsim.scenario.scenario import Scenario, load_scenario
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
from capsmodel.checks import require
from capsmodel.experiments.sweep import Done, Executor, Progress, all_cores, gather, one_by_one


@dataclass(frozen=True)
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
    """

    runs: pd.DataFrame
    schemes: tuple[str, ...]
    filled: Mapping[str, Filled] = field(default_factory=dict)

    def table(self, metrics: Sequence[str] = SHOWN_METRICS) -> pd.DataFrame:
        """Return one row for each scheme and metric: mean and half-width over seeds, and the ratio to the first.

        The columns are those of :func:`capsim.study.scheme_runs.metric_table`.
        """
        points = [{"scheme": scheme} for scheme in self.schemes]
        return metric_table(self.runs, points, metrics, first_scheme=self.schemes[0])

    def remarks(self) -> list[str]:
        """Return what a reader must know: of the load asked for (`load_remarks`), of defaults (`rate_remarks`)."""
        return load_remarks(self.runs) + rate_remarks([(one.scenario, one.scheme) for one in self.filled.values()])


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
    return Compared(rows.drop(columns="task_id"), names, ran)
