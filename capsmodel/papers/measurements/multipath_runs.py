r"""One run of an experiment of DC2-MTCP in one row: its flows over several subflows, without those in the background.

=================================== =============================== ==============================
Quantity                            Column                          Unit
=================================== =============================== ==============================
all fields of the summary           as there                        :class:`capsim.results.summary.Summary`
completion time of short flows      `multipath_fct_short_s`         s, a mean
throughput of long flows            `multipath_throughput_long_bps` bit/s, a mean
short flows without a timeout       `untimed_ratio`                 1
short flows with one at most        `once_timed_ratio`              1
longest time of those without       `longest_untimed_fct_s`         s
coded over original packets         `coded_ratio`                   1, dc2mtcp Table I
same, of short and of long flows    `coded_ratio_short`, ..._long   1
=================================== =============================== ==============================

Flows in the background are those of traffic entries with a stack of their own. Timeouts are those of all subflows of a
flow. Where nothing is coded, or there is no original packet, the ratio of coded ones is 0.
"""

from typing import Any

import pandas as pd

from capsim import Result
from capsim.study.measures import summary_row
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements.experiment_runs import finished_run
from capsmodel.units import BITS_PER_BYTE

__all__ = ["multipath_run"]


@measurement("multipath-run", revision=1)
def multipath_run(
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
        The columns of the table above.

    Raises
    ------
    ParameterError
        If flows are unfinished.
    """
    result = finished_run(scenario, recovery=recovery, seed=seed, engine=engine)
    flows = _multipath_flows(result)
    short, long = flows[flows["short"]], flows[~flows["short"]]
    untimed = short["timeouts"] == 0
    return summary_row(result) | {
        "multipath_fct_short_s": float(short["fct_s"].mean()),
        "multipath_throughput_long_bps": float((BITS_PER_BYTE * long["flow_bytes"] / long["fct_s"]).mean()),
        "untimed_ratio": float(untimed.mean()),
        "once_timed_ratio": float((short["timeouts"] <= 1).mean()),
        "longest_untimed_fct_s": float(short.loc[untimed, "fct_s"].max()),
        "coded_ratio": _coded_ratio(flows),
        "coded_ratio_short": _coded_ratio(short),
        "coded_ratio_long": _coded_ratio(long),
    }


def _multipath_flows(result: Result) -> pd.DataFrame:
    entries = [position for position, entry in enumerate(result.scenario.traffic) if entry.stack is None]
    return result.flows[result.flows["traffic_entry"].isin(entries)]


def _coded_ratio(flows: pd.DataFrame) -> float:
    """Return coded packets over original ones."""
    if "repair_packets" not in flows:
        return 0.0
    coded = int(flows["repair_packets"].sum())
    original = int(flows["coded_packets"].sum()) - coded
    return coded / original if original else 0.0
