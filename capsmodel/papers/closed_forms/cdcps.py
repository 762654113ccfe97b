"""Claims of CDCPS that a closed form or its own table decides."""

from fractions import Fraction

import numpy as np

from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.redundancy import repair_packets, repair_packets_for
from capsmodel.papers.verdicts import Numbers, cell
from capsmodel.reordering.probability import out_of_order_degree, overtaking_packets, reordering_prob

CONGESTED_PATHS = np.arange(41)  # of 40
# Fig. 2: the text names the packets that come early; the rest keeps its order.
SMALL_ASYMMETRY = (1, 2, 3, 4, 5, 6, 8, 7, 9, 10)
LARGE_ASYMMETRY = (2, 3, 4, 5, 7, 8, 10, 1, 6, 9)
SWEPT_PROBS = np.linspace(0.05, 0.5, 10)


def degree_left() -> Numbers:
    """Fig. 2, left."""
    return out_of_order_degree(SMALL_ASYMMETRY)


def degree_right() -> Numbers:
    """Fig. 2, right."""
    return out_of_order_degree(LARGE_ASYMMETRY)


def overtakers_right() -> Numbers:
    """Fig. 2, right."""
    return overtaking_packets(LARGE_ASYMMETRY, packet=1)


def worst_path_split() -> Numbers:
    """Fig. 4."""
    return float(CONGESTED_PATHS[np.argmax(reordering_prob(10, congested_prob=CONGESTED_PATHS / 40))])


def reordering_over_size() -> Numbers:
    """Fig. 4, for 10 of 40 paths."""
    return reordering_prob(np.arange(1, 101), congested_prob=10 / 40)


def reordering_over_congestion() -> Numbers:
    """Fig. 4, for 10 packets."""
    return reordering_prob(10, congested_prob=CONGESTED_PATHS[:21] / 40)


def redundancy_over_blocking() -> Numbers:
    """Fig. 7, for x = 8."""
    return repair_packets(8, blocking_prob=SWEPT_PROBS)


def redundancy_over_unit() -> Numbers:
    """Fig. 7, for P_b = 0.2."""
    return repair_packets(np.arange(1, 65), blocking_prob=0.2)


def decoding_over_redundancy() -> Numbers:
    """Fig. 8, for 8 of 40 paths."""
    return decode_prob(8, r=np.arange(13), blocking_prob=8 / 40)


def redundancy_for_certainty() -> Numbers:
    """Fig. 8: near one taken as 0.99."""
    return repair_packets_for(8, blocking_prob=np.arange(1, 21) / 40, target_prob=0.99)


def repair_packets_of_four() -> float:
    """Fig. 6: 2 of 6 packets blocked."""
    return float(repair_packets(4, blocking_prob=Fraction(2, 6)))


def flows_above_1_mb() -> float:
    """Section VI-C beside Table 2."""
    return cell("cdcps-t2-web-1mb")
