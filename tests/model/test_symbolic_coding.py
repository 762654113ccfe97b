"""CAPS, CDCPS and MMPTCP three ways: numeric function, symbolic form and brute-force enumeration give one number."""

from fractions import Fraction

import enumeration as brute
import pytest
from three_ways import Case, formulas_to_cover

from capsmodel.coding import blocking, decoding, redundancy, window_delay
from capsmodel.multipath import subflows
from capsmodel.reordering import dup_acks, probability

THIRD, FIFTH, HALF = Fraction(1, 3), Fraction(1, 5), Fraction(1, 2)


def _caps() -> list[Case]:
    cases = []
    for k, r, p in ((1, 0, FIFTH), (3, 3, HALF), (2, 1, THIRD), (5, 4, Fraction(9, 10))):
        unit = {"k": k, "r": r, "p_B": p}
        pair = {"x": k, "alpha": r, "P_b": p}
        decoded = decoding.decode_prob(k, r=r, blocking_prob=float(p))
        cases += [
            Case("decode_prob", unit, decoded, brute.decodes(k, r, p)),
            Case("decode_prob_cdcps", pair, decoded, brute.decodes(k, r, p)),
        ]
        for j in range(k + r + 1):
            exactly = brute.chance(k + r, p, lambda blocked, j=j: sum(blocked) == j)
            numeric = decoding.blocked_packets_prob(j, n=k + r, blocking_prob=float(p))
            cases += [
                Case("blocked_packets_prob", {**unit, "j": j}, numeric, exactly),
                Case("blocked_packets_prob_cdcps", {**pair, "i": j}, numeric, exactly),
            ]
    for k, units in ((1, 4), (2, 2), (2, 3), (3, 2), (1, 6)):
        numeric = decoding.units_decoded_by_first_arrivals_prob(k, r=k, n_units=units)
        values = {"k": k, "w": k * units}
        cases.append(Case("first_arrivals_prob", values, numeric, brute.first_arrivals_decode(k, units)))
    return cases


def _repair() -> list[Case]:
    cases = []
    for k, p in ((21, Fraction(3, 10)), (10, Fraction(1, 12)), (8, FIFTH), (7, Fraction(19, 40)), (5, Fraction(0))):
        r = brute.smallest(range(100), lambda r, k=k, p=p: (1 - p) * (k + r) >= k)
        numeric = redundancy.repair_packets(k, blocking_prob=float(p))
        cases += [
            Case("repair_packets", {"k": k, "p_B": p}, numeric, Fraction(r)),
            Case("repair_packets_cdcps", {"x": k, "P_b": p}, numeric, Fraction(r)),
        ]
    for p, g in ((Fraction(1, 4), 9), (Fraction(1, 10), 99)):
        short = p.denominator - p.numerator  # a number of packets whose repair packets are a whole number too
        counted = Fraction(p.numerator, short + p.numerator + g * short)
        numeric = redundancy.traffic_overhead(float(p), long_short_ratio=g)
        cases.append(Case("traffic_overhead", {"p_B": p, "g": g}, numeric, counted))
    rtts = [1e-4, 1e-4, 4e-4, 1e-4, 9e-4]
    # The mean is 0.32 ms: two of five RTTs are above it, one above twice of it.
    cases += [
        Case("blocking_prob", {"n_L": 1, "n": 5}, blocking.blocking_prob_twice_average(rtts), Fraction(1, 5)),
        Case("blocking_prob_cdcps", {"m_L": 2, "m": 5}, blocking.blocking_prob_above_average(rtts), Fraction(2, 5)),
        Case(
            "smoothed_rtt",
            {"RTT_smooth": 8, "RTT_avg": 24},
            blocking.smoothed_rtt_s(8.0, average_s=24.0),
            sum([Fraction(8)] * 7 + [Fraction(24)]) / 8,
        ),
    ]
    return cases


