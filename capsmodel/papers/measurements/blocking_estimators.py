"""Estimators of the blocking probability, computed from RTTs of simulated packets, and the true share.

==================================  ====================  =======  ==============================
Quantity                            Column                Unit     Equation
==================================  ====================  =======  ==============================
share of ACKs of blocked packets    blocked_prob          1        what is estimated
RTT above twice the average         twice_average_prob    1        caps u (VI-A, VI-B)
RTT above twice the smoothed RTT    twice_smoothed_prob   1        caps u (IX-C)
RTT above the average               above_average_prob    1        cdcps u (V-B)
time with and without short flows   on_s, off_s           s        caps Fig. 4(a)
RTT over each path                  rtt_s                 s        caps Fig. 4(b)
RTT of packets not blocked          rtt_s                 s        quantiles
==================================  ====================  =======  ==============================

CAPS Fig. 4: short flows sprayed over 40 paths, each long flow on its own path. A packet that was sent to the path of a
long flow counts as blocked. RTTs of all senders of short flows are pooled in sampling periods of 200 us; the first
packets of a segment count, retransmitted ones give no RTT (Karn).

Paths have 1 Gbps and hosts 10 Gbps, so that a long flow queues at the switch port of its path and not in the sending
host. With hosts as fast as paths, the packets of a long flow reach a full queue at the moments of its departures: each
takes the place that has just become free, and every packet of a short flow is lost (the phase effect of Floyd and
Jacobson, 1992). The minimum RTO is 10 ms, since a long flow that waits for a timeout blocks no packet.
"""

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from capsim import Batch, OnOff, ParallelPaths, Poisson, Result, Scenario, Trace, scheme, simulate
from capsim.fabric.traffic import AnyTraffic
from capsim.run.coding_units import PINNED
from capsmodel.checks import choice, require
from capsmodel.coding.blocking import (
    blocking_prob_above_average,
    blocking_prob_twice_average,
    blocking_prob_twice_smoothed,
)
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements._packets import HEADER_BYTES, MSS_BYTES, PACKET_BYTES

__all__ = [
    "BASE_RTT_S",
    "PATHS",
    "first_packets",
    "full_wait_s",
    "in_periods",
    "on_off_periods",
    "path_rtts",
    "rtt_of_paths",
    "run_sprayed",
    "sampling_periods",
    "usual_rtts",
]

Paths = Literal["with a long flow", "without"]
PATHS = 40
PERIOD_S = 200e-6
_RATE_BPS, _HOST_RATE_BPS = 1e9, 10e9
_PACKET_S = 8 * PACKET_BYTES / _RATE_BPS
BASE_RTT_S = 100e-6 + 8 * (PACKET_BYTES + HEADER_BYTES) * (1 / _RATE_BPS + 2 / _HOST_RATE_BPS)
"""Round-trip time of a full packet and its acknowledgement where nothing is queued, in seconds."""
_FEWEST_ACKS = 20
_SETTLE_S = 0.01
_MODE_PERIOD_S = 500e-6

SHORT_SPRAYED = replace(
    scheme("ecmp"),
    name="short_sprayed",
    summary="sprayed short flows, each long flow on its own path",
    balancer=PINNED.balancer,
)


def full_wait_s(buffer_packets: int) -> float:
    """Return the wait behind a full buffer of packets of 1500 bytes and one in service, in seconds."""
    return (buffer_packets + 1) * _PACKET_S


def run_sprayed(
    traffic: str,
    *,
    long_flows: int,
    seed: int,
    duration_s: float = 0.12,
    buffer_packets: int = 256,
    engine: str = "compiled",
) -> Result:
    """Simulate short flows beside long ones, with the packet trace.

    Parameters
    ----------
    traffic : str
        ``"static"``, a Poisson process of 10 000 flows a second, which load the paths to a tenth; ``"bursty"``, bursts
        of 100 flows at once, 10 ms apart in the mean; or ``"on-off"``, 100 flows in ON periods of 1 ms, 30 ms apart.
        Sizes are uniform below 100 KB.
    long_flows : int
        Long flows, at most 40, each on its own path and in congestion avoidance when the short ones start: their start
        times are random over one cycle from loss to loss, and they leave slow start at half of the window that fills
        path and buffer.
    seed : int
        Seed of the run.
    duration_s : float
        How long short flows are measured, in seconds.
    buffer_packets : int
        Buffer of each switch port, packets.
    engine : str
        ``"compiled"`` or ``"reference"``.
    """
    full_s = BASE_RTT_S + full_wait_s(buffer_packets)
    # A window grows by a packet each RTT, and its RTT with it: from half to full it takes this long.
    cycle_s = (full_s**2 - (full_s / 2) ** 2) / (2 * _PACKET_S)
    sending_s = _SETTLE_S + duration_s
    # As many hosts as paths: the balancer sends the long flow of host h over path h, so no two share one.
    fabric = ParallelPaths(
        paths=PATHS, hosts_per_side=PATHS, rate_bps=_RATE_BPS, host_rate_bps=_HOST_RATE_BPS,
        delay_s=50e-6 / 3, buffer_packets=buffer_packets,
    )  # fmt: skip
    scenario = Scenario(
        fabric=fabric,
        traffic=(*_long(long_flows, cycle_s), _short(traffic, sending_s, skip_hosts=long_flows, start_s=cycle_s)),
        params={"transport": {"min_rto_s": 10e-3, "initial_ssthresh_bytes": int(full_s / 2 / _PACKET_S) * MSS_BYTES}},
        trace="packets",
        seed=seed,
        end_s=cycle_s + sending_s,
    )
    return simulate(scenario, scheme=SHORT_SPRAYED, engine=engine, progress=None)


