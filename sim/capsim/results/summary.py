"""Figures of a run: of all flows, of the links of each layer, of collective operations.

=============== ============================================================ ====
Quantity        Definition                                                   Unit
=============== ============================================================ ====
`loss_ratio`    packets refused, evicted or lost with the link, over offered 1
`utilisation`   bits sent over what all links of the layer can send          1
=============== ============================================================ ====
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsim.fabric.collectives import Collective
from capsim.results.fct import nearest_rank
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


BY_OPERATION = (
    *("traffic_entry", "algorithm", "iteration", "group", "hosts", "vector_bytes"),
    *("start_s", "completion_s", "bus_bandwidth_bps"),
)


def by_operation(flows: pd.DataFrame, traffic: Sequence[Any], *, n_hosts: int) -> pd.DataFrame:
    """Return one row for each collective operation: traffic entry, iteration, group.

    Parameters
    ----------
    flows : DataFrame
        The flows table of a result.
    traffic : sequence
        The traffic entries of its scenario.
    n_hosts : int
        Hosts of its fabric.

    Returns
    -------
    DataFrame
        With the columns `BY_OPERATION`: `completion_s` from the first message of an operation until the last is
        received, and `bus_bandwidth_bps`, the bits that each host has to send (:mod:`capsim.fabric.collectives`) over
        it. Both are NaN where a message is not finished, and `start_s` is infinite
        where none began.
    """
    tables = [pd.DataFrame({name: [] for name in BY_OPERATION})]
    for position, entry in enumerate(traffic):
        if isinstance(entry, Collective):
            tables.append(
                _of_entry(flows[flows["traffic_entry"] == position], entry, n_hosts).assign(traffic_entry=position)
            )
    return pd.concat(tables[1:] or tables, ignore_index=True)[list(BY_OPERATION)]


def _of_entry(flows: pd.DataFrame, entry: Collective, n_hosts: int) -> pd.DataFrame:
    n = entry.group_hosts(n_hosts)
    iteration, group = entry.place(flows["input_row"].to_numpy(np.int64), n)
    begun, done = flows["start_s"], (flows["start_s"] + flows["fct_s"]).where(flows["finished"], np.inf)
    table = pd.DataFrame({"iteration": iteration, "group": group, "start_s": begun, "done_s": done})
    rows = table.groupby(["iteration", "group"]).agg({"start_s": "min", "done_s": "max"}).reset_index()
    with np.errstate(invalid="ignore"):  # infinite less infinite
        completion_s = (rows["done_s"] - rows["start_s"]).where(np.isfinite(rows["done_s"]))
    sent_bits = BITS_PER_BYTE * entry.shared_vectors * (n - 1) / n * entry.vector_bytes
    about = {"algorithm": entry.algorithm, "hosts": n, "vector_bytes": entry.vector_bytes}
    return rows.assign(completion_s=completion_s, bus_bandwidth_bps=sent_bits / completion_s, **about)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Figures of one run, over flows that start after the warm-up.

    Attributes
    ----------
    flows, unfinished_flows, short_flows, long_flows : int
        Counts. Completion times are over finished flows: with unfinished ones they are too good.
    unstarted_flows : int
        Of the unfinished ones, those that would have started after the end of the run, or wait for another one.
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


_SUMMED = (
    "reordered_packets",
    "packets_sent",
    "bytes_sent",
    "packets_dropped",
    "retransmissions",
    "fast_retransmits",
    "timeouts",
    "coded_packets",
    "repair_packets",
    "units",
    "units_stalled",
)  # the last four are there with coding
_READ = (
    *(
        "start_s",
        "counted",
        "finished",
        "short",
        "fct_s",
        "slowdown",
        "flow_bytes",
        "delivered_bytes",
        "measured_bytes",
    ),
    *("winner_timeouts", *_SUMMED),
)


def summarise(flows: pd.DataFrame, *, end_s: float, warm_up_s: float = 0.0) -> Summary:
    """Return the summary of a flows table.

    Parameters
    ----------
    flows : DataFrame
        The flows table of a result (:mod:`capsim.base.schema`).
    end_s : float
        Simulated time at the end of the run, in seconds.
    warm_up_s : float
        Goodput of long flows is over the time after it, in seconds.
    """
    all_flows = {name: flows[name].to_numpy() for name in _READ if name in flows}
    counts = all_flows["counted"]
    of = {name: values[counts] for name, values in all_flows.items()}
    total = {name: of[name].sum() for name in _SUMMED if name in of}
    finished, is_short = of["finished"], of["short"]
    short, timed_out = finished & is_short, of["winner_timeouts"] > 0
    started = ~is_short & (of["start_s"] < end_s)
    lasted_s = np.where(finished, of["fct_s"], end_s - of["start_s"])
    sent_bps = BITS_PER_BYTE * of["delivered_bytes"][started] / lasted_s[started]
    return Summary(
        flows=len(finished),
        unfinished_flows=int((~finished).sum()),
        short_flows=int(is_short.sum()),
        long_flows=int((~is_short).sum()),
        unstarted_flows=int((of["start_s"] > end_s).sum()),
        mean_fct_short_s=_mean(of["fct_s"][short]),
        p99_fct_short_s=float(nearest_rank(of["fct_s"][short], 99)),
        timeout_ratio_short=_mean(timed_out[short]),
        mean_fct_short_without_timeouts_s=_mean(of["fct_s"][short & ~timed_out]),
        mean_fct_long_s=_mean(of["fct_s"][finished & ~is_short]),
        mean_slowdown_short=_mean(of["slowdown"][short]),
        p99_slowdown_short=float(nearest_rank(of["slowdown"][short], 99)),
        mean_slowdown=_mean(of["slowdown"][finished]),
        mean_throughput_long_bps=_mean(sent_bps),
        mean_goodput_long_bps=_goodput_long_bps(all_flows, end_s=end_s, warm_up_s=warm_up_s),
        reorder_ratio=_ratio(total["reordered_packets"], total["packets_sent"]),
        packets_dropped=int(total["packets_dropped"]),
        retransmissions=int(total["retransmissions"]),
        fast_retransmits=int(total["fast_retransmits"]),
        timeouts=int(total["timeouts"]),
        coding_overhead=_ratio(
            total.get("repair_packets", 0), total.get("coded_packets", 0) - total.get("repair_packets", 0)
        ),
        stalled_unit_ratio=_ratio(total.get("units_stalled", 0), total.get("units", 0)),
        traffic_ratio=_ratio(total["bytes_sent"], of["flow_bytes"].astype(np.float64).sum()),
    )


def _goodput_long_bps(of: dict[str, Any], *, end_s: float, warm_up_s: float) -> float:
    """Return the mean over long flows of what was delivered since the warm-up over its time."""
    last_s = np.where(of["finished"], of["start_s"] + of["fct_s"], end_s)
    time_s = last_s - of["start_s"].clip(min=warm_up_s)
    there = ~of["short"] & (time_s > 0)
    return _mean(BITS_PER_BYTE * of["measured_bytes"][there] / time_s[there])


def _mean(values: npt.NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _ratio(part: float, whole: float) -> float:
    return float(np.divide(part, whole)) if whole else float("nan")
