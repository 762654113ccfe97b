"""Claims of RepFlow that its model or its own tables decide.

The figures name no loads: 0.1 to 0.8 as in the paper's simulations. The sizes have the web search distribution of its
reference [4]; flows count in packets of 1500 B and have at least one. The byte share of short flows is the paper's.
"""

from functools import cache
from typing import Any

import numpy as np

from capsmodel.checks import FloatArray
from capsmodel.experiments.words import SIGNIFICANTLY
from capsmodel.fct.completion import mean_fct, tail_fct
from capsmodel.fct.long_flows import mean_fct_long, tail_fct_long
from capsmodel.fct.replication import effective_load, short_byte_share
from capsmodel.papers.index import Claim
from capsmodel.papers.verdicts import (
    Verdict,
    by_closeness,
    by_order,
    by_range,
    by_size,
    by_trend,
    by_value,
    cell,
    judged_by_value,
    judges,
)
from capsmodel.workloads.catalogue import PacketSizes, load_workload

LOADS = np.arange(1, 9) / 10
BYTE_SHARE = 0.05
PACKET_BYTES = 1500
KIBIBYTE = 1024  # the paper's KB: 64 KB are 44 and 100 KB are 68 packets only so
REPLICATED: dict[str, Any] = {"replicas": 2, "short_byte_share": BYTE_SHARE}


@cache
def web_search() -> PacketSizes:
    """Return the web search distribution in packets."""
    return load_workload("websearch").in_packets(PACKET_BYTES)


def _reduction(before: FloatArray, after: FloatArray) -> FloatArray:
    return 100 * (1 - after / before)


@judges("repflow-f4")
def short_mean_gain(claim: Claim) -> Verdict:
    """Fig. 4."""
    single, double = mean_fct(LOADS, sizes=web_search()), mean_fct(LOADS, sizes=web_search(), **REPLICATED)
    text = "substantial taken as more than 10%, loads 0.1 to 0.8; the model breaks even at 0.907"
    return by_order(claim, double, single, text, size=SIGNIFICANTLY)


@judges("repflow-f6")
def short_tail_gain(claim: Claim) -> Verdict:
    """Fig. 6."""
    single, double = tail_fct(LOADS, sizes=web_search()), tail_fct(LOADS, sizes=web_search(), **REPLICATED)
    return by_range(
        claim,
        _reduction(single, double),
        "loads 0.1 to 0.8; the least gain is that at load 0.8; about 40 to 70%, taken with 5% at both ends",
    )


@judges("repflow-s4d")
def summary_gain(claim: Claim) -> Verdict:
    """Section IV-D claims both mean and tail; the mean decides."""
    single, double = mean_fct(LOADS, sizes=web_search()), mean_fct(LOADS, sizes=web_search(), **REPLICATED)
    text = "reduction of the mean at loads 0.1 to 0.8; no size distribution on 1 to 68 packets gives more than 44.7%"
    return by_range(claim, _reduction(single, double), text)


@judges("repflow-f5")
def long_mean_cost(claim: Claim) -> Verdict:
    """Fig. 5."""
    single, double = mean_fct_long(LOADS, sizes=web_search()), mean_fct_long(LOADS, sizes=web_search(), **REPLICATED)
    return by_closeness(claim, double, single, "mild taken as within 10%, loads 0.1 to 0.8: 3.5% at 0.5, 20.8% at 0.8")


@judges("repflow-f7")
def long_tail_cost(claim: Claim) -> Verdict:
    """Fig. 7."""
    single, double = tail_fct_long(LOADS, sizes=web_search()), tail_fct_long(LOADS, sizes=web_search(), **REPLICATED)
    return by_closeness(claim, double, single, "not penalised taken as within 10%, loads 0.1 to 0.8")


@judges("repflow-f7-ls")
def long_against_short_tail(claim: Claim) -> Verdict:
    """Fig. 7 against Fig. 6, without replication."""
    long, short = tail_fct_long(LOADS, sizes=web_search()), tail_fct(LOADS, sizes=web_search())
    return by_order(claim, long, short, "loads 0.1 to 0.8, without replication")


@judges("repflow-eps")
def web_search_byte_share(claim: Claim) -> Verdict:
    """Section IV-B takes 0.05."""
    measured_pct = np.mean([cell(f"repflow-t3-web-{load:.1f}") for load in LOADS])
    text = f"byte share of flows up to 68 packets in the web search distribution; {measured_pct:.2f}% in Table III"
    return by_size(claim, short_byte_share(web_search()), text)


@judges("repflow-s4b-gap")
def load_gap(claim: Claim) -> Verdict:
    """Relative to the load, as the paper's own 1 - (1+eps)^2 rho for short flows."""
    gap = 1 - effective_load(LOADS, short_byte_share=BYTE_SHARE) / LOADS
    return by_trend(claim, gap, "relative gap 1 - (1+eps)^2 rho, loads 0.1 to 0.8; the absolute gap peaks at 0.4535")


@judged_by_value("repflow-M", f"64 KB of {KIBIBYTE} B in packets of {PACKET_BYTES} B, rounded up")
def burst_packets() -> float:
    """Table II: 64 KB in packets."""
    return float(np.ceil(64 * KIBIBYTE / PACKET_BYTES))


@judged_by_value("repflow-SL", f"KB of {KIBIBYTE} B; {1e5 / PACKET_BYTES:.1f} for KB of 1000 B")
def threshold_packets() -> float:
    """Table II: 100 KB in packets."""
    return 100 * KIBIBYTE / PACKET_BYTES


@judged_by_value("repflow-k", "model and simulations differ: 12 packets and 12 KB")
def simulated_window_packets() -> float:
    """Section V: 12 KB in packets."""
    return 12 * KIBIBYTE / PACKET_BYTES


# A fat-tree of K pods: 16 in Section V, 4 in Section VI.
_FAT_TREES = {
    "repflow-ft-hosts": (16**3 / 4, "K^3/4 for K = 16"),
    "repflow-ft-core": ((16 / 2) ** 2, "(K/2)^2 for K = 16"),
    "repflow-ft-paths": ((16 / 2) ** 2, "(K/2)^2 for K = 16: one through each core switch"),
    "repflow-mn-hosts": (4**3 / 4, "K^3/4 for K = 4"),
    "repflow-mn-switches": (5 * 4**2 / 4, "5 K^2/4 for K = 4: edge, aggregation and core"),
}


@judges(*_FAT_TREES)
def fat_tree(claim: Claim) -> Verdict:
    """Sections V and VI."""
    return by_size(claim, *_FAT_TREES[claim.id])


@judges("repflow-t1-mean", "repflow-t1-tail")
def table1_gain(claim: Claim) -> Verdict:
    """Table I beside its caption."""
    column = {"repflow-t1-mean": "mean", "repflow-t1-tail": "p99"}[claim.id]
    gain = 100 * (1 - cell(f"repflow-t1-repl-{column}") / cell(f"repflow-t1-long-{column}"))
    return by_value(claim, gain, "from the two cells of Table I")


@judges("repflow-t1-10x-mean", "repflow-t1-10x-p99")
def table1_slow_down(claim: Claim) -> Verdict:
    """Table I beside Section III-A."""
    column = claim.id.removeprefix("repflow-t1-10x-")
    ratio = cell(f"repflow-t1-long-{column}") / cell(f"repflow-t1-none-{column}")
    return by_size(claim, ratio, "quotient of the two cells of Table I")
