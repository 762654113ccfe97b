"""Claims and printed numbers of CDCPS that a closed form decides."""

from fractions import Fraction

import numpy as np

from capsmodel.checks import FloatArray
from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.redundancy import repair_packets, repair_packets_for
from capsmodel.papers.index import Claim
from capsmodel.papers.printed_numbers import computes
from capsmodel.papers.verdicts import Verdict, by_place, by_size, by_trend, cell, judges
from capsmodel.reordering.probability import out_of_order_degree, overtaking_packets, reordering_prob

CONGESTED_PATHS = np.arange(41)  # of 40
# Fig. 2: the text names the packets that come early; the rest keeps its order.
SMALL_ASYMMETRY = (1, 2, 3, 4, 5, 6, 8, 7, 9, 10)
LARGE_ASYMMETRY = (2, 3, 4, 5, 7, 8, 10, 1, 6, 9)
SWEPT_PROBS = np.linspace(0.05, 0.5, 10)


@judges("cdcps-f2l")
def degree_left(claim: Claim) -> Verdict:
    """Fig. 2, left."""
    return by_size(claim, out_of_order_degree(SMALL_ASYMMETRY), "packet 8 arrives before 7")


@judges("cdcps-f2r")
def degree_right(claim: Claim) -> Verdict:
    """Fig. 2, right."""
    return by_size(claim, out_of_order_degree(LARGE_ASYMMETRY), "packets 6 and 9 placed last, which changes nothing")


@judges("cdcps-f2r-n")
def overtakers_right(claim: Claim) -> Verdict:
    """Fig. 2, right."""
    return by_size(claim, overtaking_packets(LARGE_ASYMMETRY, packet=1), "packets 2, 3, 4, 5, 7, 8, 10")


@judges("cdcps-f4-max")
def worst_path_split(claim: Claim) -> Verdict:
    """Fig. 4."""
    return by_place(claim, peak_of_reordering(), "S = 10; the same for every S of at least 2, by symmetry")


@judges("cdcps-f4-s")
def reordering_over_size(claim: Claim) -> Verdict:
    """Fig. 4, for 10 of 40 paths."""
    return by_trend(claim, reordering_prob(np.arange(1, 101), congested_prob=10 / 40), "n_b = 10 of 40, S = 1..100")


@judges("cdcps-f4-nb")
def reordering_over_congestion(claim: Claim) -> Verdict:
    """Fig. 4, for 10 packets."""
    return by_trend(claim, reordering_prob(10, congested_prob=CONGESTED_PATHS[:21] / 40), "S = 10, n_b = 0..20 of 40")


@judges("cdcps-f7-pb")
def redundancy_over_blocking(claim: Claim) -> Verdict:
    """Fig. 7, for x = 8."""
    return by_trend(claim, repair_packets(8, blocking_prob=SWEPT_PROBS), "x = 8, P_b = 0.05..0.5")


@judges("cdcps-f7-x")
def redundancy_over_unit(claim: Claim) -> Verdict:
    """Fig. 7, for P_b = 0.2."""
    return by_trend(claim, repair_packets(np.arange(1, 65), blocking_prob=0.2), "P_b = 0.2, x = 1..64")


@judges("cdcps-f8-a")
def decoding_over_redundancy(claim: Claim) -> Verdict:
    """Fig. 8, for 8 of 40 paths."""
    return by_trend(claim, decode_prob(8, r=np.arange(13), blocking_prob=8 / 40), "8 of 40 paths, alpha = 0..12")


@judges("cdcps-f8-m")
def redundancy_for_certainty(claim: Claim) -> Verdict:
    """Fig. 8: near one taken as 0.99."""
    needed = repair_packets_for(8, blocking_prob=np.arange(1, 21) / 40, target_prob=0.99)
    return by_trend(claim, needed, "P_d of at least 0.99, x = 8, 1..20 of 40 paths")


@computes("cdcps-eq1")
def eq1_identity() -> float:
    """Eq. 1 as printed, in floating point, against the closed form."""
    gaps = []
    for size in range(2, 41):
        i = np.arange(1, size)
        for good in CONGESTED_PATHS[1:-1] / 40:
            printed = np.sum(good ** (i - 1) * (1 - good) * (1 - (1 - good) ** (size - i)))
            gaps.append(abs(printed / reordering_prob(size, congested_prob=1 - good) - 1))
    return float(max(gaps))


@computes("cdcps-fig4")
def peak_of_reordering() -> float:
    """Congested paths of 40 at the peak, for 10 packets."""
    return float(CONGESTED_PATHS[np.argmax(reordering_prob(10, congested_prob=CONGESTED_PATHS / 40))])


@computes("cdcps-fig4b")
def peak_values() -> FloatArray:
    """At 20 of 40 paths."""
    return np.asarray(reordering_prob([2, 5, 10, 20], congested_prob=0.5))


@computes("cdcps-fig2")
def degrees() -> tuple[float, float]:
    """Left and right."""
    return float(out_of_order_degree(SMALL_ASYMMETRY)), float(out_of_order_degree(LARGE_ASYMMETRY))


@computes("cdcps-fig6")
def repair_packets_of_four() -> float:
    """2 of 6 packets blocked."""
    return float(repair_packets(4, blocking_prob=Fraction(2, 6)))


@computes("cdcps-fig8")
def decoding_values() -> FloatArray:
    """For x = 8, alpha = 2."""
    return np.asarray(decode_prob(8, r=2, blocking_prob=np.array([2, 4, 8]) / 40))


@computes("cdcps-t2")
def flows_above_1_mb() -> float:
    """Table 2's own cell."""
    return cell("cdcps-t2-web-1mb")


@computes("cdcps-host")
def hosts_of_a_leaf() -> tuple[float, float]:
    """Hosts a leaf; hosts over uplinks at equal rates."""
    return 256 / 8, 256 / 8 / 8
