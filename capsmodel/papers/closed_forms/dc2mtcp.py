"""Claims and printed numbers of DC2-MTCP that a closed form or its own tables decide."""

import numpy as np

from capsmodel.checks import FloatArray
from capsmodel.multipath.coded_transport import coded_option_bytes, decoding_work_ratio
from capsmodel.multipath.coding_schedule import MAX_MIXED_PACKETS, pre_coding_measure
from capsmodel.multipath.lia import best_path_rate_per_s, lia_equilibrium_windows
from capsmodel.multipath.sawtooth import SINGLE_PATH_SHARE, lia_mean_windows
from capsmodel.multipath.timeouts import coded_fct_s, reorder_buffer_bits, retransmitted_fct_s, timeout_prob
from capsmodel.papers.index import Claim
from capsmodel.papers.printed_numbers import computes
from capsmodel.papers.verdicts import (
    ROUNDING,
    Verdict,
    by_size,
    by_trend,
    cell,
    judges,
    not_testable,
    verdict_word,
)

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


@judges("dc2mtcp-f1a-ietf")
def uncoded_example(claim: Claim) -> Verdict:
    """Fig. 1a: the lost packet is sent again on its subflow of 4 ms."""
    return by_size(claim, example_without_coding(), "on the original subflow; on the best one it would be 200.5 ms")


@judges("dc2mtcp-f1a-dc2")
def coded_example(claim: Claim) -> Verdict:
    """Fig. 1a: the coded packet goes on the subflow of 1 ms."""
    return by_size(claim, example_with_coding(), "sent one RTT of subflow 2 after the packets")


@judges("dc2mtcp-s4a-wv")
def window_span(claim: Claim) -> Verdict:
    """Fig. 3 draws the window."""
    return not_testable(claim, "the right edge of the window is only drawn: W_v is an input of the example")


@judges("dc2mtcp-s4a-ws")
def unacknowledged(claim: Claim) -> Verdict:
    """Fig. 3: the span less the packets that the text lists as acknowledged."""
    return by_size(claim, SPAN_PACKETS - len(ACKNOWLEDGED), "33 and 35 to 79 are 46 packets; 60 - 46 = 14")


@judges("dc2mtcp-s4b-bfr")
def reorder_buffer(claim: Claim) -> Verdict:
    """Section IV-B."""
    return by_size(claim, reorder_buffer_megabits(), "sum of the rates times the largest RTT")


@judges("dc2mtcp-eq9")
def rate_bound(claim: Claim) -> Verdict:
    """Eq. 9: no more than one TCP on the best path, at the equilibrium and where all windows swing."""
    still, swinging = rate_over_best_path(), swinging_rate_over_tcp()
    word = verdict_word(np.concatenate([still, swinging]) <= 1 + ROUNDING)
    text = (
        "an equality at every equilibrium, also where LIA is capped; windows that swing take more than one TCP, which "
        f"swings too: {swinging[0]:.2f} to {swinging[-1]:.2f} times as much on 2 to 8 alike paths"
    )
    return Verdict(claim.id, (float(still.max()), float(swinging.max())), word, text)


@judges("dc2mtcp-s4b-small")
def small_flows(claim: Claim) -> Verdict:
    """Quoted from earlier work."""
    return not_testable(claim, "quoted from earlier work; no formula gives completion times of small flows")


