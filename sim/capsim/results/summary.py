"""Loss and utilisation of the links of each layer.

=============== ============================================================ ====
Quantity        Definition                                                   Unit
=============== ============================================================ ====
`loss_ratio`    packets refused, evicted or lost with the link, over offered 1
`utilisation`   bits sent over what all links of the layer can send          1
=============== ============================================================ ====
"""

from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from capsim.results.fct import counted_flows, finished_flows, nearest_rank
from capsmodel.units import BITS_PER_BYTE


def by_layer(ports: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each layer of links, such as ``leaf>spine``, over the time since the warm-up.

    Parameters
    ----------
    ports : DataFrame
        The ports table of a result.

    Returns
    -------
    DataFrame
        By layer: number of `ports`; `packets_in` and `packets_dropped` of all of them; `loss_ratio`; `utilisation`, by
        the rates of its links, and `max_utilisation` of one; `mean_queue_packets` of a port.

    Examples
    --------
    >>> rows = {"layer": ["leaf>spine"] * 2, "rate_bps": [1e9, 3e9], "measured_packets_in": [10, 30]}
    >>> measured = {"packets_dropped": [1, 0], "utilisation": [0.4, 0.8], "mean_queue_packets": [1.0, 2.0]}
    >>> ports = pd.DataFrame(rows | {f"measured_{name}": values for name, values in measured.items()})
    >>> by_layer(ports).loc["leaf>spine", ["loss_ratio", "utilisation"]].round(12).tolist()
    [0.025, 0.7]
    """
    carried_bps = ports["measured_utilisation"] * ports["rate_bps"]
    groups = ports.assign(carried_bps=carried_bps).groupby("layer", observed=True, sort=False)
    total = groups[["measured_packets_in", "measured_packets_dropped", "carried_bps", "rate_bps"]].sum(min_count=1)
    return pd.DataFrame(
        {
            "ports": groups.size(),
            "packets_in": total["measured_packets_in"],
            "packets_dropped": total["measured_packets_dropped"],
            "loss_ratio": total["measured_packets_dropped"] / total["measured_packets_in"],
            "utilisation": total["carried_bps"] / total["rate_bps"],
            "max_utilisation": groups["measured_utilisation"].max(),
            "mean_queue_packets": groups["measured_mean_queue_packets"].mean(),
        }
    )


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Figures of one run, over flows that start after the warm-up.

    Attributes
    ----------
    flows, unfinished_flows, short_flows, long_flows : int
        Counts. Completion times are over finished flows: with unfinished ones they are too good.
    unstarted_flows : int
        Of the unfinished ones, those that would have started after the end of the run.
    mean_fct_short_s, p99_fct_short_s, mean_fct_long_s : float
        Completion times at the receiver, in seconds (99th percentile by nearest rank).
    timeout_ratio_short : float
        Finished short flows with at least one timeout over all finished short flows. A timeout costs hundreds of round
        trips, so a mean over both kinds of flow says mostly how large this ratio is. Counted are expiries at the sender
        of the connection that completed the flow (``winner_timeouts``), not those of a slower copy. Included is one
        that came after the receiver had all bytes, which takes the loss of every acknowledgement from then on.
    mean_fct_short_without_timeouts_s : float
        Mean completion time of the other finished short flows, in seconds. These are the luckier flows of the run:
        compare it between schemes only beside the ratio.
    mean_slowdown_short, p99_slowdown_short, mean_slowdown : float
        Completion time over the ideal one, ratios.
    mean_throughput_long_bps : float
        Mean over long flows of delivered payload over its duration, in bit/s; unfinished ones until the end.
    mean_goodput_long_bps : float
        Mean over long flows of the payload delivered since the warm-up over that time, in bit/s: from their start or
        the end of the warm-up until they finish or the run ends. Long flows that started in the warm-up count.
    reorder_ratio : float
        Reordered data packets over data packets sent.
    packets_dropped, retransmissions, fast_retransmits, timeouts : int
        Losses (of data and acknowledgements) and what the transport did, over all connections of the flows.
    coding_overhead : float
        Repair packets over source packets of all coding units, r / k; NaN without coding.
    stalled_unit_ratio : float
        Coding units short of k packets when a retransmission of theirs came, over all; NaN without coding.
    traffic_ratio : float
        Data bytes sent, with headers, copies, retransmissions and repair, over the bytes of the flows.
    """

    flows: int
    unfinished_flows: int
    short_flows: int
    long_flows: int
    unstarted_flows: int
    mean_fct_short_s: float
    p99_fct_short_s: float
    timeout_ratio_short: float
    mean_fct_short_without_timeouts_s: float
    mean_fct_long_s: float
    mean_slowdown_short: float
    p99_slowdown_short: float
    mean_slowdown: float
    mean_throughput_long_bps: float
    mean_goodput_long_bps: float
    reorder_ratio: float
    packets_dropped: int
    retransmissions: int
    fast_retransmits: int
    timeouts: int
    coding_overhead: float
    stalled_unit_ratio: float
    traffic_ratio: float

    def to_dict(self) -> dict[str, float]:
        """Return names and values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def summarise(flows: pd.DataFrame, *, end_s: float, warm_up_s: float = 0.0) -> Summary:
    """Return the summary of a flows table.

    Parameters
    ----------
    flows : DataFrame
        The flows table of a result (:mod:`capsim.base.schema`).
    end_s : float
        Simulated time at the end of the run, in seconds.
    warm_up_s : float
        Flows that start earlier are left out, in seconds.
    """
    counted, done = counted_flows(flows, warm_up_s=warm_up_s), finished_flows(flows, warm_up_s=warm_up_s)
    short, long = done[done["short"]], counted[~counted["short"]]
    timed_out = short["winner_timeouts"] > 0
    started = long[long["start_s"] < end_s]
    duration_s = started["fct_s"].fillna(end_s - started["start_s"])
    totals = counted.sum(numeric_only=True)
    source_packets = totals.get("coded_packets", 0) - totals.get("repair_packets", 0)
    return Summary(
        flows=len(counted),
        unfinished_flows=len(counted) - len(done),
        short_flows=int(counted["short"].sum()),
        long_flows=len(long),
        unstarted_flows=int((counted["start_s"] > end_s).sum()),
        mean_fct_short_s=_mean(short["fct_s"]),
        p99_fct_short_s=float(nearest_rank(short["fct_s"], 99)),
        timeout_ratio_short=_mean(timed_out),
        mean_fct_short_without_timeouts_s=_mean(short.loc[~timed_out, "fct_s"]),
        mean_fct_long_s=_mean(done.loc[~done["short"], "fct_s"]),
        mean_slowdown_short=_mean(short["slowdown"]),
        p99_slowdown_short=float(nearest_rank(short["slowdown"], 99)),
        mean_slowdown=_mean(done["slowdown"]),
        mean_throughput_long_bps=_mean(BITS_PER_BYTE * started["delivered_bytes"] / duration_s),
        mean_goodput_long_bps=_goodput_long_bps(flows, end_s=end_s, warm_up_s=warm_up_s),
        reorder_ratio=_ratio(totals["reordered_packets"], totals["packets_sent"]),
        packets_dropped=int(totals["packets_dropped"]),
        retransmissions=int(totals["retransmissions"]),
        fast_retransmits=int(totals["fast_retransmits"]),
        timeouts=int(totals["timeouts"]),
        coding_overhead=_ratio(totals.get("repair_packets", 0), source_packets),
        stalled_unit_ratio=_ratio(totals.get("units_stalled", 0), totals.get("units", 0)),
        traffic_ratio=_ratio(totals["bytes_sent"], float(counted["flow_bytes"].to_numpy(np.float64).sum())),
    )


def _goodput_long_bps(flows: pd.DataFrame, *, end_s: float, warm_up_s: float) -> float:
    """Return the mean over long flows of what was delivered since the warm-up over its time."""
    long = flows[~flows["short"]]
    begin_s = long["start_s"].clip(lower=warm_up_s)
    last_s = (long["start_s"] + long["fct_s"]).fillna(end_s)
    there = last_s > begin_s
    return _mean(BITS_PER_BYTE * long["measured_bytes"][there] / (last_s - begin_s)[there])


def _mean(values: pd.Series) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _ratio(part: float, whole: float) -> float:
    return float(np.divide(part, whole)) if whole else float("nan")
