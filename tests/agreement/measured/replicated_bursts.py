r"""RepFlow's short flows in packets: bursts on parallel paths, bursts on a fat-tree, web search on a fat-tree.

================================== ============================== ================================= ===================
Quantity                           Column                         Unit                              Equation
================================== ============================== ================================= ===================
completion time of short flows     `slowdown`                     1, over that alone on one path    repflow Eq. 5, 6
its excess over an idle fabric     `wait_packets`                 packet times                      repflow Eq. 1
it is longer than the printed tail `beyond_printed_prob`          1                                 repflow Eq. 11, 12
it is longer than the exact tail   `beyond_exact_prob`            1                                 beyond repflow
wait of the first copy             `copy_wait_packets`            packet times                      repflow Eq. 1
wait of the faster copy            `faster_wait_packets`          packet times                      repflow u (IV-B)
faster of copies of two flows      `unrelated_wait_packets`       packet times                      independence
correlation of the copies' waits   `copies_correlation`           1                                 independence
================================== ============================== ================================= ===================

In the settings of bursts flows of 12 packets, 5% of the bytes, are short, and all others are bursts of 44 packets.
The initial window holds a whole flow and buffers are infinite, so flows are delayed only by queueing.

- ``parallel-paths``: sixteen queues as in the model, chosen by hashing; hosts are a thousand times faster;
- ``fat-tree``: four pods, all links of the same rate, all flows to another pod. Copies share the links of their hosts;
- ``fat-tree-8-pods``: 16 paths between hosts in place of 4;
- ``fat-tree-fast-hosts``: four pods whose hosts are a thousand times faster. Copies share links only where they hash to
  the same ones.
"""

from typing import Any

import numpy as np
import pandas as pd

from capsim import FatTree, ParallelPaths, Poisson, Result, Scenario, simulate
from capsim.fabric.flows import flow_list
from capsim.fabric.kinds import AnyFabric
from capsim.results.ideal import ideal_fct_s
from capsmodel.experiments.measurement import measurement
from capsmodel.fct.completion import tail_fct
from capsmodel.fct.slow_start import BURST_PACKETS, WINDOW_PACKETS
from capsmodel.papers.measurements._packets import MSS_BYTES, require_nothing_lost
from capsmodel.papers.measurements.means import batch_columns
from capsmodel.workloads.catalogue import PacketSizes

__all__ = [
    "MSS_BYTES",
    "ONE_ROUND",
    "PATHS",
    "SHORT_BYTE_SHARE",
    "burst_flows",
    "run_bursts",
    "web_search_flows",
]

SHORT_BYTE_SHARE = 0.05
"""RepFlow's ε, Section IV-B."""
ONE_ROUND = PacketSizes.fixed(WINDOW_PACKETS)
"""Sizes of short flows: the whole flow leaves at once."""
PATHS = 16
_PACKET_S = 12e-6  # 1500 B at 1 Gbps
_MIN_RTO_S = 0.2
_WARM_UP = 0.05
_ENDLESS: dict[str, Any] = {"delay_s": 0.0, "buffer_packets": 10**6}
_FAST_BPS = 1e12
_FABRICS: dict[str, AnyFabric] = {
    "parallel-paths": ParallelPaths(paths=PATHS, hosts_per_side=4, host_rate_bps=_FAST_BPS, **_ENDLESS),
    "fat-tree": FatTree(pods=4, **_ENDLESS),
    "fat-tree-8-pods": FatTree(pods=8, **_ENDLESS),
    "fat-tree-fast-hosts": FatTree(pods=4, host_rate_bps=_FAST_BPS, **_ENDLESS),
}


def run_bursts(
    load: float, *, fabric: str, scheme: str, short_flows: int, seed: int, engine: str = "compiled"
) -> Result:
    """Simulate bursts and short flows.

    Parameters
    ----------
    load : float
        Load of each link between switches, by packets with headers and before replication, in (0, 1).
    fabric : str
        ``parallel-paths``, ``fat-tree``, ``fat-tree-8-pods`` or ``fat-tree-fast-hosts``.
    scheme : str
        ``ecmp`` sends one copy, ``repflow`` two.
    short_flows : int
        Short flows on average; there are about five bursts for each.
    seed : int
        Seed of the run.
    engine : str
        ``compiled`` or ``reference``.

    Raises
    ------
    ParameterError
        If a flow is not finished, times out or loses a packet: the setting is no longer that of the model.
    """
    kind = _FABRICS[fabric]
    # A fat-tree has as many links on each level as hosts.
    links, pairs = (kind.node_counts()[0], "other-pod") if isinstance(kind, FatTree) else (PATHS, "sides")
    packets_per_s = links * load / _PACKET_S
    short_per_s = packets_per_s * SHORT_BYTE_SHARE / WINDOW_PACKETS
    long_per_s = packets_per_s * (1 - SHORT_BYTE_SHARE) / BURST_PACKETS
    lasts: dict[str, Any] = {"pairs": pairs, "duration_s": short_flows / short_per_s}
    scenario = Scenario(
        scheme=scheme,
        fabric=kind,
        traffic=(
            Poisson(flow_bytes=WINDOW_PACKETS * MSS_BYTES, flows_per_s=short_per_s, **lasts),
            Poisson(flow_bytes=BURST_PACKETS * MSS_BYTES, flows_per_s=long_per_s, **lasts),
        ),
        short_bytes=WINDOW_PACKETS * MSS_BYTES,
        params={"transport": {"initial_window_packets": BURST_PACKETS, "min_rto_s": 10.0, "initial_rto_s": 10.0}},
        seed=seed,
        end_s=1e3,
    )
    result = simulate(scenario, engine=engine)
    require_nothing_lost(result, load=load)
    return result


