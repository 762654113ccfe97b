"""Runs of several schemes and settings over seeds, as tasks of a sweep, and what they say on average.

Common random numbers: within a seed all schemes see the same arrivals, sizes, endpoints and hash seeds, so that the
difference between two schemes is measured run by run (paired), which removes the spread between seeds. Intervals are
Student's t over seeds, at 95%, those of ratios of their logarithms
(:func:`capsmodel.experiments.statistics.intervals.paired_ratio`).
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from capsim.results.files import read_manifest, restore
from capsim.results.manifest import host_parameters, scheme_parameters
from capsim.results.result import Result
from capsim.roles.components import Scheme
from capsim.roles.scheme_files import is_reference
from capsim.run.simulation import simulate
from capsim.scenario.entry_stacks import entry_schemes, scheme_of_run
from capsim.scenario.scenario import Scenario, from_dict
from capsim.study.metrics import METRICS, OF_COLLECTIVES, Run, columns, known_metric
from capsmodel.checks import FloatArray, IntArray, ParameterError, require
from capsmodel.experiments.number_texts import positive_ends
from capsmodel.experiments.statistics.intervals import mean_interval, paired_ratio, skewness
from capsmodel.experiments.sweep import Done, Executor, Progress, Task, gather, measurement

SHOWN_METRICS = (
    "mean_fct_short_s",
    "timeout_ratio_short",
    "mean_fct_short_without_timeouts_s",
    "p50_fct_short_s",
    "p95_fct_short_s",
    "p99_fct_short_s",
    "p999_fct_short_s",
    "mean_fct_long_s",
    "mean_slowdown",
    "mean_throughput_long_bps",
    "reorder_ratio",
    "packets_dropped",
    "timeouts",
    "coding_overhead",
    "offered_load_hosts",
    "offered_load_inner",
)


_SCHEME_RUN = measurement("scheme-run", revision=5)

TAIL_SEEDS = 64
"""Seeds from which on the mean of a percentile, or of an extreme, has an interval: fewer do not show how it scatters.