def _long(flows: int, spread_s: float) -> tuple[AnyTraffic, ...]:
    endless = Batch(flows=flows or None, hosts=flows or None, flow_bytes=10**9, spread_s=spread_s, pairs="sides")
    return (endless,) if flows else ()


def _short(traffic: str, duration_s: float, **where: Any) -> AnyTraffic:
    sizes: dict[str, Any] = {"pairs": "sides", "min_bytes": 1, "max_bytes": 99_999} | where
    apart_s = {"bursty": 10e-3, "on-off": 30e-3}
    bursts = {"bursts": max(1, round(duration_s / apart_s.get(traffic, 1.0))), "flows_per_burst": 100} | sizes
    kinds: dict[str, AnyTraffic] = {
        "static": Poisson(flows_per_s=10_000.0, duration_s=duration_s, **sizes),
        "bursty": OnOff(mean_on_s=0.0, mean_off_s=apart_s["bursty"], **bursts),
        "on-off": OnOff(mean_on_s=1e-3, mean_off_s=apart_s["on-off"], **bursts),
    }
    require(traffic in kinds, f"traffic = {traffic!r}: choose from {', '.join(kinds)}")
    return kinds[traffic]


def first_packets(result: Result) -> pd.DataFrame:
    """Return a row for each data packet of short flows that was sent the first time.

    Parameters
    ----------
    result : Result
        Of a run with ``trace="packets"``.

    Returns
    -------
    pandas.DataFrame
        `subflow`, `segment`, `sent_s`, `time_s` of its ACK at the sender and `rtt_s`, in seconds; NaN if none came.
    """
    short, trace, key = result.flows["short"].to_numpy(), Trace.of(result), ["subflow", "segment"]
    left, came = (lines[short[lines["flow"]]] for lines in (trace.sent("data"), trace.arrived("ack")))
    sent = left[[*key, "time_s"]].drop_duplicates(key).rename(columns={"time_s": "sent_s"})
    acks = came.loc[came["flags"] & 1 == 0, [*key, "time_s"]].drop_duplicates(key)
    rows = sent.merge(acks, on=key, how="left")
    return rows.assign(rtt_s=rows["time_s"] - rows["sent_s"])


def _packets(traffic: str, **setting: Any) -> pd.DataFrame:
    """Return the first packets that count, with their path, from 0, and whether they were blocked."""
    result = run_sprayed(traffic, **setting)
    rows = Trace.of(result).at("left>right", packet="data")
    rows = rows[rows["event"] != "arrived"]
    long = result.flows.loc[~result.flows["short"], "flow"]
    held = rows.loc[rows["flow"].isin(long), "path"].unique()
    key = ["subflow", "segment"]
    packets = first_packets(result).merge(rows.drop_duplicates(key)[[*key, "path"]], on=key)
    begin_s = result.flows.loc[result.flows["short"], "start_s"].min() + _SETTLE_S
    counted: pd.DataFrame = packets[packets["sent_s"] >= begin_s]
    return counted.assign(blocked=counted["path"].isin(held))


