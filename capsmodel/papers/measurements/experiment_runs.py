r"""One run of an experiment in one row: the summary of the simulator, and what the papers plot beside it.

=================================== ======================= ========================================
Quantity                            Column                  Unit
=================================== ======================= ========================================
all fields of the summary           as there                :class:`capsim.results.summary.Summary`
percentiles of short flows          `p50_fct_short_s`, ...  s
completion time of all flows        `mean_fct_s`            s
slowdown of long flows              `mean_slowdown_long`    1, over that alone on an idle fabric
timeouts of short flows             `timeouts_short`        1, all subflows
short flows' lost over sent packets `lost_ratio_short`      1
same, packets that were overtaken   `reordered_ratio_short` 1
same, of all flows                  `lost_ratio`            1
second copies over the flows        `copied_ratio`          1, bytes of flows
what they send over the same        `copied_sent_ratio`     1, with headers and what is sent again
payload over the time of the last   `goodput_bps`           bit/s
quantiles of short flows            `fct_p05_s`, ...        s
=================================== ======================= ========================================
"""

from typing import Any

import numpy as np
import pandas as pd

from capsim import Result, simulate
from capsim import scheme as find
from capsim.results.fct import counted_flows, fct_percentile_s, finished_flows
from capsim.scenario.scenario import from_dict
from capsim.study.measures import summary_row, with_late_replicas, with_recovery
from capsmodel.checks import require
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements.head_of_line import FCT_PERCENTILES
from capsmodel.units import BITS_PER_BYTE

__all__ = ["columns_of", "experiment_run", "finished_run", "with_late_replicas", "with_recovery"]


@measurement("experiment-run", revision=1)
def experiment_run(
    scenario: dict[str, Any],
    *,
    recovery: str = "newreno",
    replica_delay_s: float = 0.0,
    seed: int,
    engine: str = "compiled",
) -> dict[str, Any]:
    """Simulate a scenario.

    Parameters
    ----------
    scenario : dict
        As :meth:`capsim.Scenario.to_dict` gives it; its seed is not used.
    recovery : str
        ``"newreno"`` or ``"sack"``, loss recovery of those stacks whose transport is one of these.
    replica_delay_s : float
        How much later than the first the second copy of a flow starts, in seconds.
    seed : int
        Seed of the run.
    engine : str
        ``"compiled"`` or ``"reference"``.

    Returns
    -------
    dict
        The columns of the table above.

    Raises
    ------
    ParameterError
        If flows are unfinished: completion times would be too good.
    """
    run = finished_run(scenario, recovery=recovery, replica_delay_s=replica_delay_s, seed=seed, engine=engine)
    return columns_of(run)


def finished_run(
    scenario: dict[str, Any], *, recovery: str, replica_delay_s: float = 0.0, seed: int, engine: str
) -> Result:
    """Return the result of a run, of the arguments of :func:`experiment_run`, in which all flows finish.

    Raises
    ------
    ParameterError
        If flows are unfinished.
    """
    asked = from_dict(scenario).replace(seed=seed)
    scheme = with_recovery(find(asked.scheme), recovery)
    if replica_delay_s:
        scheme = with_late_replicas(scheme, replica_delay_s)
    result = simulate(asked, engine=engine, scheme=scheme)
    left = result.summary.unfinished_flows
    require(left == 0, f"{asked.scheme}: {left} flows are unfinished after end_s = {asked.end_s:g} s: let it be more")
    return result


def columns_of(result: Result) -> dict[str, Any]:
    """Return the columns of the table above, for measurements that add others."""
    return summary_row(result) | _all_flows(result) | _short_flows(result)


def _all_flows(result: Result) -> dict[str, float]:
    flows = counted_flows(result.flows, warm_up_s=result.scenario.warm_up_s)
    size_bytes, total = flows["flow_bytes"].astype(float), flows.sum(numeric_only=True)
    carries_all = flows["subflows"] if _replicates(result) else pd.Series(1, index=flows.index)
    return {
        "mean_fct_s": float(flows["fct_s"].mean()),
        "mean_slowdown_long": float(flows.loc[~flows["short"], "slowdown"].mean()),
        "lost_ratio": float(total["packets_dropped"] / total["packets_sent"]),
        "copied_ratio": float(((carries_all - 1) * size_bytes).sum() / size_bytes.sum()),
        "copied_sent_ratio": float(((1 - 1 / carries_all) * flows["bytes_sent"]).sum() / size_bytes.sum()),
        "goodput_bps": float(BITS_PER_BYTE * size_bytes.sum() / (flows["start_s"] + flows["fct_s"]).max()),
    }


def _replicates(result: Result) -> bool:
    """Return whether each subflow of a flow carries all of it; otherwise they share it."""
    return find(result.scenario.scheme).short.sharing.schedule is None


def _short_flows(result: Result) -> dict[str, float]:
    """Return the columns of short flows; NaN where there are none."""
    short = finished_flows(result.flows, warm_up_s=result.scenario.warm_up_s, kind="short")
    total = short.sum(numeric_only=True)
    sent = float(total["packets_sent"]) or np.nan
    quantiles = {name: float(fct_percentile_s(short, percent)) for name, percent in FCT_PERCENTILES.items()}
    return {
        "timeouts_short": float(total["timeouts"]),
        "lost_ratio_short": float(total["packets_dropped"] / sent),
        "reordered_ratio_short": float(total["reordered_packets"] / sent),
    } | quantiles
