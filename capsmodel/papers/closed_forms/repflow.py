"""Claims and printed numbers of RepFlow that its model or its own tables decide.

The figures name no loads: 0.1 to 0.8 as in the paper's simulations. The size law is the web search distribution of its
reference [4]; flows count in packets of 1500 B and have at least one. The byte share of short flows is the paper's.
"""

from functools import cache
from typing import Any

import numpy as np

from capsmodel.checks import FloatArray
from capsmodel.fct.completion import mean_fct, mean_fct_long, tail_fct, tail_fct_long
from capsmodel.fct.replication import effective_load, short_byte_share
from capsmodel.papers.index import Claim
from capsmodel.papers.printed_numbers import computes
from capsmodel.papers.verdicts import (
    SIGNIFICANTLY,
    Verdict,
    by_closeness,
    by_order,
    by_range,
    by_size,
    by_trend,
    cell,
    judges,
)
from capsmodel.queueing.mg1 import effective_bandwidth_wait_quantile, mg1_mean_wait
from capsmodel.workloads.catalogue import PacketSizes, load_workload

LOADS = np.arange(1, 9) / 10
BYTE_SHARE = 0.05
PACKET_BYTES = 1500
KIBIBYTE = 1024  # the paper's KB: 64 KB are 44 and 100 KB are 68 packets only so
REPLICATED: dict[str, Any] = {"replicas": 2, "short_byte_share": BYTE_SHARE}


@cache
def web_search() -> PacketSizes:
    """Return the web search law in packets."""
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
    """Section IV-D speaks of mean and tail; the mean is the binding one."""
    single, double = mean_fct(LOADS, sizes=web_search()), mean_fct(LOADS, sizes=web_search(), **REPLICATED)
    text = "reduction of the mean at loads 0.1 to 0.8; no size law on 1 to 68 packets gives more than 44.7%"
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
    share = short_byte_share(web_search())
    return by_size(claim, share, "byte share of flows up to 68 packets in the web search law; Table III measured 0.033")


@judges("repflow-s4b-gap")
def load_gap(claim: Claim) -> Verdict:
    """Relative to the load, as the paper's own 1 - (1+eps)^2 rho for short flows."""
    gap = 1 - effective_load(LOADS, short_byte_share=BYTE_SHARE) / LOADS
    return by_trend(claim, gap, "relative gap 1 - (1+eps)^2 rho, loads 0.1 to 0.8; the absolute gap peaks at 0.4535")


@computes("repflow-M")
def burst_packets() -> float:
    """64 KB in packets, rounded up."""
    return float(np.ceil(64 * KIBIBYTE / PACKET_BYTES))


@computes("repflow-SL")
def border_packets() -> float:
    """100 KB in packets."""
    return 100 * KIBIBYTE / PACKET_BYTES


@computes("repflow-k")
def simulated_window_packets() -> float:
    """12 KB in packets."""
    return 12 * KIBIBYTE / PACKET_BYTES


@computes("repflow-ft")
def fat_tree_of_sixteen() -> tuple[float, float, float]:
    """Hosts, core switches, paths between pods."""
    return 16**3 / 4, 8**2, 8**2


@computes("repflow-mn")
def fat_tree_of_four() -> tuple[float, float]:
    """Hosts and switches."""
    return 4**3 / 4, 5 * 4**2 / 4


@computes("repflow-t1-mean")
def table1_mean_gain() -> float:
    """From Table I."""
    return 100 * (1 - cell("repflow-t1-repl-mean") / cell("repflow-t1-long-mean"))


@computes("repflow-t1-tail")
def table1_tail_gain() -> float:
    """From Table I."""
    return 100 * (1 - cell("repflow-t1-repl-p99") / cell("repflow-t1-long-p99"))


@computes("repflow-t1-10x")
def table1_slow_down() -> tuple[float, float]:
    """From Table I."""
    mean, tail = (cell(f"repflow-t1-long-{q}") / cell(f"repflow-t1-none-{q}") for q in ("mean", "p99"))
    return mean, tail


@computes("repflow-eq10")
def eq10_identity() -> float:
    """Both sides of Eq. 10, for bursts of 44 packets."""
    moments = {"mean_service": 44.0, "second_moment_service": 44.0**2}
    quantile = effective_bandwidth_wait_quantile(0.99, load=LOADS, **moments)
    return float(np.max(np.abs(quantile / (2 * np.log(10) * mg1_mean_wait(LOADS, **moments)) - 1)))


@computes("repflow-eq7")
def eq7_identity() -> float:
    """Both sides of Eq. 7."""
    printed = LOADS / (2 * (1 - LOADS)) + 1
    return float(np.max(np.abs(mean_fct_long(LOADS, sizes=web_search()) / printed - 1)))


def _extreme_gains(completion: Any) -> tuple[float, float]:
    """Reductions lie between those of laws that hold all short flows at 1 or at 68 packets: both integrals do."""
    gains = [
        _reduction(completion(LOADS, sizes=law), completion(LOADS, sizes=law, **REPLICATED))
        for law in (PacketSizes.fixed(1), PacketSizes.fixed(68))
    ]
    return float(np.min(gains)), float(np.max(gains))


@computes("repflow-fig46")
def mean_gain_bounds() -> tuple[float, float]:
    """Over all size laws."""
    return _extreme_gains(mean_fct)


@computes("repflow-fig46-tail")
def tail_gain_bounds() -> tuple[float, float]:
    """Over all size laws."""
    return _extreme_gains(tail_fct)


@computes("repflow-long")
def long_mean_increase() -> FloatArray:
    """Eq. 8 over Eq. 7."""
    loads = np.array([0.2, 0.5, 0.8, 0.9])
    single, double = mean_fct_long(loads, sizes=web_search()), mean_fct_long(loads, sizes=web_search(), **REPLICATED)
    return np.asarray(100 * (double / single - 1))


@computes("repflow-t3")
def table3_overhead() -> float:
    """From Table III, web search."""
    return float(np.mean([cell(f"repflow-t3-web-{load:.1f}") for load in LOADS]))
