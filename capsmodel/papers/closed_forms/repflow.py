"""Claims of RepFlow that its model or its own tables decide.

The figures name no loads: 0.1 to 0.8 as in the paper's simulations. The sizes have the web search distribution of its
reference [4]; flows count in packets of 1500 B and have at least one. The byte share of short flows is the paper's.
"""

from functools import cache
from typing import Any

import numpy as np

from capsmodel.checks import FloatArray
from capsmodel.fct.completion import mean_fct, tail_fct
from capsmodel.fct.long_flows import mean_fct_long, tail_fct_long
from capsmodel.fct.replication import effective_load, short_byte_share
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.verdicts import Computed, Numbers, cell
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


def short_mean_gain() -> Numbers:
    """Fig. 4."""
    single, double = mean_fct(LOADS, sizes=web_search()), mean_fct(LOADS, sizes=web_search(), **REPLICATED)
    return double, single


def short_tail_gain() -> Numbers:
    """Fig. 6."""
    single, double = tail_fct(LOADS, sizes=web_search()), tail_fct(LOADS, sizes=web_search(), **REPLICATED)
    return _reduction(single, double)


def summary_gain() -> Numbers:
    """Section IV-D claims both mean and tail; the mean decides."""
    single, double = mean_fct(LOADS, sizes=web_search()), mean_fct(LOADS, sizes=web_search(), **REPLICATED)
    return _reduction(single, double)


def long_mean_cost() -> Numbers:
    """Fig. 5."""
    single, double = mean_fct_long(LOADS, sizes=web_search()), mean_fct_long(LOADS, sizes=web_search(), **REPLICATED)
    return double, single


def long_tail_cost() -> Numbers:
    """Fig. 7."""
    single, double = tail_fct_long(LOADS, sizes=web_search()), tail_fct_long(LOADS, sizes=web_search(), **REPLICATED)
    return double, single


def long_against_short_tail() -> Numbers:
    """Fig. 7 against Fig. 6, without replication."""
    long, short = tail_fct_long(LOADS, sizes=web_search()), tail_fct(LOADS, sizes=web_search())
    return long, short


def web_search_byte_share() -> Computed:
    """Section IV-B takes 0.05."""
    measured_pct = np.mean([cell(f"repflow-t3-web-{load:.1f}") for load in LOADS])
    text = f"byte share of flows up to 68 packets in the web search distribution; {measured_pct:.2f}% in Table III"
    return Computed(short_byte_share(web_search()), text)


def load_gap() -> Numbers:
    """Relative to the load, as the paper's own 1 - (1+eps)^2 rho for short flows."""
    return 1 - effective_load(LOADS, short_byte_share=BYTE_SHARE) / LOADS


def burst_packets() -> float:
    """Table II: 64 KB in packets."""
    return float(np.ceil(64 * KIBIBYTE / PACKET_BYTES))


def threshold_packets() -> float:
    """Table II: 100 KB in packets."""
    return 100 * KIBIBYTE / PACKET_BYTES


def simulated_window_packets() -> float:
    """Section V: 12 KB in packets."""
    return 12 * KIBIBYTE / PACKET_BYTES


# A fat-tree of K pods: 16 in Section V, 4 in Section VI.
_FAT_TREES = {
    "repflow-ft-hosts": 16**3 / 4,
    "repflow-ft-core": (16 / 2) ** 2,
    "repflow-ft-paths": (16 / 2) ** 2,
    "repflow-mn-hosts": 4**3 / 4,
    "repflow-mn-switches": 5 * 4**2 / 4,
}


def fat_tree(claim: PublishedClaim) -> Numbers:
    """Sections V and VI."""
    return _FAT_TREES[claim.id]


def table1_gain(claim: PublishedClaim) -> Numbers:
    """Table I beside its caption."""
    column = {"repflow-t1-mean": "mean", "repflow-t1-tail": "p99"}[claim.id]
    return 100 * (1 - cell(f"repflow-t1-repl-{column}") / cell(f"repflow-t1-long-{column}"))


def table1_slow_down(claim: PublishedClaim) -> Numbers:
    """Table I beside Section III-A."""
    column = claim.id.removeprefix("repflow-t1-10x-")
    return cell(f"repflow-t1-long-{column}") / cell(f"repflow-t1-none-{column}")