@judges("dc2mtcp-eq6-split")
def split_flow(claim: Claim) -> Verdict:
    """Eq. 6 for 12 packets on 1, 2, 3, 4, 6 subflows: a timeout of any of them stalls the flow."""
    subflows = np.array([1, 2, 3, 4, 6])
    each = timeout_prob(12 // subflows, loss_prob=0.05)
    text = "12 packets on 1, 2, 3, 4, 6 subflows, p = 0.05, any subflow; flat once all hold three packets or fewer"
    # 1 - (1 - p)^12 from 3 packets on, but for rounding.
    return by_trend(claim, np.round(-np.expm1(subflows * np.log1p(-each)), 12), text)


@computes("dc2mtcp-eq7")
def printed_loss_prob() -> float:
    """Eq. 7 as printed, for alpha = 1, W_i = 10, W_total = 40."""
    alpha, window, total = 1, 10, 40
    return 2 * alpha / (2 * alpha + window) * total


@computes("dc2mtcp-eq9")
def rate_over_best_path() -> FloatArray:
    """Rate of LIA over the best path's TCP."""
    ratios = [
        np.sum(lia_equilibrium_windows(loss, rtts_s=rtt) / rtt) / best_path_rate_per_s(loss, rtts_s=rtt)
        for loss, rtt in CONNECTIONS
    ]
    return np.array(ratios)


def swinging_rate_over_tcp() -> FloatArray:
    """Rate of LIA over that of one TCP where every window swings, on 2, 4 and 8 alike paths of 1% loss and RTT 1."""
    alike = [(np.full(count, 0.01), np.ones(count)) for count in (2, 4, 8)]
    rates = [np.sum(lia_mean_windows(loss, rtts_s=rtts_s)) for loss, rtts_s in alike]
    one_tcp = [SINGLE_PATH_SHARE * float(best_path_rate_per_s(loss, rtts_s=rtts_s)) for loss, rtts_s in alike]
    return np.divide(rates, one_tcp)


@computes("dc2mtcp-bfr")
def reorder_buffer_megabits() -> float:
    """Eight subflows."""
    return float(reorder_buffer_bits([10e9] * 8, rtts_s=1.5e-3)) / 1e6


@computes("dc2mtcp-opt")
def option_length_identity() -> float:
    """Count, offsets and coefficients."""
    mixed = np.arange(1, MAX_MIXED_PACKETS + 1)
    return float(np.max(np.abs(1 + 2 * (mixed - 1) + mixed - coded_option_bytes(mixed))))


@computes("dc2mtcp-opt-space")
def longest_option() -> float:
    """At C_max."""
    return float(coded_option_bytes(MAX_MIXED_PACKETS))


@computes("dc2mtcp-csw")
def psi_of_the_example() -> float:
    """Span less unacknowledged packets."""
    return float(pre_coding_measure(SPAN_PACKETS, unacknowledged_packets=SPAN_PACKETS - len(ACKNOWLEDGED)))


@computes("dc2mtcp-fct1")
def example_without_coding() -> float:
    """In ms."""
    return 1e3 * float(retransmitted_fct_s(RTO_S, rtt_s=4e-3))


@computes("dc2mtcp-fct2")
def example_with_coding() -> float:
    """In ms."""
    return 1e3 * float(coded_fct_s(1e-3))


@computes("dc2mtcp-eq6")
def timeout_values() -> FloatArray:
    """At p = 0.1."""
    return np.asarray(timeout_prob([2, 3, 4, 8], loss_prob=0.1))


@computes("dc2mtcp-pda")
def work_saved() -> float:
    """At l = 0.05 m."""
    return 100 * (1 - float(decoding_work_ratio(5, original=100)))


def _mean_ratio(*rows: str) -> float:
    return float(np.mean([cell(f"dc2mtcp-t1-{row}") for row in rows]))


@computes("dc2mtcp-co-r")
def random_ratio() -> float:
    """From Table I."""
    return _mean_ratio("random-all-2", "random-all-4")


@computes("dc2mtcp-co-h")
def hot_spot_ratio() -> float:
    """From Table I."""
    return _mean_ratio("hot-spot-all-2", "hot-spot-all-4")


@computes("dc2mtcp-co-l")
def large_flow_ratio() -> float:
    """From Table I."""
    return _mean_ratio("random-large-2", "random-large-4", "hot-spot-large-2", "hot-spot-large-4")


@computes("dc2mtcp-co-x")
def overhead_orders() -> FloatArray:
    """SC-MPTCP sends 0.02 coded packets per original one, each with 100 times the delay."""
    packets = np.array([cell("dc2mtcp-s6d-sc") / random_ratio(), cell("dc2mtcp-s6d-sc") / hot_spot_ratio()])
    return np.log10(packets * cell("dc2mtcp-f1c-sc-dec"))


@computes("dc2mtcp-ft")
def fat_tree_of_eight() -> tuple[float, float]:
    """Hosts and paths between pods."""
    return 8**3 / 4, 4**2


@computes("dc2mtcp-gp")
def mean_throughput_gain() -> float:
    """Fig. 5."""
    return (cell("dc2mtcp-f5-2") + cell("dc2mtcp-f5-4")) / 2


@computes("dc2mtcp-fct")
def mean_fct_gain() -> float:
    """Fig. 4."""
    return (cell("dc2mtcp-f4-dc2-2") + cell("dc2mtcp-f4-dc2-4")) / 2
