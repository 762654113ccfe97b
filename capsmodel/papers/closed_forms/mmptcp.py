"""Claims of MMPTCP that a closed form or its own tables decide."""

import numpy as np

from capsmodel.multipath.subflows import cross_pod_prob, subflow_minimum_window_share
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.verdicts import Computed, Numbers, cell
from capsmodel.reordering.dup_acks import (
    dup_ack_threshold_fat_tree,
    limited_transmit_segments,
    packets_before_first_loss,
)

MIN_WINDOW_PACKETS, SUBFLOWS = 2, 8
_LOSSES = np.array([0.001, 0.01, 0.1, 0.5])


def threshold_across_pods() -> Numbers:
    """16 core paths: a fat-tree of 8 pods."""
    return dup_ack_threshold_fat_tree(8, location="core")


def threshold_in_a_rack() -> Numbers:
    """Both hosts on one access switch."""
    return dup_ack_threshold_fat_tree(8, location="access")


def limited_transmit() -> Numbers:
    """Segments below the threshold."""
    return limited_transmit_segments(19)


def first_loss_on_any_path() -> Computed:
    """Compare a formula with E[min] = sum over m >= 0 of P(no loss on any of n paths in m packets)."""
    tail = np.arange(20_000)
    gap = max(
        abs(float(np.sum((1 - p) ** (n * tail)) / packets_before_first_loss(n, loss_prob=p)) - 1)
        for p in _LOSSES
        for n in (2, 4, 16)
    )
    text = "largest relative difference to the sum of P(min > m) below 1e-12, four p, n = 2..16"
    return Computed(gap < 1e-12, text)


def _gain_pct(rate_mbps: int) -> float:
    """Reduction of the mean completion time by MMPTCP, from Table 1."""
    before, after = (cell(f"mmptcp-t1-{rate_mbps}-{scheme}-fct") for scheme in ("mptcp", "mmptcp"))
    return 100 * (before - after) / before


def gain_of_table_1(claim: PublishedClaim) -> Numbers:
    """Section 3.2 beside Table 1."""
    return _gain_pct(int(claim.id.removeprefix("mmptcp-t1-")))


def quotient_of_gains() -> float:
    """Section 3.2 beside Table 1."""
    return _gain_pct(1000) / _gain_pct(100)


def goodput_gap() -> float:
    """Section 3.3 beside Table 3."""
    return cell("mmptcp-t3-mmptcp-gp") - cell("mmptcp-t3-ps_tcp-gp")


def utilisation_gap() -> Computed:
    """Section 3.3 beside Table 3, in percentage points."""
    best, other = cell("mmptcp-t3-mmptcp-util"), cell("mmptcp-t3-ps_tcp-util")
    text = f"difference of the two cells of Table 3; {1 - other / best:.1%} in relative terms"
    return Computed(best - other, text)


def lowest_core_loss() -> Computed:
    """Section 3.4 beside Table 3: whether every other scheme loses more."""
    schemes = ("mmptcp", "ps", "ps_tcp", "tcp", "mptcp")
    ours, *others = (cell(f"mmptcp-t3-{scheme}-loss") for scheme in schemes)
    holds = all(ours < other for other in others)
    losses = zip(schemes, (ours, *others), strict=True)
    return Computed(holds, ", ".join(f"{name.upper()} {loss:g}%" for name, loss in losses))


def best_threshold() -> float:
    """Section 3.5 beside Table 4."""
    return float(min(range(3, 24), key=lambda threshold: cell(f"mmptcp-t4-d{threshold}-fct")))


def server_split(claim: PublishedClaim) -> Numbers:
    """Section 3.6."""
    return 100 * {"mmptcp-lt-split-long": 135, "mmptcp-lt-split-short": 121}[claim.id] / 256


def table7_is_feasible() -> Computed:
    """Table 7: Mean and median differ by at most the deviation in every distribution."""
    names = [f"mmptcp-t7-{n}-{scheme}" for n in (20, 40, 100) for scheme in ("mmptcp", "mmptcp_lt", "tcp", "mptcp")]
    rows = {name: tuple(cell(f"{name}-{column}") for column in ("mean", "med", "sd")) for name in names}
    wrong = [
        f"{name}: |{mean:g} - {median:g}| > {deviation:g}"
        for name, (mean, median, deviation) in rows.items()
        if abs(mean - median) > deviation
    ]
    return Computed(not wrong, "; ".join(wrong) or "all 12 rows")


def fully_coupled_loss() -> float:
    """Section 3.9 beside Table 8."""
    return cell("mmptcp-t8-fc-loss") / cell("mmptcp-t8-li-loss")


def flows_across_pods() -> float:
    """Section 3.5: 128 hosts in 8 pods."""
    return float(100 * cross_pod_prob(8, hosts_per_pod=16))


def slow_start_flight() -> float:
    """Section 3.5: packets of the fifth round trip."""
    return 2.0**4


def minimum_windows() -> float:
    """Section 3.11."""
    return float(100 * subflow_minimum_window_share(8, bdp_packets=30))


def hosts_by_oversubscription(claim: PublishedClaim) -> Numbers:
    """Section 3: K^3/4 hosts, times the oversubscription."""
    return 8**3 / 4 * int(claim.id.removeprefix("mmptcp-k8-"))


def subflows_over_one_flow() -> Numbers:
    """Section 3.11: 16 packets each round trip over 2, as a subflow has two packets in flight at the least in Linux."""
    return SUBFLOWS * MIN_WINDOW_PACKETS / MIN_WINDOW_PACKETS
