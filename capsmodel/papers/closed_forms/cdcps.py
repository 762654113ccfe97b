"""Claims of CDCPS that a closed form or its own table decides."""

from fractions import Fraction

import numpy as np

from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.redundancy import repair_packets, repair_packets_for
from capsmodel.papers.index import Claim
from capsmodel.papers.verdicts import Verdict, by_place, by_size, by_trend, cell, judged_by_value, judges
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
    peak = CONGESTED_PATHS[np.argmax(reordering_prob(10, congested_prob=CONGESTED_PATHS / 40))]
    return by_place(claim, float(peak), "S = 10; the same for every S of at least 2, by symmetry")


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


@judged_by_value("cdcps-fig6", "x P_b/(1-P_b), rounded up; Eq. 4 prints k for x")
def repair_packets_of_four() -> float:
    """Fig. 6: 2 of 6 packets blocked."""
    return float(repair_packets(4, blocking_prob=Fraction(2, 6)))


@judged_by_value("cdcps-t2", "the cell of Table 2")
def flows_above_1_mb() -> float:
    """Section VI-C beside Table 2."""
    return cell("cdcps-t2-web-1mb")
