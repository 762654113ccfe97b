"""Claims of DC2-MTCP that a closed form or its own tables decide."""

import numpy as np

from capsim.study.claims.relations import Says
from capsmodel.checks import FloatArray
from capsmodel.experiments.words import ROUNDING
from capsmodel.multipath.coded_transport import coded_option_bytes
from capsmodel.multipath.coding_schedule import MAX_MIXED_PACKETS
from capsmodel.multipath.lia import best_path_rate_per_s, lia_equilibrium_windows
from capsmodel.multipath.sawtooth import SINGLE_PATH_SHARE, lia_mean_windows
from capsmodel.multipath.timeouts import coded_fct_s, reorder_buffer_bits, retransmitted_fct_s, timeout_prob
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.verdicts import Computed, Numbers, cell

RTO_S = 0.2
SPAN_PACKETS = 60
ACKNOWLEDGED = (33, *range(35, 80))  # Fig. 3
# (loss, RTT in ms) of each path; the cap of LIA binds on the first path of the last two connections.
CONNECTIONS = (
    ((0.01, 0.02), (1.0, 2.0)),
    ((0.2, 0.02, 0.005), (0.5, 2.0, 4.0)),
    ((0.02, 0.67), (100.0, 1.0)),
    ((0.001, 0.3, 0.4), (50.0, 1.0, 0.9)),
)


def uncoded_example() -> Numbers:
    """Fig. 1a: the lost packet is retransmitted on its subflow of 4 ms."""
    return 1e3 * float(retransmitted_fct_s(RTO_S, rtt_s=4e-3))


def coded_example() -> Numbers:
    """Fig. 1a: the coded packet goes on the subflow of 1 ms."""
    return 1e3 * float(coded_fct_s(1e-3))


def unacknowledged() -> Numbers:
    """Fig. 3: the span less the packets that the text lists as acknowledged."""
    return SPAN_PACKETS - len(ACKNOWLEDGED)


def reorder_buffer() -> Numbers:
    """Section IV-B."""
    return float(reorder_buffer_bits([10e9] * 8, rtts_s=1.5e-3)) / 1e6


def rate_bound() -> Computed:
    """Eq. 9: no more than one TCP on the best path, at the equilibrium and where all windows follow a sawtooth."""
    equilibrium, sawtooth = rate_over_best_path(), sawtooth_rate_over_tcp()
    says = Says.statement(lambda ratio: ratio.value <= 1 + ROUNDING)
    text = (
        "an equality at every equilibrium, also where LIA is capped; windows that halve at each loss take more than "
        f"one TCP, whose window halves too: {sawtooth[0]:.2f} to {sawtooth[-1]:.2f} times as much on 2 to 8 identical "
        "paths"
    )
    shown = (float(equilibrium.max()), float(sawtooth.max()))
    return Computed(np.concatenate([equilibrium, sawtooth]), text, says, shown)


def split_flow() -> Numbers:
    """Eq. 6 for 12 packets on 1, 2, 3, 4, 6 subflows: a timeout of any of them stalls the flow."""
    subflows = np.array([1, 2, 3, 4, 6])
    each = timeout_prob(12 // subflows, loss_prob=0.05)
    # 1 - (1 - p)^12 from 3 packets on, but for rounding.
    together: FloatArray = np.round(-np.expm1(subflows * np.log1p(-each)), 12)
    return together


def rate_over_best_path() -> FloatArray:
    """Rate of LIA over the best path's TCP."""
    ratios = [
        np.sum(lia_equilibrium_windows(loss, rtts_s=rtt) / rtt) / best_path_rate_per_s(loss, rtts_s=rtt)
        for loss, rtt in CONNECTIONS
    ]
    return np.array(ratios)


def sawtooth_rate_over_tcp() -> FloatArray:
    """Rate of LIA over that of one TCP where windows follow a sawtooth, on 2, 4, 8 identical paths, 1% loss, RTT 1."""
    paths = [(np.full(count, 0.01), np.ones(count)) for count in (2, 4, 8)]
    rates = [np.sum(lia_mean_windows(loss, rtts_s=rtts_s)) for loss, rtts_s in paths]
    one_tcp = [SINGLE_PATH_SHARE * float(best_path_rate_per_s(loss, rtts_s=rtts_s)) for loss, rtts_s in paths]
    return np.divide(rates, one_tcp)


def printed_loss_prob() -> float:
    """Eq. 7 as printed, for alpha = 1, W_i = 10, W_total = 40."""
    alpha, window, total = 1, 10, 40
    return 2 * alpha / (2 * alpha + window) * total


def option_space() -> Numbers:
    """Section III-B: 3n - 1 bytes for n mixed packets, up to C_max."""
    return coded_option_bytes(np.arange(1, MAX_MIXED_PACKETS + 1))


# Cells of Table I that a mean in the text sums up, by the end of the claim's id.
_TABLE1_ROWS = {
    "r": ("random-all-2", "random-all-4"),
    "h": ("hot-spot-all-2", "hot-spot-all-4"),
    "l": ("random-large-2", "random-large-4", "hot-spot-large-2", "hot-spot-large-4"),
}


def _mean_ratio(name: str) -> float:
    return float(np.mean([cell(f"dc2mtcp-t1-{row}") for row in _TABLE1_ROWS[name]]))


def mean_coded_original_ratio(claim: PublishedClaim) -> Computed:
    """Section VI-D beside Table I."""
    rows = claim.id.removeprefix("dc2mtcp-co-")
    return Computed(_mean_ratio(rows), f"mean of {', '.join(_TABLE1_ROWS[rows])}")


def overhead_orders(claim: PublishedClaim) -> Computed:
    """Section VI-D: SC-MPTCP sends 0.02 coded packets per original one, each with 100 times the delay."""
    packets = cell("dc2mtcp-s6d-sc") / _mean_ratio(claim.id.removeprefix("dc2mtcp-co-x-"))
    times = packets * cell("dc2mtcp-f1c-sc-dec")
    return Computed(float(np.log10(times)), f"{times:.0f} times")


def hosts_of_eight_pods() -> float:
    """Section VI-A."""
    return 8**3 / 4


def paths_between_eight_pods() -> float:
    """Section VI-A."""
    return (8 / 2) ** 2


def mean_throughput_gain() -> float:
    """Abstract beside Fig. 5."""
    return (cell("dc2mtcp-f5-2") + cell("dc2mtcp-f5-4")) / 2


def mean_fct_gain() -> Computed:
    """Abstract beside Fig. 4."""
    random = [cell(f"dc2mtcp-f4-dc2-{subflows}") for subflows in (2, 4)]
    hot_spot = [cell(f"dc2mtcp-f6-{subflows}") for subflows in (2, 4)]
    text = f"mean of dc2mtcp-f4-dc2-2 and dc2mtcp-f4-dc2-4; {np.mean(random + hot_spot):.0f}% over both patterns"
    return Computed(float(np.mean(random)), text)


# Cells of Table I: coded over original packets.
_TABLE1 = [
    f"dc2mtcp-t1-{pattern}-{kind}-{subflows}"
    for pattern in ("random", "hot-spot")
    for kind in ("all", "small", "large")
    for subflows in (2, 4)
]


def coded_packets() -> Numbers:
    """Section V beside Table I: l coded packets for m original ones."""
    return [cell(name) for name in _TABLE1]