def _beside_one_path(result: Result) -> pd.DataFrame:
    """Return the flows with the ideal time and the slowdown of the model, where a flow keeps to one path."""
    flows, transport = result.flows, result.manifest["parameters"]["scheme"]["long"]["transport"]
    alone_s = ideal_fct_s(
        flow_list(flows["src"], flows["dst"], flow_bytes=flows["flow_bytes"], start_s=flows["start_s"]),
        result.scenario.fabric.build(),
        mss_bytes=transport["mss_bytes"],
        header_bytes=transport["header_bytes"],
        one_path=True,
    )
    return flows.assign(ideal_fct_s=alone_s, slowdown=flows["fct_s"] / alone_s)


def _copies(result: Result, flows: pd.DataFrame) -> dict[str, float]:
    """Return the waits of the two copies of each short flow, paired within a flow and across flows."""
    subs = result.raw.subs
    start_s, ideal_s, short = (flows[name].to_numpy()[subs["flow"]] for name in ("start_s", "ideal_fct_s", "short"))
    lasted_s = subs["received_ps"] / 1e12 - start_s - ideal_s
    waits = lasted_s[short].reshape(-1, 2) / _PACKET_S
    first, second = waits[int(_WARM_UP * len(waits)) :].T
    return {
        "copy_wait_packets": float(first.mean()),
        "faster_wait_packets": float(np.minimum(first, second).mean()),
        "unrelated_wait_packets": float(np.minimum(first, np.roll(second, len(second) // 2)).mean()),
        "copies_correlation": float(np.corrcoef(first, second)[0, 1]),
    }


@measurement("burst-flows", revision=1)
def burst_flows(
    load: float, *, fabric: str, scheme: str, short_flows: int, seed: int, engine: str = "compiled"
) -> dict[str, float]:
    """Measure the short flows of :func:`run_bursts`, and with two copies how independent they are.

    Parameters
    ----------
    load, fabric, scheme, short_flows, seed, engine
        As :func:`run_bursts`.

    Returns
    -------
    dict
        The columns above, the first four by :func:`~capsmodel.papers.measurements.means.batch_columns`; those
        of the copies for ``repflow`` alone and without an error: compare them over seeds.

    Notes
    -----
    The first twentieth is warm-up. Thresholds are :func:`capsmodel.fct.completion.tail_fct` for as many copies, with
    the printed and with the exact quantile. Copies of two flows that are half a run apart serve as independent copies.
    """
    result = run_bursts(load, fabric=fabric, scheme=scheme, short_flows=short_flows, seed=seed, engine=engine)
    found = _beside_one_path(result)
    flows = found[found["short"]]
    kept = flows[int(_WARM_UP * len(flows)) :]
    replicas = int(kept["subflows"].iloc[0])
    model: dict[str, Any] = {
        "sizes": PacketSizes.fixed(WINDOW_PACKETS),
        "replicas": replicas,
        "short_byte_share": SHORT_BYTE_SHARE,
    }
    columns = batch_columns(
        slowdown=kept["slowdown"],
        wait_packets=(kept["fct_s"] - kept["ideal_fct_s"]) / _PACKET_S,
        beyond_printed_prob=kept["slowdown"] > tail_fct(load, **model),
        beyond_exact_prob=kept["slowdown"] > tail_fct(load, **model, tail="exact"),
    )
    return columns | (_copies(result, found) if replicas == 2 else {})


@measurement("web-search-flows", revision=1)
def web_search_flows(load: float, *, scheme: str, flows: int, seed: int, engine: str = "compiled") -> dict[str, float]:
    """Measure short flows of the web search on a fat-tree of four pods, with NewReno and 100-packet buffers.

    Parameters
    ----------
    load : float
        Load of the host links, in (0, 1).
    scheme : str
        ``ecmp`` sends one copy of a short flow, ``repflow`` two.
    flows : int
        Flows in all; the first twentieth of the short ones is warm-up.
    seed : int
        Seed of the run.
    engine : str
        ``compiled`` or ``reference``.

    Returns
    -------
    dict
        `slowdown`, mean over short flows; `smooth_slowdown`, over those that last shorter than the least timeout of
        200 ms; `timed_out_ratio`, the share of the others. One run is one observation: with heavy tails several seeds
        are needed.

    Notes
    -----
    Buffers are RepFlow's (Section V-B), links have its 32 µs of round trip, and windows start at 12 packets as in its
    model.
    """
    scenario = Scenario(
        scheme=scheme,
        fabric=FatTree(pods=4, delay_s=8e-6 / 3, buffer_packets=100),
        traffic=(Poisson(workload="websearch", load=load, flows=flows),),
        params={"transport": {"initial_window_packets": WINDOW_PACKETS, "min_rto_s": _MIN_RTO_S}},
        seed=seed,
        end_s=1e3,
    )
    found = _beside_one_path(simulate(scenario, engine=engine))
    short: pd.DataFrame = found[found["short"]]
    kept = short[int(_WARM_UP * len(short)) :]
    timed_out = kept["fct_s"] > _MIN_RTO_S
    return {
        "slowdown": float(kept["slowdown"].mean()),
        "smooth_slowdown": float(kept.loc[~timed_out, "slowdown"].mean()),
        "timed_out_ratio": float(timed_out.mean()),
    }