def in_periods(packets: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each sampling period of 200 us with 20 ACKs or more: each estimate, and the RTTs.

    Parameters
    ----------
    packets : DataFrame
        As from :func:`first_packets`, all of one run.

    Returns
    -------
    pandas.DataFrame
        `time_s`, its start; `acks_packets`; `rtt_average_s` and `rtt_smoothed_s`, in seconds; the three estimates.
        The smoothed RTT includes every period, also those with fewer ACKs, and starts as the first average.
    """
    rows, smoothed_s = [], 0.0
    acked = packets.dropna().sort_values("time_s")
    numbers, begin = np.unique((acked["time_s"] // PERIOD_S).astype(int), return_index=True)
    columns = {name: np.split(acked[name].to_numpy(), begin[1:]) for name in ("rtt_s", "blocked") if name in acked}
    for place, (number, rtts_s) in enumerate(zip(numbers, columns["rtt_s"], strict=True)):
        smoothed, updated_s = blocking_prob_twice_smoothed(rtts_s, smoothed_rtt_s=smoothed_s or float(rtts_s.mean()))
        smoothed_s = float(updated_s)
        if len(rtts_s) < _FEWEST_ACKS:
            continue
        row = {
            "time_s": number * PERIOD_S,
            "acks_packets": len(rtts_s),
            "rtt_average_s": rtts_s.mean(),
            "rtt_smoothed_s": smoothed_s,
            "twice_average_prob": blocking_prob_twice_average(rtts_s),
            "twice_smoothed_prob": smoothed,
            "above_average_prob": blocking_prob_above_average(rtts_s),
        }
        rows.append(row | ({"blocked_prob": columns["blocked"][place].mean()} if "blocked" in columns else {}))
    return pd.DataFrame(rows)


@measurement("sampling-periods", revision=1)
def sampling_periods(traffic: str, **setting: Any) -> pd.DataFrame:
    """Simulate :func:`run_sprayed` of the same arguments; return a row for each sampling period with 20 ACKs or more.

    Returns
    -------
    pandas.DataFrame
        The columns of :func:`in_periods` and `blocked_prob`, the share of its ACKs whose packets were blocked.
    """
    return in_periods(_packets(traffic, **setting))


@measurement("path-rtts", revision=1)
def path_rtts(traffic: str, **setting: Any) -> pd.DataFrame:
    """Simulate :func:`run_sprayed` of the same arguments and return a row for each path.

    Returns
    -------
    pandas.DataFrame
        `path`; `blocked`, whether it carries a long flow; `sent_packets`, first packets of short flows sent to it;
        `acked_packets`, of these acknowledged; `rtt_s`, the mean of their RTTs, in seconds.
    """
    paths = _packets(traffic, **setting).groupby("path")
    columns = {
        "blocked": paths["blocked"].first(),
        "sent_packets": paths.size(),
        "acked_packets": paths["rtt_s"].count(),
        "rtt_s": paths["rtt_s"].mean(),
    }
    return pd.DataFrame(columns).reset_index().astype({"path": np.int64})


@measurement("rtt-of-paths", revision=1)
def rtt_of_paths(traffic: str, *, paths: Paths, **setting: Any) -> dict[str, float]:
    """Simulate likewise and return one number for all paths of a kind.

    Parameters
    ----------
    traffic, setting
        As :func:`run_sprayed`.
    paths : str
        ``with a long flow`` or ``without``: which paths `rtt_s` is the mean of.

    Returns
    -------
    dict
        `rtt_s`, the mean over these paths of the mean RTT of each, in seconds; `large_rtt_prob`, the share of all paths
        whose mean RTT is above twice the mean over all, as Section VI-A of CAPS counts.
    """
    choice("paths", paths, get_args(Paths))
    rtts = path_rtts(traffic, **setting)
    chosen = rtts["blocked"] == (paths == "with a long flow")
    large = rtts["rtt_s"] > 2 * rtts["rtt_s"].mean()
    return {"rtt_s": float(rtts.loc[chosen, "rtt_s"].mean()), "large_rtt_prob": float(large.mean())}


@measurement("on-off-periods", revision=1)
def on_off_periods(traffic: str, **setting: Any) -> pd.DataFrame:
    """Simulate :func:`run_sprayed` of the same arguments and return a row for each ON period but the last.

    An interval of 500 us is ON if a packet of a short flow comes to the first switch, as CAPS samples it (Algorithm 1).

    Returns
    -------
    pandas.DataFrame
        `on_s`, the length of a run of such intervals, and `off_s`, that of the others up to the next, in seconds.
    """
    result = run_sprayed(traffic, **setting)
    came, short = Trace.of(result).at("host>left", event="arrived", packet="data"), result.flows["short"].to_numpy()
    on = np.unique(came.loc[short[came["flow"]], "time_s"] // _MODE_PERIOD_S)
    begin = np.flatnonzero(np.diff(on, prepend=-np.inf) > 1)
    lengths = np.diff(begin)
    return pd.DataFrame({"on_s": lengths, "off_s": np.diff(on[begin]) - lengths}) * _MODE_PERIOD_S


@measurement("usual-rtts", revision=1)
def usual_rtts(traffic: str, **setting: Any) -> pd.DataFrame:
    """Simulate :func:`run_sprayed` of the same arguments and return the distribution of the RTT of packets not blocked.

    Returns
    -------
    pandas.DataFrame
        100 equally likely values `rtt_s`, the quantiles at 0.005, 0.015, ..., 0.995, in seconds.
    """
    packets = _packets(traffic, **setting)
    probs = (np.arange(100) + 0.5) / 100
    return pd.DataFrame({"rtt_s": np.quantile(packets.loc[~packets["blocked"], "rtt_s"].dropna(), probs)})
