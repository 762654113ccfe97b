"""A run in the numbers that the papers report."""

from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from capsim.fct import counted_flows, finished_flows, nearest_rank
from capsmodel.units import BITS_PER_BYTE


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
        The flows table of a result (:mod:`capsim.schema`).
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
