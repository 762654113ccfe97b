"""Second implementations of decoding, redundancy and coding units: plain loops and enumeration, from the papers.

Nothing here is shared with the package: sets of blocked packets are listed, matrices over small fields are reduced, and
the optimum is sought by two nested loops.
"""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

import capsmodel.coding.decoding as model
import capsmodel.coding.optimal_unit as unit_model
import capsmodel.coding.random_linear as rlnc_model
from capsmodel.coding.redundancy import repair_packets, traffic_overhead

RTOL = 1e-12


def subsets_probability(probs, keep):
    """Sum the probability of every set of blocked packets for which `keep(blocked)` holds."""
    total = Fraction(0)
    for blocked in product((False, True), repeat=len(probs)):
        weight = Fraction(1)
        for is_blocked, p in zip(blocked, probs, strict=True):
            weight *= p if is_blocked else 1 - p
        total += weight if keep(blocked) else 0
    return total


def rank(rows, prime):
    """Gaussian elimination over the integers modulo a prime."""
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column] % prime), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        inverse = pow(rows[found][column], -1, prime)
        for i in range(found + 1, len(rows)):
            factor = rows[i][column] * inverse
            rows[i] = [(x - factor * y) % prime for x, y in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


def full_rank_share(k, received, prime):
    """Share of the received x k matrices that have rank k, by listing all of them."""
    if received < k:
        return Fraction(0)
    matrices = product(product(range(prime), repeat=k), repeat=received)
    return Fraction(sum(rank(m, prime) == k for m in matrices), prime ** (k * received))


def window_delay(k, r, w, p, short, long, packet_s, cost):
    """Eq. 1 to 4 term by term; `cost` adds the time of r w/k packets."""
    p = float(p)
    p_s = sum(comb(k + r, j) * p**j * (1 - p) ** (k + r - j) for j in range(r + 1))
    d_b = sum((k - i) * packet_s for i in range(1, k + 1)) / k
    window = p_s ** (w / k)
    return window * (short + d_b) + (1 - window) * long + (r * w / k * packet_s if cost else 0)


PATHS = [Fraction(a, 20) for a in (1, 3, 3, 7, 10, 19, 0)]


@pytest.mark.parametrize(("k", "r"), [(1, 0), (1, 3), (2, 2), (3, 3), (5, 2), (4, 5)])
def test_decode_prob_by_listing_blocked_sets(k, r):
    for p in (Fraction(1, 10**9), Fraction(1, 5), Fraction(9, 10)):
        exact = subsets_probability([p] * (k + r), lambda blocked: sum(blocked) <= r)
        at = {"r": r, "blocking_prob": float(p)}
        assert model.decode_prob(k, **at) == pytest.approx(float(exact), rel=RTOL, abs=0)
        assert model.decode_failure_prob(k, **at) == pytest.approx(float(1 - exact), rel=RTOL, abs=0)


@pytest.mark.parametrize("k", range(1, 8))
def test_unequal_paths_by_listing_blocked_sets(k):
    exact = subsets_probability(PATHS, lambda blocked: len(PATHS) - sum(blocked) >= k)
    probs = [float(p) for p in PATHS]
    assert model.decode_prob_paths(k, blocking_probs=probs) == pytest.approx(float(exact), rel=RTOL, abs=0)
    assert model.decode_failure_prob_paths(k, blocking_probs=probs) == pytest.approx(float(1 - exact), rel=RTOL, abs=0)


@pytest.mark.parametrize(
    ("k", "received", "prime"), [(1, 1, 2), (2, 2, 2), (2, 3, 2), (3, 3, 2), (3, 4, 2), (3, 2, 2), (2, 2, 3), (2, 3, 5)]
)
def test_rank_by_listing_matrices(k, received, prime):
    exact = full_rank_share(k, received, prime)
    assert rlnc_model.full_rank_prob(k, received=received, field_size=prime) == pytest.approx(float(exact), rel=RTOL)


def test_random_linear_code_by_listing_arrivals_and_matrices(subtests):
    for k, r, prime in [(1, 2, 2), (2, 2, 2), (3, 1, 2), (2, 1, 3)]:
        with subtests.test(k=k, r=r, prime=prime):
            p, n = Fraction(3, 10), k + r
            exact = sum(
                comb(n, m) * (1 - p) ** m * p ** (n - m) * full_rank_share(k, m, prime) for m in range(k, n + 1)
            )
            at = {"r": r, "blocking_prob": 0.3, "field_size": prime}
            assert rlnc_model.decode_prob_rlnc(k, **at) == pytest.approx(float(exact), rel=RTOL)
            assert rlnc_model.decode_failure_prob_rlnc(k, **at) == pytest.approx(float(1 - exact), rel=RTOL)


def test_counted_blocking_by_listing_sets(subtests):
    cases = [(1, 1, 12), (2, 2, 12), (3, 3, 12), (3, 1, 9), (5, 0, 6), (2, 6, 8)]
    for k, r, total in cases:
        with subtests.test(k=k, r=r, total=total):
            for m in range(total + 1):
                sets = list(combinations(range(total), m))
                exact = Fraction(sum(sum(i < k + r for i in blocked) <= r for blocked in sets), len(sets))
                value = model.decode_prob_blocked_count(k, r=r, blocked_packets=m, total_packets=total)
                assert value == pytest.approx(float(exact), rel=RTOL, abs=0)


def test_first_arrivals_by_listing_sets(subtests):
    cases = [(1, 1, 6, 6), (2, 2, 3, 6), (3, 3, 2, 6), (6, 6, 1, 6), (2, 1, 3, 7), (1, 2, 3, 2)]
    for k, r, n_units, arrivals in cases:
        with subtests.test(k=k, r=r, n_units=n_units, arrivals=arrivals):
            n = k + r
            sets = list(combinations(range(n * n_units), arrivals))
            good = sum(all(sum(i // n == unit for i in came) >= k for unit in range(n_units)) for came in sets)
            value = model.units_decoded_by_first_arrivals_prob(k, r=r, n_units=n_units, arrivals=arrivals)
            assert value == pytest.approx(good / len(sets), rel=RTOL, abs=0)


def test_fig_7_of_caps():
    """(a) 22/64 fail and 0.65625 decode; (b) 64/924, printed as 0.07; (c) 0.234 for k = 2, and 0.433 for k = 3."""
    assert subsets_probability([Fraction(1, 2)] * 6, lambda blocked: sum(blocked) > 3) == Fraction(22, 64)
    assert model.decode_failure_prob(3, r=3, blocking_prob=0.5) == pytest.approx(22 / 64, rel=RTOL)
    assert model.decode_prob(3, r=3, blocking_prob=0.5) == pytest.approx(0.65625, rel=RTOL)
    first = model.units_decoded_by_first_arrivals_prob([1, 2, 3], r=[1, 2, 3], n_units=[6, 3, 2])
    np.testing.assert_allclose(first, [64 / 924, 216 / 924, 400 / 924], rtol=RTOL)
    assert first.round(3).tolist() == [0.069, 0.234, 0.433]


def test_repair_packets_by_counting_up(subtests):
    cases = [Fraction(1, 5), Fraction(3, 10), Fraction(1, 12), Fraction(7, 20), Fraction(9, 10)]
    for p in cases:
        with subtests.test(p=p):
            for k in range(1, 65):
                r = 0
                while (1 - p) * (k + r) < k:
                    r += 1
                assert repair_packets(k, blocking_prob=float(p)) == r


def test_overhead_by_counting_packets():
    """1200 short packets in 300 units of 4, p = 1/5: one repair packet each, with 9 long packets for each short one."""
    assert traffic_overhead(0.2, long_short_ratio=9, k=4) == pytest.approx(300 / (1200 + 9 * 1200 + 300), rel=RTOL)
    assert traffic_overhead(0.2, long_short_ratio=9) == pytest.approx(300 / (1200 + 9 * 1200 + 300), rel=RTOL)


SETTINGS = [
    (12, Fraction(1, 5), 1e-4, 3e-3, 12e-6),
    (12, Fraction(7, 20), 1e-4, 1e-3, 12e-6),
    (9, Fraction(19, 20), 1e-4, 3e-3, 12e-6),
    (16, Fraction(1, 100), 1e-4, 3e-3, 120e-6),
    (7, Fraction(0), 1e-4, 3e-3, 12e-6),
]


@pytest.mark.parametrize("cost", [False, True])
@pytest.mark.parametrize(("w", "p", "short", "long", "packet_s"), SETTINGS)
def test_optimum_by_two_loops(w, p, short, long, packet_s, cost):
    best = None
    for k in range(1, w + 1):
        for r in range(int((long - short) / packet_s) + 2) if cost else [-(-k * p // (1 - p))]:
            delay = window_delay(k, r, w, p, short, long, packet_s, cost)
            if best is None or delay < best[0] * (1 - 1e-13):
                best = (delay, k, r)
    found = unit_model.optimal_coding_unit(
        w,
        blocking_prob=float(p),
        rtt_short_s=short,
        rtt_long_s=long,
        packet_bytes=1500,
        rate_bps=12_000 / packet_s,
        objective="with_redundancy_cost" if cost else "eq4",
    )
    assert (found.k, found.r) == best[1:]
    assert found.delay_s == pytest.approx(best[0], rel=RTOL)
    none_blocked = float((1 - p) ** w)
    assert found.uncoded_delay_s == pytest.approx(none_blocked * short + (1 - none_blocked) * long, rel=RTOL)
