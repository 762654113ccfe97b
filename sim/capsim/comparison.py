r"""Several schemes on the same flows, over several seeds, with confidence intervals.

Common random numbers: within a seed all schemes see the same arrivals, sizes, endpoints and hash seeds, so that the
difference between two schemes is measured run by run (paired), which removes the spread between seeds.

==================== ================================== ==================== ====
Quantity             Symbol                             Name                 Unit
==================== ================================== ==================== ====
interval half-width  :math:`t_{n-1,0.975}\,s/\sqrt{n}`  ``half_width``       as the figure
==================== ================================== ==================== ====
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import stdtrit

from capsim.hooks import Scheme
from capsim.registry import scheme as find
from capsim.run import simulate
from capsim.scenario import Scenario, load_scenario
from capsmodel.checks import require

LEVEL = 0.95
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


def half_width(values: npt.ArrayLike) -> float:
    """Return the half-width of the 95% t interval of a mean, in the unit of `values`; NaN for fewer than two.

    Parameters
    ----------
    values : array_like
        Independent replicates.

    Examples
    --------
    >>> round(half_width([1.0, 2.0, 3.0]), 4)
    2.4841
    """
    sample = np.asarray(values, np.float64)
    if len(sample) < 2:
        return float("nan")
    quantile = float(stdtrit(len(sample) - 1, 0.5 + LEVEL / 2))
    return quantile * float(sample.std(ddof=1)) / float(np.sqrt(len(sample)))


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else float("nan")


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
        known, related = values[np.isfinite(values)], ratios[np.isfinite(ratios)]
        return {
            "scheme": scheme,
            "figure": figure,
            "mean": _mean(known),
            "half_width": half_width(known),
            "ratio": _mean(related),
            "ratio_half_width": half_width(related),
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
    done: Callable[[dict[str, Any]], None] | None = None,
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
    done : callable, optional
        Called with the row of each run as it ends.

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
    names = tuple((find(scheme) if isinstance(scheme, str) else scheme).name for scheme in schemes)
    require(len(names) > 0, "schemes: name at least one")
    require(len(set(names)) == len(names), f"schemes: {', '.join(names)} names one twice")
    require(seeds >= 1, f"seeds = {seeds}, but it must be at least 1")
    tasks = [(scheme, described.seed + replicate) for replicate in range(seeds) for scheme in schemes]
    rows = []
    run = Parallel(n_jobs=jobs, return_as="generator")
    for row in run(delayed(_one_run)(described, scheme, seed, engine) for scheme, seed in tasks):
        rows.append(row)
        if done:
            done(row)
    return Compared(pd.DataFrame(rows), names)


def _one_run(scenario: Scenario, scheme: str | Scheme, seed: int, engine: str) -> dict[str, Any]:
    result = simulate(scenario.replace(seed=seed), engine=engine, scheme=scheme)
    return {
        "scheme": result.scenario.scheme,
        "seed": seed,
        **result.summary.to_dict(),
        "traversals": result.resources.traversals,
        "cpu_s": result.resources.cpu_s,
        "id": result.manifest["id"],
    }
