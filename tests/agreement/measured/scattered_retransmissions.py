r"""Flows whose packets are scattered over paths of two delays, and that take late packets for lost: how often, and why.

============================================================= ======= ======================== =======
Quantity                                                      Symbol  Column                   Unit
============================================================= ======= ======================== =======
flows with a fast retransmission                              --      ``retransmitting_flows`` flows
packets of a flow with an extent that reaches the rule's      --      ``late_packets``         packets
threshold, 3 plus the number of paths
============================================================= ======= ======================== =======

All packets of a flow leave back to back, none is lost, and a packet on a slow path arrives after all on fast ones. So
each fast retransmission is unnecessary. A flow starts when the fabric is empty again. The extent of reordering is that
of RFC 4737: how many packets have arrived since the first that was sent later.
"""

import pandas as pd

from capsim import LinkChange, Listed, ParallelPaths, Probes, Result, Scenario, simulate
from capsim.results.tables import EXTENT
from capsmodel.checks import require
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements._packets import MSS_BYTES
from capsmodel.papers.measurements.means import replicate_columns
from capsmodel.reordering.dup_acks import dup_ack_threshold_leaf_spine

__all__ = ["NEVER", "scattered_retransmissions"]

NEVER = 10_000
"""A threshold that no flow reaches."""
_RATE_BPS, _DELAY_S, _SLOWER_S, _APART_S = 1e9, 1e-6, 5e-3, 0.05
_BATCHES = 20


def _simulated(
    scheme: str, flow_packets: int, paths: int, slow_paths: int, flows: int, seed: int, threshold: int, engine: str
) -> Result:
    slow = tuple(
        LinkChange(between=("left", "right"), one_way=True, parallel=path + 1, delay_s=_DELAY_S + _SLOWER_S)
        for path in range(slow_paths)
    )
    scenario = Scenario(
        scheme=scheme,
        fabric=ParallelPaths(paths=paths, hosts_per_side=1, rate_bps=_RATE_BPS, delay_s=_DELAY_S, links=slow),
        traffic=(Listed(flows=tuple((0, 1, flow_packets * MSS_BYTES, _APART_S * i) for i in range(flows))),),
        params={"transport": {"initial_window_packets": flow_packets, "dup_ack_threshold": threshold}},
        probes=Probes(histograms=True),
        seed=seed,
        end_s=_APART_S * flows + 1.0,
    )
    return simulate(scenario, engine=engine)


@measurement("scattered-retransmissions", revision=1)
def scattered_retransmissions(
    scheme: str,
    *,
    flow_packets: int,
    paths: int,
    slow_paths: int,
    flows: int,
    seed: int,
    dup_ack_threshold: int = 3,
    engine: str = "compiled",
) -> dict[str, float]:
    """Send equal flows over paths of which some are slow, one flow after the other, and count fast retransmissions.

    Parameters
    ----------
    scheme : str
        ``ps`` or ``mmptcp``, whose flows of less than 100 kB are scattered; ``rps``, which has no rule for thresholds.
    flow_packets : int
        Size of each flow, packets.
    paths, slow_paths : int
        All paths, and how many of them are slow.
    flows : int
        How many flows are sent, in 20 runs.
    seed : int
        Seed of the first run; the next runs have the next ones times 1000.
    dup_ack_threshold : int
        Threshold to which the scheme adds the number of paths; `NEVER` counts without retransmissions.
    engine : str
        ``compiled`` or ``reference``.

    Returns
    -------
    dict
        ``flows`` and ``retransmitting_flows``; mean of ``late_packets`` over the runs with its error.

    Raises
    ------
    ParameterError
        If a packet was lost or a timer expired, or the threshold of the rule lies within a bin of the histogram.

    Examples
    --------
    >>> setting = {"flow_packets": 12, "paths": 5, "slow_paths": 1, "flows": 100, "engine": "reference"}
    >>> found = scattered_retransmissions("ps", **setting, seed=1)
    >>> found["flows"], 20 < found["retransmitting_flows"] < 60
    (100, True)
    """
    least = dup_ack_threshold_leaf_spine(paths)
    late, retransmitting = [], 0
    for run in range(_BATCHES):
        result = _simulated(
            scheme, flow_packets, paths, slow_paths, flows // _BATCHES, seed + 1000 * run, dup_ack_threshold, engine
        )
        found = result.flows
        lost = found[["timeouts", "packets_dropped"]].to_numpy().any() or not found["finished"].all()
        require(not lost, "packets were lost or a timer expired: choose a shorter delay")
        retransmitting += int((found["fast_retransmits"] > 0).sum())
        late.append(_packets_beyond(result.histograms, least) / len(found))
    return {
        "flows": flows // _BATCHES * _BATCHES,
        "retransmitting_flows": retransmitting,
        **replicate_columns(late_packets=late),
    }


def _packets_beyond(histograms: pd.DataFrame, least: float) -> int:
    """Return how many packets have an extent of at least so many packets."""
    extents = histograms[histograms["quantity"] == EXTENT]
    within = (extents["least"] < least) & (extents["below"] > least)
    require(not within.any(), f"an extent of {least:g} packets is not at the edge of a bin: take 5, 9, 13 or 21 paths")
    return int(extents["count"][extents["least"] >= least].sum())
