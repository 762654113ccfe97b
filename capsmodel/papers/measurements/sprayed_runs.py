r"""One run of an experiment of CDCPS in one row: what ``experiment_run`` has, and what spraying does to TCP.

========================================= =========================== ============================
Quantity                                  Column                      Unit
========================================= =========================== ============================
99th percentile of all flows              `p99_fct_s`                 s, by nearest rank
runs of more than 3 duplicate ACKs        `long_dup_ack_run_ratio`    1, over data packets sent
mean congestion window                    `cwnd_packets`              packets, cdcps Fig. 3(b)
========================================= =========================== ============================

Counted are runs of duplicate acknowledgements that reordering made and no loss (cdcps, Section III-A: "events caused by
out-of-order packets to all packets"). The window is the mean over sampled flows of their mean windows; it is there
where the scenario samples any.
"""

from typing import Any

from capsim.results.fct import counted_flows
from capsmodel.experiments.measurement import measurement
from capsmodel.metrics import percentile
from capsmodel.papers.measurements.experiment_runs import columns_of, finished_run
from capsmodel.papers.measurements.head_of_line import mean_windows_packets

__all__ = ["sprayed_run"]


@measurement("sprayed-run", revision=2)
def sprayed_run(
    scenario: dict[str, Any], *, recovery: str = "newreno", seed: int, engine: str = "compiled"
) -> dict[str, Any]:
    """Simulate a scenario.

    Parameters
    ----------
    scenario, recovery, seed, engine
        As of :func:`~capsmodel.papers.measurements.experiment_runs.experiment_run`.

    Returns
    -------
    dict
        Its columns and those of the table above.

    Raises
    ------
    ParameterError
        If flows are unfinished.
    """
    result = finished_run(scenario, recovery=recovery, seed=seed, engine=engine)
    flows = counted_flows(result.flows, warm_up_s=result.scenario.warm_up_s)
    more = {
        "p99_fct_s": float(percentile(flows["fct_s"], q=0.99)),
        "long_dup_ack_run_ratio": float(flows["long_dup_ack_runs"].sum() / flows["packets_sent"].sum()),
    }
    if result.scenario.probes is not None:
        more["cwnd_packets"] = float(mean_windows_packets(result).mean())
    return columns_of(result) | more