def _windows() -> list[Case]:
    cases = []
    mss, rate = 12_000, 10**9
    short, long = Fraction(1, 10_000), Fraction(3, 1000)
    trips = {"rtt_short_s": float(short), "rtt_long_s": float(long)}
    link = {"packet_bytes": mss // 8, "rate_bps": rate}
    for k, r, units, p in ((1, 0, 5, FIFTH), (2, 1, 3, FIFTH), (3, 2, 2, Fraction(7, 20)), (4, 2, 1, HALF)):
        buffered = brute.buffered_wait(k, Fraction(mss, rate))
        w, unit, ends = k * units, {"k": k, "MSS": mss, "C": rate}, {"RTT_S": short, "RTT_L": long}
        numeric = window_delay.window_delay_s(
            k, window_packets=w, blocking_prob=float(p), r=r, objective="eq4", **trips, **link
        )
        delay = brute.window_delay(k, r, units, p, short + buffered, long)
        uncoded = window_delay.uncoded_window_delay_s(w, blocking_prob=float(p), **trips)
        four = {"k": k, "w": w, "p_S": brute.decodes(k, r, p), "d_B": buffered, **ends}
        without = brute.window_delay(w, 0, 1, p, short, long)
        cases += [
            Case("buffering_delay", unit, window_delay.buffering_delay_s(k, **link), buffered),
            Case("window_delay", four, numeric, delay),
            Case("window_delay_full", {**unit, **ends, "r": r, "w": w, "p_B": p}, numeric, delay),
            Case("uncoded_window_delay", {"w": w, "p_B": p, **ends}, uncoded, without),
        ]
    return cases


def _reordering() -> list[Case]:
    cases = []
    for packets, good, paths in ((1, 1, 2), (2, 1, 2), (5, 20, 40), (8, 3, 4), (10, 1, 7)):
        congested = 1 - Fraction(good, paths)
        enumerated = brute.chance(packets, congested, brute.is_reordered)
        numeric = probability.reordering_prob(packets, congested_prob=float(congested))
        probs = {"S": packets, "P_g": 1 - congested, "P_b": congested}
        cases += [
            Case("reordering_prob", probs, numeric, enumerated),
            Case("reordering_prob_paths", {"S": packets, "n_g": good, "n": paths}, numeric, enumerated),
        ]
    for paths, p in ((1, HALF), (3, HALF), (4, Fraction(3, 4))):
        # P(min > m) falls by (1-p)^n each time, so the part left out after 400 terms is below 1e-100.
        tail = brute.chance(paths, p, lambda lost: not any(lost))
        numeric = dup_acks.packets_before_first_loss(paths, loss_prob=float(p))
        values = {"n": paths, "p": p}
        cases.append(Case("packets_before_first_loss", values, numeric, float(1 + brute.series(tail, 400))))
    for pods in (4, 8, 16):
        cores = len({(aggregation, core) for aggregation in range(pods // 2) for core in range(pods // 2)})
        numeric = dup_acks.dup_ack_threshold_fat_tree(pods)
        cases.append(Case("dup_ack_threshold", {"K": pods}, numeric, Fraction(3 + cores)))
    segments = dup_acks.limited_transmit_segments(19)
    share = subflows.subflow_minimum_window_share(8, bdp_packets=30)
    released = sum(ack < 19 for ack in range(1, 20))  # every duplicate ACK short of the threshold sends one
    return [
        *cases,
        Case("limited_transmit_segments", {"dupthresh": 19}, segments, Fraction(released)),
        Case("subflow_window_share", {"n": 8, "BDP": 30}, share, Fraction(8 * 2, 30)),
    ]


CASES = [*_caps(), *_repair(), *_windows(), *_reordering()]


def test_every_formula_with_a_numeric_function_has_a_case() -> None:
    assert {case.formula for case in CASES} == formulas_to_cover("caps", "cdcps", "mmptcp")


@pytest.mark.agreement
def test_numeric_symbolic_and_enumerated_agree(subtests: pytest.Subtests) -> None:
    for case in CASES:
        with subtests.test(formula=case.formula, values=case.values):
            case.check()
