r"""One run of an experiment of MMPTCP in one row: what its tables and figures print.

=================================== ================================= =====
Quantity                            Column                            Unit
=================================== ================================= =====
completion time of short flows      `mean_fct_short_s`                s
its spread over flows               `fct_short_std_s`                 s
its percentiles                     `p50_fct_short_s`, ...            s
99th percentile, all ended flows    `p99_fct_s`                       s
goodput of long flows               `mean_throughput_long_bps`        bit/s
its spread over flows               `throughput_long_std_bps`         bit/s
use of links down from the core     `core_utilisation`                1
packets lost there, over offered    `core_loss_ratio`                 1
same, links down to the hosts       `access_loss_ratio`               1
short flows, and those that ended   `short_flows`, `completed_short`  1
timeouts of short flows             `timeouts_short`                  1
short flows with a timeout          `timed_out_short`                 1
fast retransmits of short flows     `fast_retransmits_short`          1
what they sent again needlessly     `spurious_short`                  1
flows by number of events           `flows_with_1_fast_retx`, ...     1
packets that fully crossed a link   `traversals`                      1
=================================== ================================= =====

A run ends while long flows still send. Short flows that have not ended by then have no completion time and are left
out, as in the paper, whose tables say how many ended. The paper does not define a completion time. The authors' code
takes it at the sender, from the SYN-ACK to the last acknowledgement: a lost SYN costs nothing there. At the receiver it
is from the first SYN to the last byte. Behind the queues of long flows a handshake takes some 5 ms; of `mptcp_ns3` the
sender may learn several timeouts later that all has arrived.
"""

from typing import Any, Literal, get_args

import pandas as pd

from capsim import Result, simulate
from capsim.results.fct import fct_percentile_s, finished_flows
from capsim.scenario.scenario import from_dict
from capsmodel.checks import choice
from capsmodel.experiments.measurement import measurement
from capsmodel.units import BITS_PER_BYTE

__all__ = ["mmptcp_run"]

CORE, ACCESS = "core>agg", "edge>host"
"""Layers of links that the paper calls core and access: the authors' code counts at the switch above."""
PERCENTS = (50, 75, 99)
CompletionTime = Literal["sender", "receiver"]


@measurement("mmptcp-run", revision=1)
def mmptcp_run(
    scenario: dict[str, Any], *, seed: int, completion_time: CompletionTime = "receiver", engine: str = "compiled"
) -> dict[str, float]:
    """Simulate a scenario on a fat-tree.

    Parameters
    ----------
    scenario : dict
        As :meth:`capsim.Scenario.to_dict` gives it; its seed is not used.
    seed : int
        Seed of the run.
    completion_time : str
        ``"sender"`` or ``"receiver"``: where it is taken, as above.
    engine : str
        ``"compiled"`` or ``"reference"``.

    Returns
    -------
    dict
        The columns of the table above.
    """
    choice("completion_time", completion_time, get_args(CompletionTime))
    result = simulate(from_dict(scenario).replace(seed=seed), engine=engine)
    short = result.flows[result.flows["short"]]
    timed = _at_the_sender(result.flows) if completion_time == "sender" else result.flows
    return _completion_times(timed) | _long_flows(result) | _layers(result) | _events(short)


def _at_the_sender(flows: pd.DataFrame) -> pd.DataFrame:
    """Return flows with the completion times of the authors' code, finished where all is acknowledged."""
    times_s = flows["start_s"] + flows["acked_fct_s"] - flows["established_s"]
    return flows.assign(fct_s=times_s, finished=times_s.notna())


def _completion_times(flows: pd.DataFrame) -> dict[str, float]:
    short_s = finished_flows(flows, warm_up_s=0.0, kind="short")["fct_s"]
    percentiles = {f"p{one}_fct_short_s": float(fct_percentile_s(flows, one, kind="short")) for one in PERCENTS}
    return {
        "mean_fct_short_s": float(short_s.mean()),
        "fct_short_std_s": float(short_s.std(ddof=0)),
        "completed_short": float(len(short_s)),
        "p99_fct_s": float(fct_percentile_s(flows, 99)),
    } | percentiles


def _long_flows(result: Result) -> dict[str, float]:
    long, end_s = result.flows[~result.flows["short"]], result.resources.simulated_s
    duration_s = long["fct_s"].fillna(end_s - long["start_s"])
    rates_bps = BITS_PER_BYTE * long["delivered_bytes"] / duration_s
    return {
        "mean_throughput_long_bps": float(rates_bps.mean()),
        "throughput_long_std_bps": float(rates_bps.std(ddof=0)),
    }


def _layers(result: Result) -> dict[str, float]:
    utilisation, loss_ratio = (result.layers[name] for name in ("utilisation", "loss_ratio"))
    return {
        "core_utilisation": float(utilisation[CORE]),
        "core_loss_ratio": float(loss_ratio[CORE]),
        "access_loss_ratio": float(loss_ratio[ACCESS]),
        "traversals": float(result.resources.traversals),
    }


def _events(short: pd.DataFrame) -> dict[str, float]:
    """Return how often short flows timed out or sent again, and how many did so how often."""
    timeouts, fast = short["timeouts"], short["fast_retransmits"]
    counts = {
        "short_flows": len(short),
        "timeouts_short": timeouts.sum(),
        "timed_out_short": (timeouts > 0).sum(),
        "fast_retransmits_short": fast.sum(),
        "spurious_short": short["spurious_retransmissions"].sum(),
        "flows_without_timeout": (timeouts == 0).sum(),
        "flows_with_fewer_than_2_timeouts": (timeouts < 2).sum(),
        "flows_with_more_than_2_timeouts": (timeouts > 2).sum(),
        "flows_with_more_than_20_timeouts": (timeouts > 20).sum(),
        "flows_with_0_fast_retx": (fast == 0).sum(),
        "flows_with_1_fast_retx": (fast == 1).sum(),
    }
    return {name: float(value) for name, value in counts.items()}
