"""Short flows sprayed beside long ones: waiting times of their packets in switches, reordering, and windows.

================================== ============== ======= ==============
Quantity                           Column         Unit    Equation
================================== ============== ======= ==============
wait in the queues of the switches queueing_delay s       caps Fig. 1(b)
of this, before the paths          path_wait      s       M/D/1
share of packets overtaken         reordered      1       caps Fig. 2(a)
mean congestion window             cwnd           packets caps Fig. 2(b)
completion time                    fct            s       caps Fig. 2(c)
================================== ============== ======= ==============

The set-up is the preset ``caps-fig1``; its notes list what the paper leaves open and what was chosen.
"""

from typing import Any

import msgspec
import numpy as np
import pandas as pd

from capsim import Probes, Result, Scenario, load_scenario, simulate
from capsim.study.metrics import FCT_PERCENTILES, mean_windows_packets
from capsmodel.experiments.measurement import measurement

__all__ = ["short_flows"]

_PROBE_PERIOD_S = 20e-6


@measurement("head-of-line-short-flows", revision=1)
def short_flows(long_flows: int, *, seed: int, spread_s: float = 1e-4, engine: str = "compiled") -> dict[str, float]:
    """Simulate the preset ``caps-fig1`` and return measurements of its short flows.

    Parameters
    ----------
    long_flows : int
        4, or 0 for short flows alone; the short flows are the same.
    seed : int
        Seed of the run.
    spread_s : float
        Time over which the starts of the short flows are uniform, in seconds; 1e-4 in the preset.
    engine : str
        ``"compiled"`` or ``"reference"``.

    Returns
    -------
    dict
        Means over short flows: `flow_bytes`; `queueing_delay_s`, the mean over data packets of their waits at both
        switches; `path_wait_s`, at the first of them, before the paths; `cwnd_packets`, the mean window from the start
        until the last acknowledgement; `fct_s`. Then `reordered_ratio`, packets overtaken by one sent later over all
        sent, and the quantiles `fct_p05_s`, `fct_p10_s`, ..., `fct_p95_s` of the completion time.
    """
    result = simulate(_scenario(long_flows, spread_s, seed), engine=engine, progress=None)
    short = result.flows[result.flows["short"]].set_index("flow")
    waits = packet_waits_s(result)
    at_switch = waits[waits["flow"].isin(short.index) & waits["layer"].isin(["left>right", "right>host"])]
    path_waits_s = at_switch[at_switch["layer"] == "left>right"].groupby("flow")["wait_s"]
    queueing_s = at_switch.groupby("flow")["wait_s"].sum() / path_waits_s.count()
    row: dict[str, Any] = {
        "flow_bytes": short["flow_bytes"].mean(),
        "queueing_delay_s": queueing_s.mean(),
        "path_wait_s": path_waits_s.mean().mean(),
        "cwnd_packets": mean_windows_packets(result)[short.index].mean(),
        "reordered_ratio": short["reordered_packets"].sum() / short["packets_sent"].sum(),
        "fct_s": short["fct_s"].mean(),
    }
    row |= {column: short["fct_s"].quantile(percent / 100) for column, percent in FCT_PERCENTILES.items()}
    return {column: float(value) for column, value in row.items()}


def _scenario(long_flows: int, spread_s: float, seed: int) -> Scenario:
    base = load_scenario("caps-fig1")
    short, long = base.traffic
    beside = (msgspec.structs.replace(long, flows=long_flows),) if long_flows else ()
    return base.replace(
        traffic=(msgspec.structs.replace(short, spread_s=spread_s), *beside),
        probes=Probes(period_s=_PROBE_PERIOD_S, fields=("sub.cwnd_bytes", "sub.inflation_bytes"), flows="all"),
        trace="packets",
        seed=seed,
    )


def packet_waits_s(result: Result) -> pd.DataFrame:
    """Return, for each data packet at each port, the wait before its first bit leaves, in seconds.

    Read off the packet trace: a port is first in, first out, so the n-th packet that was queued there is the n-th to
    arrive at the far end.

    Parameters
    ----------
    result : Result
        Of a run with ``trace="packets"``, drop-tail queues and links that stay up.

    Returns
    -------
    pandas.DataFrame
        `flow`, `port` (its name, categorical), `layer` and `wait_s`.
    """
    data = result.trace.loc[
        result.trace["packet"] == "data", ["event", "port", "layer", "flow", "time_s", "packet_bytes"]
    ]
    data = data.assign(turn=data.groupby(["event", "port"], observed=True).cumcount())
    came, queued = (data[data["event"] == event].drop(columns="event") for event in ("arrived", "enqueued"))
    pairs = came.merge(queued, on=["port", "turn", "flow", "packet_bytes"], suffixes=("", "_in"))
    ports, codes = pairs["port"].cat.categories, pairs["port"].cat.codes
    rate_bps, delay_s = (result.ports.set_index("name")[column].reindex(ports) for column in ("rate_bps", "delay_s"))
    on_link_s = 8 * pairs["packet_bytes"] / rate_bps.to_numpy()[codes] + delay_s.to_numpy()[codes]
    wait_s = np.maximum(pairs["time_s"] - pairs["time_s_in"] - on_link_s, 0.0)  # rounding can leave -1e-15
    return pairs[["flow", "port", "layer"]].assign(wait_s=wait_s)