By kept runs that are drawn again Student's interval of 5 seeds covers the mean of such a metric in 85% of all cases in
the median setting, that of 64 in 93%; of other metrics 5 do in 94% (``benchmarks/measure_levels.py``).
"""

COMPILING = "the first run of a scheme compiles it: up to 2 min"


@dataclass(frozen=True)
class RunPoint:
    """One setting of a study, run once for each seed.

    Attributes
    ----------
    values : mapping
        What distinguishes it from the others, by the name of the axis: ``{"scheme": "caps", "traffic.load": 0.6}``.
    scenario : Scenario
        What is run, with the first seed.
    scheme : Scheme
        In place of the one that the scenario names.
    file : str
        File and constant that the scheme comes from, where it does (:mod:`capsim.roles.scheme_files`): each process
        loads it.
    """

    values: Mapping[str, Any]
    scenario: Scenario
    scheme: Scheme
    file: str = ""


def run_task(
    point: RunPoint,
    *,
    engine: str = "compiled",
    results: str | Path | None = None,
    scheme: Mapping[str, Any] | None = None,
    tables: Mapping[str, Any] | None = None,
) -> Task:
    """Return the task of a point with its first seed.

    Parameters
    ----------
    point : RunPoint
        The setting.
    engine : str
        ``compiled`` or ``reference``.
    results : path, optional
        Folder where the whole result of each run is saved (:meth:`capsim.results.result.Result.save`), under
        :func:`result_name`. It is no part of the task's id.
    scheme, tables : mapping, optional
        What the id knows of the scheme, :func:`described_scheme` of the point when left out, and of the scenario, its
        ``to_dict()``.
    """
    folder = None if results is None else Path(os.path.realpath(results))
    if is_reference(point.scenario.scheme):
        tables = point.scenario.replace(scheme=point.scheme.name).to_dict()
    elif tables is None:
        tables = point.scenario.to_dict()
    known = described_scheme(point) if scheme is None else scheme
    described = {
        key: one for key, one in tables.items() if key not in ("seed", "compare")
    }  # no run depends on how many
    return Task(_measured(point, folder), scenario=described, scheme=known, engine=engine, seed=point.scenario.seed)


def described_scheme(point: RunPoint) -> dict[str, Any]:
    """Return components, parameters and hooks of the scheme of a point, and of traffic entries with their own stack."""
    described: dict[str, Any] = scheme_parameters(scheme_of_run(point.scenario, point.scheme))
    others = entry_schemes(point.scenario.traffic, point.scenario.params)
    if others:
        described |= {"stacks": {str(entry): host_parameters(each) for entry, each in others.items()}}
    return described


def result_name(values: Mapping[str, Any], seed: int) -> str:
    """Return the name of the folder that holds the result of a run.

    Examples
    --------
    >>> result_name({"scheme": "caps", "traffic.load": 0.6}, 3)
    'caps-0.6-seed3'
    """
    words = [re.sub(r"[^\w.+]+", "_", str(value)) for value in values.values()]
    return "-".join([*words, f"seed{seed}"])


def check_names(values: Sequence[Mapping[str, Any]], results: str | Path | None) -> None:
    """Refuse points whose results would have one name: it has fewer signs than file names and texts of schemes."""
    if results is None or not values:
        return
    name, count = Counter(result_name(one, 1).removesuffix("-seed1") for one in values).most_common(1)[0]
    rule = "each needs a name of its own: rename a scheme, file or value of an axis"
    require(count == 1, f"{count} results would be saved as {name}, but {rule}")


@dataclass(frozen=True)
class Saved:
    """Where the result of a task is saved, and the id of the run that its row is of."""

    task: Task
    folder: Path
    run_id: str

    def is_there(self) -> bool:
        """Return whether the folder holds the result of that run."""
        restore(self.folder)
        try:
            ids = {read_manifest(self.folder / f"{name}.parquet")["id"] for name in ("flows", "ports")}
        except (ParameterError, OSError):
            return False
        return ids == {self.run_id}


def save_lacking(
    wanted: Iterable[Saved], *, executor: Executor | None, progress: Progress, done: Done | None = None
) -> int:
    """Run again the tasks whose rows are kept and whose results are not, or those of other settings are.

    Parameters
    ----------
    wanted : iterable of Saved
        Tasks that have their rows, made to save their results.
    executor, progress, done
        As in :func:`capsmodel.experiments.sweep.run_sweep`.

    Returns
    -------
    int
        How many were run.

    Raises
    ------
    ParameterError
        If a run has not saved the result that its row is of.
    """
    lacking = [each for each in wanted if not each.is_there()]
    count = len(lacking)
    while lacking:
        gather([each.task for each in lacking], executor=executor, progress=progress, done=done)
        left = [each for each in lacking if not each.is_there()]  # a run that is there under two names saves one
        reason = "rows of another version of capsmodel need a new folder, workers of a cluster this one under its name"
        text = f"{lacking[0].folder} is not the result that its row is of, after it was run again: {reason}"
        require(len(left) < len(lacking), text)
        lacking = left
    return count


def _measured(point: RunPoint, results: Path | None) -> Callable[..., dict[str, Any]]:
    """Return the measurement of the runs of a point; `scheme` is what the id knows of its scheme, hooks included."""
    own, values = point.file or point.scheme, point.values

    @_SCHEME_RUN
    def scheme_run(*, scenario: dict[str, Any], scheme: dict[str, Any], engine: str, seed: int) -> dict[str, Any]:
        result = simulate(from_dict(scenario).replace(seed=seed), engine=engine, scheme=own, progress=None)
        _check_scheme(result, scheme)
        if results is not None:
            result.save(results / result_name(values, seed))
        return row_of(result)

    return scheme_run


def _check_scheme(result: Result, described: dict[str, Any]) -> None:
    """Refuse a run of another scheme than the id of its task knows: its file may have been edited meanwhile."""
    ran = result.manifest["parameters"]
    others = {"stacks": ran["stacks"]} if "stacks" in ran else {}
    text = f"the file of scheme {described['name']} was edited while the runs were made, or loaded again before them"
    remedy = "run the same again, in a new session if worker processes of this one have the old file"
    require(ran["scheme"] | others == described, f"{text}: {remedy}")


def row_of(result: Result) -> dict[str, Any]:
    """Return a run in one row: scheme and seed, all metrics (:mod:`capsim.study.metrics`), what it took, its id."""
    return {
        "scheme": result.scenario.scheme,
        "seed": result.scenario.seed,
        **columns(Run.of(result), METRICS),
        **result.loads,
        "cpu_s": result.resources.cpu_s,
        "id": result.manifest["id"],
    }


def distinct_times(runs: pd.DataFrame, names: Sequence[str]) -> tuple[str, ...]:
    """Return metrics of collective operations without the times that are equal to another in every run.

    The time of a run's only operation is mean, longest and 99th percentile; up to 100 have their longest as that.
    """
    mean, p99, longest, _ = OF_COLLECTIVES
    pairs = [(one, other) for one, other in ((longest, mean), (p99, longest)) if {one, other} <= {*names}]
    equal = {one for one, other in pairs if runs[one].equals(runs[other])}
    return tuple(one for one in names if one not in equal)


def metric_table(
    runs: pd.DataFrame, points: Sequence[Mapping[str, Any]], metrics: Sequence[str], *, first_scheme: str | None
) -> pd.DataFrame:
    """Return one row for each point and metric: mean and half-width over seeds, and the ratio to the first scheme.

    Parameters
    ----------
    runs : DataFrame
        A row for each run: a column for each axis, ``seed``, and the metrics.
    points : sequence of mapping
        Values of the axes, in the order of the table.
    metrics : sequence of str
        Columns of `runs`.
    first_scheme : str, optional
        The scheme that the others are compared with, at equal values of all other axes.

    Returns
    -------
    DataFrame
        ``mean``, ``half_width`` of Student's 95% interval and, of three seeds and more, ``skewness`` over the seeds
        with a value, which ``seeds`` counts. Percentiles and extremes have a half-width from `TAIL_SEEDS` on.
        ``low`` and ``high`` are the ends of the interval that tables and pictures show, on a log scale where the
        half-width is 0.3 of the mean and more (:func:`capsmodel.experiments.number_texts.positive_ends`).
        ``ratio`` is the geometric mean over seeds of this scheme's metric over the first scheme's with the same seed,
        ``ratio_low`` and ``ratio_high`` the ends of its 95% interval, and ``pairs`` the seeds in which both have a
        value. ``pairs_with_0`` of them have a 0; if there is one, the ratio is NaN: 0 has no logarithm, and the other
        pairs would be chosen by their result.
    """
    axes, names = list(points[0]), list(metrics)
    groups = runs.groupby(axes, dropna=False)
    samples = {key if isinstance(key, tuple) else (key,): _sample(rows, names) for key, rows in groups}
    table = []
    for point in points:
        own = samples[tuple(point.values())]
        base = samples[tuple({**point, "scheme": first_scheme}.values())] if first_scheme else None
        table += [{**point, "metric": name, **_row(own, base, column, name)} for column, name in enumerate(names)]
    return pd.DataFrame(table)


class _Sample(NamedTuple):
    """The runs of a point: their seeds, ascending, and a row of metrics for each."""

    seeds: IntArray
    values: FloatArray


def _sample(runs: pd.DataFrame, metrics: list[str]) -> _Sample:
    ordered = runs.sort_values("seed")
    return _Sample(ordered["seed"].to_numpy(np.int64), ordered[metrics].to_numpy(np.float64))


def _row(own: _Sample, base: _Sample | None, column: int, name: str) -> dict[str, Any]:
    values = own.values[:, column]
    finite = values[np.isfinite(values)]
    mean, half_width = mean_and_half_width(finite, name)
    low, high = positive_ends(mean, half_width)
    of_base = np.empty((0, 2)) if base is None else _pairs(own, base, column)
    return {
        "mean": mean,
        "half_width": half_width,
        "low": low,
        "high": high,
        "skewness": skewness(finite) if len(finite) >= 3 else nan,
        "seeds": len(finite),
        **_ratio(of_base),
    }


def mean_and_half_width(values: FloatArray, metric: str) -> tuple[float, float]:
    """Return the mean, NaN of nothing, and half the length of its 95% interval, NaN of too few values of the metric."""
    if len(values) < (TAIL_SEEDS if known_metric(metric).tail else 2):
        return (float(values.mean()) if len(values) else nan), nan
    interval = mean_interval(values)
    return interval.value, interval.half_width


def _pairs(own: _Sample, base: _Sample, column: int) -> FloatArray:
    """Return rows of this scheme's value and the first one's by the seeds that both have, where neither is NaN."""
    _, of_own, of_base = np.intersect1d(own.seeds, base.seeds, assume_unique=True, return_indices=True)
    pairs: FloatArray = np.column_stack([own.values[of_own, column], base.values[of_base, column]])
    return pairs[~np.isnan(pairs).any(axis=1)]


def _ratio(pairs: FloatArray) -> dict[str, Any]:
    """Return the ratio of two samples paired by seed with its interval, NaN where there is none, and its pairs."""
    zeros = int((pairs == 0).any(axis=1).sum())
    value, low, high = nan, nan, nan
    if not zeros and len(pairs) > 1:
        ratio = paired_ratio(pairs[:, 0], pairs[:, 1])
        value, low, high = ratio.value, ratio.low, ratio.high
    elif not zeros and len(pairs):
        value = float(pairs[0, 0] / pairs[0, 1])
    return {"ratio": value, "ratio_low": low, "ratio_high": high, "pairs": len(pairs), "pairs_with_0": zeros}
