"""Claims of CAPS that a closed form decides.

Where the paper leaves a sweep out, k runs over 1..64, p_B over 0.05..0.5 and the four values of its Section VI-D.
"""

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from capsim.study.claims.relations import Says
from capsmodel.checks import FloatArray
from capsmodel.coding.blocking import blocking_prob_twice_average
from capsmodel.coding.caps_setting import PAPER_PROBS, SETTING, WINDOW_PACKETS
from capsmodel.coding.decoding import (
    decode_failure_prob,
    decode_prob,
    units_decoded_by_first_arrivals_prob,
)
from capsmodel.coding.optimal_unit import (
    delay_curve,
    optimal_coding_unit,
)
from capsmodel.coding.redundancy import repair_packets, traffic_overhead
from capsmodel.coding.window_delay import uncoded_window_delay_s, window_delay_s
from capsmodel.experiments.words import SIZE, WORD_OF_SIZE
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.verdicts import Computed, Numbers, cell

PAPER_UNITS = tuple(int(cell(f"caps-optk-{prob}")) for prob in PAPER_PROBS)
RATIOS = np.arange(9, 100)  # long to short packets, 90:10 to 99:1
SWEPT_PROBS = np.linspace(0.05, 0.5, 10)
UNITS = np.arange(1, WINDOW_PACKETS + 1)
EQ4_ARGUMENTS: dict[str, Any] = {"window_packets": WINDOW_PACKETS, "objective": "eq4", **SETTING}
FIG10A_PROB = 0.25  # not stated; one for both claims on the figure, and among those of Section VI-D
_EXAMPLE_UNITS = {1: 6, 2: 3, 3: 2, 6: 1}  # Fig. 7: k -> units of six source packets


def repair_packets_over_blocking() -> Numbers:
    """Fig. 6(a), for k = 10."""
    return repair_packets(10, blocking_prob=SWEPT_PROBS)


def repair_packets_over_unit() -> Numbers:
    """Fig. 6(a), for p_B = 0.2."""
    return repair_packets(UNITS, blocking_prob=0.2)


def decode_prob_over_redundancy() -> Numbers:
    """Fig. 6(b), for 4 of 40 paths."""
    return decode_prob(10, r=np.arange(11), blocking_prob=0.1)


def decode_prob_over_long_flows() -> Numbers:
    """Fig. 6(b), for r = 2."""
    return decode_prob(10, r=2, blocking_prob=np.arange(1, 11) / 40)


def decode_prob_of_two_long_flows() -> Numbers:
    """Fig. 6(b), the value that the text names."""
    return decode_prob(10, r=2, blocking_prob=2 / 40)


def unit_failure_example() -> Numbers:
    """Fig. 7(a)."""
    return decode_failure_prob(3, r=3, blocking_prob=0.5)


def unit_success_example() -> Numbers:
    """Fig. 7(a)."""
    return decode_prob(3, r=3, blocking_prob=0.5)


def six_units_example() -> Numbers:
    """Fig. 7(b)."""
    return units_decoded_by_first_arrivals_prob(1, r=1, n_units=6)


def three_units_example() -> Computed:
    """Fig. 7(c): the probability, for each k, that six arrivals decode everything."""
    best, others = _all_decoded(2), np.array([_all_decoded(3), _all_decoded(1)])
    text = (
        "the drawing is one realisation, whose paths are not printed; as a probability that the first six arrivals "
        f"decode all, k = 2 has {best:.3f}, more than k = 1 with {others[1]:.3f}, less than k = 3 with {others[0]:.3f}"
    )
    return Computed((np.full(2, best), others), text)


def _all_decoded(k: int) -> float:
    return float(units_decoded_by_first_arrivals_prob(k, r=k, n_units=_EXAMPLE_UNITS[k]))


def decode_prob_over_unit() -> Numbers:
    """Fig. 8(a), r by the ceiling rule, p_B = 0.2."""
    return decode_prob(UNITS, r=repair_packets(UNITS, blocking_prob=0.2), blocking_prob=0.2)


