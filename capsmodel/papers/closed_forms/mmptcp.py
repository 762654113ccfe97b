"""Claims and printed numbers of MMPTCP that a closed form or its own tables decide."""

import numpy as np

from capsmodel.multipath.subflows import cross_pod_prob, subflow_minimum_window_share
from capsmodel.papers.index import Claim
from capsmodel.papers.printed_numbers import computes
from capsmodel.papers.verdicts import Verdict, by_size, by_truth, cell, judges
from capsmodel.reordering.dup_acks import (
    dup_ack_threshold_fat_tree,
    limited_transmit_segments,
    packets_before_first_loss,
)

_LOSSES = np.array([0.001, 0.01, 0.1, 0.5])


@judges("mmptcp-s24-19")
def threshold_across_pods(claim: Claim) -> Verdict:
    """16 core paths: a fat-tree of 8 pods."""
    return by_size(claim, dup_ack_threshold_fat_tree(8, location="core"), "8 pods have 16 paths between pods")


@judges("mmptcp-s24-3")
def threshold_in_a_rack(claim: Claim) -> Verdict:
    """Both hosts on one access switch."""
    return by_size(claim, dup_ack_threshold_fat_tree(8, location="access"), "one path")


@judges("mmptcp-s24-18")
def limited_transmit(claim: Claim) -> Verdict:
    """Segments below the threshold."""
    return by_size(claim, limited_transmit_segments(19), "one for each duplicate ACK below the threshold")


@judges("mmptcp-fn2")
def first_loss_on_any_path(claim: Claim) -> Verdict:
    """Compare a formula with the mean taken from the tail."""
    gap = footnote2_identity()
    return by_truth(claim, gap < 1e-12, gap, "largest relative difference to the sum of P(min > m), four p, n = 2..16")


@computes("mmptcp-fn2")
def footnote2_identity() -> float:
    """E[min] = sum over m >= 0 of P(no loss on any of n paths in m packets)."""
    tail = np.arange(20_000)
    gaps = [
        abs(np.sum((1 - p) ** (n * tail)) / packets_before_first_loss(n, loss_prob=p) - 1)
        for p in _LOSSES
        for n in (2, 4, 16)
    ]
    return float(max(gaps))


@computes("mmptcp-dup")
def threshold_of_sixteen_paths() -> float:
    """Three plus sixteen."""
    return float(dup_ack_threshold_fat_tree(8))


@computes("mmptcp-lt")
def segments_below_nineteen() -> float:
    """Limited Transmit."""
    return float(limited_transmit_segments(19))


def _reduction(before: float, after: float) -> float:
    return 100 * (before - after) / before


@computes("mmptcp-t1-100")
def gain_at_100_mbps() -> float:
    """From Table 1."""
    return _reduction(cell("mmptcp-t1-100-mptcp-fct"), cell("mmptcp-t1-100-mmptcp-fct"))


@computes("mmptcp-t1-1000")
def gain_at_1_gbps() -> float:
    """From Table 1."""
    return _reduction(cell("mmptcp-t1-1000-mptcp-fct"), cell("mmptcp-t1-1000-mmptcp-fct"))


@computes("mmptcp-t1-5x")
def quotient_of_gains() -> float:
    """Gain at 1 Gbps over gain at 100 Mbps."""
    return gain_at_1_gbps() / gain_at_100_mbps()


@computes("mmptcp-t3-gp")
def goodput_gap() -> float:
    """From Table 3."""
    return cell("mmptcp-t3-mmptcp-gp") - cell("mmptcp-t3-ps_tcp-gp")


@computes("mmptcp-t3-ut")
def utilisation_gap() -> float:
    """From Table 3, in percentage points."""
    return cell("mmptcp-t3-mmptcp-util") - cell("mmptcp-t3-ps_tcp-util")


@computes("mmptcp-t3-all")
def lowest_core_loss() -> bool:
    """Whether no scheme of Table 3 loses less."""
    others = ("ps", "ps_tcp", "tcp", "mptcp")
    return all(cell("mmptcp-t3-mmptcp-loss") < cell(f"mmptcp-t3-{scheme}-loss") for scheme in others)


@computes("mmptcp-t4-min")
def best_threshold() -> float:
    """From Table 4."""
    return float(min(range(3, 24), key=lambda threshold: cell(f"mmptcp-t4-d{threshold}-fct")))


@computes("mmptcp-lt-split")
def server_split() -> tuple[float, float]:
    """Of 256 servers."""
    return 100 * 135 / 256, 100 * 121 / 256


@computes("mmptcp-t7-rounds20")
def bursts_of_twenty() -> float:
    """Completed flows over parallel flows."""
    return cell("mmptcp-t7-20-tcp-done") / 20


@computes("mmptcp-t7-rounds40")
def bursts_of_forty() -> float:
    """Completed flows over parallel flows."""
    return cell("mmptcp-t7-40-tcp-done") / 40


@computes("mmptcp-t7-feas")
def table7_is_feasible() -> bool:
    """|mean - median| <= deviation holds for every distribution."""
    rows = [f"mmptcp-t7-{n}-{scheme}" for n in (20, 40, 100) for scheme in ("mmptcp", "mmptcp_lt", "tcp", "mptcp")]
    return all(abs(cell(f"{row}-mean") - cell(f"{row}-med")) <= cell(f"{row}-sd") for row in rows)


@computes("mmptcp-t8-li")
def table8_scenario() -> bool:
    """Whether the LI row has the goodput and utilisation of Table 3."""
    return all(cell(f"mmptcp-t8-li-{what}") == cell(f"mmptcp-t3-mmptcp-{what}") for what in ("fct", "gp", "util"))


@computes("mmptcp-t8-2x")
def fully_coupled_loss() -> float:
    """From Table 8."""
    return cell("mmptcp-t8-fc-loss") / cell("mmptcp-t8-li-loss")


@computes("mmptcp-perm")
def flows_across_pods() -> float:
    """128 hosts in 8 pods."""
    return float(100 * cross_pod_prob(8, hosts_per_pod=16))


@computes("mmptcp-ss5")
def slow_start_flight() -> float:
    """Doubling from one packet."""
    return 2.0**4


@computes("mmptcp-bdp")
def minimum_windows() -> float:
    """Eight subflows of two packets."""
    return float(subflow_minimum_window_share(8, bdp_packets=30))


@computes("mmptcp-k8")
def hosts_by_oversubscription() -> tuple[float, float, float]:
    """K^3/4 hosts, times the oversubscription."""
    hosts = 8**3 / 4
    return hosts, 2 * hosts, 4 * hosts
