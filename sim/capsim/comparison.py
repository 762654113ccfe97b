"""Several schemes on the same flows, over several seeds, with confidence intervals.

Common random numbers: within a seed all schemes see the same arrivals, sizes, endpoints and hash seeds, so that the
difference between two schemes is measured run by run (paired), which removes the spread between seeds. Intervals are
Student's t over seeds, at 95%.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsim.bounds import SEEDS
from capsim.manifest import scheme_parameters
from capsim.registry import scheme as find
from capsim.roles import Scheme
from capsim.run import simulate
from capsim.scenario import Scenario, from_dict, load_scenario
from capsmodel.checks import require
from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.experiments.sweep import Task, all_cores, gather, measurement, one_by_one

FIGURES = (
    "mean_fct_short_s",
    "timeout_ratio_short",
    "mean_fct_short_without_timeouts_s",
    "p99_fct_short_s",
    "mean_fct_long_s",
    "mean_throughput_long_bps",
    "reorder_ratio",
    "packets_dropped",
    "timeouts",
    "coding_overhead",
)


def _mean_and_half_width(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean, NaN of nothing, and half the length of its 95% interval, NaN of fewer than two."""
    if len(values) < 2:
        return (float(values[0]) if len(values) else float("nan")), float("nan")
    found = mean_interval(values)
    return found.value, found.half_width


@dataclass(frozen=True)
class Compared:
    """Outcome of a comparison.

    Attributes
    ----------
    runs : DataFrame
        One row for each scheme and seed: the summary (:class:`capsim.summary.Summary`), the run's id and resources.
    schemes : tuple of str
        In the order asked for; the first is the one that the others are compared with.
    """

    runs: pd.DataFrame
    schemes: tuple[str, ...]

    def table(self, figures: Sequence[str] = FIGURES) -> pd.DataFrame:
        """Return one row for each scheme and figure: mean and half-width over seeds, and the ratio to the first.

        ``ratio`` is the mean over seeds of this scheme's figure over the first scheme's with the same seed, where that
        is not 0, and ``ratio_half_width`` its 95% half-width; ``seeds`` counts the seeds with a value.
        """
        rows = [self._row(scheme, figure) for scheme in self.schemes for figure in figures]
        return pd.DataFrame(rows)

    def _row(self, scheme: str, figure: str) -> dict[str, Any]:
        values, base = self._by_seed(scheme, figure), self._by_seed(self.schemes[0], figure)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = values / base
        known = values[np.isfinite(values)]
        mean, half_width = _mean_and_half_width(known)
        ratio, ratio_half_width = _mean_and_half_width(ratios[np.isfinite(ratios)])
        return {
            "scheme": scheme,
            "figure": figure,
            "mean": mean,
            "half_width": half_width,
            "ratio": ratio,
            "ratio_half_width": ratio_half_width,
            "seeds": len(known),
        }

    def _by_seed(self, scheme: str, figure: str) -> npt.NDArray[np.float64]:
        mine = self.runs[self.runs["scheme"] == scheme].sort_values("seed")
        return mine[figure].to_numpy(np.float64)


def compare(
    scenario: Scenario | str | Path,
    *,
    schemes: Sequence[str | Scheme],
    seeds: int = 5,
    engine: str = "compiled",
    jobs: int = 1,
    folder: str | Path | None = None,
    done: Callable[[int], None] | None = None,
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
    done : callable, optional
        Called in place of a progress bar, with the number of runs that have just ended.

    Returns
    -------
    Compared
        All runs, and their table.

    Raises
    ------
    ParameterError
        If a scheme is unknown or named twice, or the scenario breaks a rule.
    """
    described = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    found = [find(scheme) if isinstance(scheme, str) else scheme for scheme in schemes]
    names = tuple(scheme.name for scheme in found)
    require(len(names) > 0, "schemes: name at least one")
    require(len(set(names)) == len(names), f"schemes: {', '.join(names)} names one twice")
    SEEDS.check("seeds", seeds)
    run = _measured({scheme.name: scheme for scheme in found})
    written = described.replace(compare=None).to_dict()  # no run depends on how many there are
    tasks = [
        Task(run, scenario=written | {"seed": described.seed + replicate}, scheme=parameters, engine=engine)
        for replicate in range(seeds)
        for parameters in [scheme_parameters(scheme.with_params(**described.params)) for scheme in found]
    ]
    executor = one_by_one if jobs == 1 else all_cores(jobs)
    rows = gather(tasks, folder, executor=executor, label="comparing", done=done)
    return Compared(rows.drop(columns="task_id"), names)


def _measured(schemes: Mapping[str, Scheme]) -> Callable[..., dict[str, Any]]:
    """Return the measurement of one run; `scheme` is what the id knows of one of `schemes`, its own hooks included."""

    @measurement("scheme-run", revision=1)
    def scheme_run(*, scenario: dict[str, Any], scheme: dict[str, Any], engine: str) -> dict[str, Any]:
        result = simulate(from_dict(scenario), engine=engine, scheme=schemes[scheme["name"]])
        return {
            "scheme": result.scenario.scheme,
            "seed": result.scenario.seed,
            **result.summary.to_dict(),
            "traversals": result.resources.traversals,
            "cpu_s": result.resources.cpu_s,
            "id": result.manifest["id"],
        }

    return scheme_run