def window_delay_over_unit() -> Computed:
    """Fig. 8(b): a unit cannot exceed its window, so the minimum of the U-shaped curve must lie inside k = 1..w."""
    curve = delay_curve(blocking_prob=0.3, max_k=300, **EQ4_ARGUMENTS)
    minimum = int(curve.k[np.argmin(curve.delay_s)])
    falls_and_rises = bool(curve.delay_s[0] > curve.delay_s.min() < curve.delay_s[-1])
    says = Says(
        kind=WORD_OF_SIZE,
        size=lambda place: falls_and_rises and place.value < WINDOW_PACKETS,
        direction=lambda _: falls_and_rises,
    )
    text = f"p_B = 0.3 as in Fig. 8(d), w = 64: the minimum is at k = {minimum}; a unit has w packets at most"
    return Computed(minimum, text, says, quantity="place of the least")


def window_delay_over_redundancy() -> Numbers:
    """Fig. 9(a), for the printed k of p_B = 0.2."""
    return window_delay_s(PAPER_UNITS[0], blocking_prob=PAPER_PROBS[0], r=np.arange(0, 31), **EQ4_ARGUMENTS)


def optimal_unit(claim: PublishedClaim) -> Computed:
    """Section VI-D, Eq. 4 as printed with r by the ceiling rule."""
    prob = float(claim.id.removeprefix("caps-optk-"))
    with_cost = optimal_coding_unit(WINDOW_PACKETS, blocking_prob=prob, objective="with_redundancy_cost", **SETTING)
    best = optimal_coding_unit(blocking_prob=prob, **EQ4_ARGUMENTS)
    text = (
        f"Eq. 4 over k = 1..w, within 1% of the least delay for k from {best.near_k_min} to {best.near_k_max}; with a "
        f"cost for repair packets and r free, k = {with_cost.k}, r = {with_cost.r}"
    )
    is_as_good = best.near_k_min <= float(claim.low) <= best.near_k_max
    says = Says(kind=SIZE, size=lambda _: is_as_good, direction=lambda _: is_as_good)
    return Computed(best.k, text, says)


def coded_against_uncoded() -> Computed:
    """Fig. 9(b), at the printed k."""
    coded = window_delay_s(PAPER_UNITS, blocking_prob=PAPER_PROBS, **EQ4_ARGUMENTS)
    rtts = {name: SETTING[name] for name in ("rtt_short_s", "rtt_long_s")}
    uncoded = uncoded_window_delay_s(WINDOW_PACKETS, blocking_prob=PAPER_PROBS, **rtts)
    times = uncoded / coded
    text = f"at the printed k the uncoded window takes {times.min():.2f} to {times.max():.2f} times as long, not twice"
    return Computed((coded, uncoded), text)


def overhead_over_ratio() -> Numbers:
    """Fig. 10(a)."""
    return _overhead_of_fig10a_pct()


def _overhead_of_fig10a_pct() -> FloatArray:
    return 100 * np.asarray(traffic_overhead(FIG10A_PROB, long_short_ratio=RATIOS))


def overhead_bound_over_ratio() -> Numbers:
    """Fig. 10(a); the overhead is largest at g = 9."""
    return _overhead_of_fig10a_pct()


def overhead_bound_over_blocking() -> Numbers:
    """Fig. 10(b), at g = 9 for the p_B of Section VI-D."""
    return 100 * traffic_overhead(PAPER_PROBS, long_short_ratio=9)


def repair_packets_of_twelve_paths(claim: PublishedClaim) -> Numbers:
    """Section IX-E: units of 10 over 12 paths, of which 1 to 4 have a long flow."""
    blocked = int(claim.id.removeprefix("caps-ixe-r"))
    return float(repair_packets(10, blocking_prob=Fraction(blocked, 12)))


def printed_fraction_of_six_units() -> float:
    """Fig. 7(b): (C_3^1)^6/C_6^6."""
    return float(comb(3, 1) ** 6 / comb(6, 6))


def four_of_forty_paths() -> float:
    """Section VI-A: 4 of 40 paths have large RTTs."""
    return float(blocking_prob_twice_average([SETTING["rtt_short_s"]] * 36 + [SETTING["rtt_long_s"]] * 4))


def three_of_ten_paths() -> float:
    """Section VI-C: 3 of 10 paths have large RTTs."""
    return float(blocking_prob_twice_average([SETTING["rtt_short_s"]] * 7 + [SETTING["rtt_long_s"]] * 3))


def hosts_of_leaf_spine() -> float:
    """Section IX-A."""
    return 24 * 36


def hosts_of_a_pod(claim: PublishedClaim) -> Numbers:
    """Section IX-B: K/2 edge switches of K/2 hosts."""
    pods = int(claim.id.removeprefix("caps-ft-"))
    return (pods / 2) ** 2
