"""Decoding probabilities against exact sums: bulk, tails, complements and logarithms; limits, edges, properties."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.checks import ParameterError
from capsmodel.coding.decoding import (
    blocked_packets_prob,
    decode_failure_prob,
    decode_failure_prob_paths,
    decode_prob,
    decode_prob_blocked_count,
    decode_prob_paths,
    log_decode_failure_prob,
    log_decode_prob,
    units_decoded_by_first_arrivals_prob,
    window_decode_prob,
)
from capsmodel.coding.random_linear import decode_failure_prob_rlnc, decode_prob_rlnc, full_rank_prob

RTOL = 1e-12
KS = (1, 64, 10**4, 10**6)
PROBS = (1e-9, 1e-4, 0.1, 0.2, 0.35, 0.5, 0.9, 0.999)
DEVIATIONS = (-100, -20, -8, -3, -1, 0, 1, 3, 8, 20, 100)


def exact_tails(k, r, p):
    """P(at most r of k + r blocked) and its complement, to 60 digits: one mass and a series of exact ratios.

    The probability p is the double at face value. The tail on the far side of the mean is summed in whole numbers of
    2^-220, so that no digit of it is lost.
    """
    n, blocked, scale = k + r, Fraction(p).numerator, Fraction(p).denominator
    not_blocked, one = scale - blocked, 1 << 220
    lower = r * scale < n * blocked
    j = r if lower else r + 1
    with mpmath.workdps(60):
        log_mass = mpmath.loggamma(n + 1) - mpmath.loggamma(j + 1) - mpmath.loggamma(n - j + 1)
        log_mass += j * mpmath.log(mpmath.mpf(blocked) / scale) + (n - j) * mpmath.log(mpmath.mpf(not_blocked) / scale)
        term, total = one, one
        while term and (j > 0 if lower else j < n):
            if lower:
                term, j = term * (j * not_blocked) // ((n - j + 1) * blocked), j - 1
            else:
                term, j = term * ((n - j) * blocked) // ((j + 1) * not_blocked), j + 1
            total += term
        far = mpmath.exp(log_mass) * total / one
        return (far, 1 - far) if lower else (1 - far, far)


def grid():
    for k, p in itertools.product(KS, PROBS):
        mean, sd = k * p / (1 - p), math.sqrt(k * p) / (1 - p)
        rs = {max(0, round(mean + z * sd)) for z in DEVIATIONS} | {0, 1, math.ceil(mean)}
        yield from ((k, r, p) for r in sorted(rs))


def relative(value, exact):
    return float(abs((mpmath.mpf(value) - exact) / exact))


@pytest.mark.parametrize("k", KS)
def test_probabilities_complements_and_logarithms_are_exact_to_1e_12(k):
    points = np.array([point for point in grid() if point[0] == k])
    arguments = {"r": points[:, 1], "blocking_prob": points[:, 2]}
    computed = [f(points[:, 0], **arguments) for f in (decode_prob, decode_failure_prob)]
    logs = [f(points[:, 0], **arguments) for f in (log_decode_prob, log_decode_failure_prob)]
    for i, (_, r, p) in enumerate(points):
        exact = exact_tails(k, int(r), float(p))
        for side in (0, 1):
            if exact[side] > 1e-300:
                assert relative(computed[side][i], exact[side]) < RTOL, (k, r, p, side)
            with mpmath.workdps(60):
                small = exact[1 - side]
                log = mpmath.log1p(-small) if small < 0.5 else mpmath.log(exact[side])
            if abs(log) > 1e-300:
                assert relative(logs[side][i], log) < RTOL, (k, r, p, side)


def test_against_exact_rationals(subtests):
    for k, r, p in list(itertools.product((1, 3, 64), (0, 1, 2, 17, 80), (1e-9, 0.2, 0.5, 0.999))):
        with subtests.test(k=k, r=r, p=p):
            q = 1 - Fraction(p)
            masses = [math.comb(k + r, j) * Fraction(p) ** j * q ** (k + r - j) for j in range(k + r + 1)]
            decoded, failed = sum(masses[: r + 1]), sum(masses[r + 1 :])
            assert decode_prob(k, r=r, blocking_prob=p) == pytest.approx(float(decoded), rel=RTOL, abs=0)
            assert decode_failure_prob(k, r=r, blocking_prob=p) == pytest.approx(float(failed), rel=RTOL, abs=0)
            mass = blocked_packets_prob(np.arange(k + r + 1), n=k + r, blocking_prob=p)
            np.testing.assert_allclose(mass, [float(m) for m in masses], rtol=RTOL, atol=1e-307)


def test_logarithms_go_on_where_probabilities_underflow():
    """The mean is 10^6 blocked packets; with no repair packet all 10^6 must arrive: 10^6 log(1/2)."""
    assert decode_prob(10**6, r=0, blocking_prob=0.5) == 0.0
    assert log_decode_prob(10**6, r=0, blocking_prob=0.5) == pytest.approx(-(10**6) * math.log(2), rel=1e-15)
    assert log_decode_failure_prob(1, r=10**6 - 1, blocking_prob=0.5) == pytest.approx(
        -(10**6) * math.log(2), rel=1e-15
    )


def test_edges():
    assert decode_prob(5, r=0, blocking_prob=0) == 1.0
    assert decode_failure_prob(5, r=3, blocking_prob=0) == 0.0
    assert log_decode_failure_prob(5, r=3, blocking_prob=0) == -math.inf
    assert math.copysign(1, log_decode_prob(5, r=3, blocking_prob=0)) == 1  # 0, not -0
    assert decode_prob(1, r=0, blocking_prob=0.25) == pytest.approx(0.75, rel=1e-15)
    assert decode_failure_prob(7, r=0, blocking_prob=1e-9) == pytest.approx(
        -math.expm1(7 * math.log1p(-1e-9)), rel=1e-14
    )
    assert decode_prob(3, r=10**9, blocking_prob=0.5) == 1.0
    assert blocked_packets_prob(4, n=3, blocking_prob=0.5) == 0.0
    assert blocked_packets_prob([0, 1, 3], n=3, blocking_prob=0).tolist() == [1, 0, 0]


def test_the_least_probabilities_keep_the_logarithm_of_the_failure(subtests):
    """The first term, all but r + 1 of k + r arriving, is all there is."""
    for k, r in [(1, 1), (1, 0), (3, 2), (50, 7), (10**6, 0), (10**6, 3)]:
        for p in [5e-324, 1.5e-323, 1e-310, 2.3e-308, 1e-300]:
            with subtests.test(k=k, r=r, p=p):
                with mpmath.workdps(40):
                    exact = mpmath.log(mpmath.binomial(k + r, r + 1)) + (r + 1) * mpmath.log(mpmath.mpf(p))
                assert log_decode_failure_prob(k, r=r, blocking_prob=p) == pytest.approx(float(exact), rel=1e-14)
                assert log_decode_prob(k, r=r, blocking_prob=p) == pytest.approx(
                    -float(mpmath.exp(exact)), rel=1e-11, abs=1e-307
                )


def test_broadcasting_and_empty_arrays():
    table = decode_prob(np.arange(1, 4)[:, None], r=np.arange(5), blocking_prob=0.2)
    assert table.shape == (3, 5)
    assert table[2, 4] == decode_prob(3, r=4, blocking_prob=0.2)
    assert isinstance(decode_prob(3, r=4, blocking_prob=0.2), float)
    assert decode_prob([], r=1, blocking_prob=0.2).shape == (0,)
    assert decode_prob_rlnc([], r=1, blocking_prob=0.2).shape == (0,)
    assert decode_prob_blocked_count([], r=1, blocked_packets=1, total_packets=9).shape == (0,)


def test_bad_input_is_refused_with_its_value(subtests):
    cases = [
        (lambda: decode_prob(0, r=1, blocking_prob=0.1), "k = 0"),
        (lambda: decode_prob(1.5, r=1, blocking_prob=0.1), "k = 1.5"),
        (lambda: decode_prob(1, r=-1, blocking_prob=0.1), "r = -1"),
        (lambda: decode_prob(1, r=1, blocking_prob=1), "blocking_prob = 1"),
        (lambda: decode_prob(1, r=1, blocking_prob=math.nan), "NaN"),
        (lambda: decode_prob_paths(3, blocking_probs=[0.1, 0.2]), "k = 3 exceeds the 2 packets"),
        (lambda: decode_prob_paths(1, blocking_probs=0.1), "single number"),
        (lambda: full_rank_prob(1, received=1, field_size=6), "field_size = 6"),
        (lambda: decode_prob_blocked_count(3, r=3, blocked_packets=1, total_packets=5), "total_packets"),
        (lambda: units_decoded_by_first_arrivals_prob(1, r=1, n_units=2, arrivals=5), "arrivals"),
    ]
    for call, text in cases:
        with subtests.test(call=call, text=text), pytest.raises(ParameterError, match=text):
            call()


sizes = st.integers(1, 2000)
repairs = st.integers(0, 3000)
probs = st.floats(1e-9, 0.999)


@given(sizes, repairs, probs)
def test_more_repair_packets_never_harm(k, r, p):
    here, more = (log_decode_failure_prob(k, r=x, blocking_prob=p) for x in (r, r + 1))
    assert more <= here * (1 - 1e-13)


@given(sizes, repairs, probs, probs)
def test_more_blocking_never_helps(k, r, p, other):
    low, high = sorted((p, other))
    assert decode_prob(k, r=r, blocking_prob=high) <= decode_prob(k, r=r, blocking_prob=low) * (1 + 1e-12)


@given(sizes, repairs, probs)
def test_probability_and_complement_add_up(k, r, p):
    both = decode_prob(k, r=r, blocking_prob=p) + decode_failure_prob(k, r=r, blocking_prob=p)
    assert both == pytest.approx(1, abs=1e-15)


@given(sizes, st.integers(0, 500), probs)
def test_one_packet_more_splits_the_probability(k, r, p):
    """Pascal's rule: the first packet is blocked, and r - 1 more may be, or it is not, and k - 1 more are needed."""
    k, r = k + 1, r + 1
    blocked, arrived = decode_prob(k, r=r - 1, blocking_prob=p), decode_prob(k - 1, r=r, blocking_prob=p)
    assert decode_prob(k, r=r, blocking_prob=p) == pytest.approx(p * blocked + (1 - p) * arrived, rel=RTOL, abs=1e-300)


def test_with_the_ceiling_rule_half_of_large_units_decode():
    k = 10 ** np.arange(2, 7)
    assert np.all(np.diff(decode_prob(k, r=k, blocking_prob=0.5)) < 0)
    # The median of Bin(2k, 1/2) is k, and the mass there is 1/sqrt(pi k) to first order.
    np.testing.assert_allclose(decode_prob(k, r=k, blocking_prob=0.5) - 0.5, 0.5 / np.sqrt(np.pi * k), rtol=2e-3)


def test_window_probability_multiplies_units():
    unit = decode_prob(3, r=3, blocking_prob=0.5)
    common = {"r": 3, "window_packets": 7, "blocking_prob": 0.5}
    assert window_decode_prob(3, **common) == pytest.approx(unit ** (7 / 3), rel=RTOL)
    assert window_decode_prob(3, **common, whole_units=True) == pytest.approx(unit**3, rel=RTOL)


@given(st.integers(1, 12), st.integers(0, 12), probs)
def test_equal_paths_are_the_binomial_case(k, r, p):
    paths = np.full(k + r, p)
    assert decode_prob_paths(k, blocking_probs=paths) == pytest.approx(decode_prob(k, r=r, blocking_prob=p), rel=RTOL)
    failed = decode_failure_prob(k, r=r, blocking_prob=p)
    assert decode_failure_prob_paths(k, blocking_probs=paths) == pytest.approx(failed, rel=RTOL, abs=0)


def test_paths_that_never_or_always_block():
    assert decode_prob_paths(2, blocking_probs=[0, 0, 1, 1]) == 1.0
    assert decode_prob_paths([2, 3], blocking_probs=[0, 0, 1, 1]).tolist() == [1.0, 0.0]
    assert decode_prob_paths(2, blocking_probs=np.full((5, 4), 0.1)).shape == (5,)


@given(st.integers(1, 200), st.integers(0, 60), probs, st.sampled_from([2, 3, 4, 256, 65536]))
def test_a_random_linear_code_only_loses(k, r, p, size):
    common = {"r": r, "blocking_prob": p, "field_size": size}
    decoded, failed = decode_prob_rlnc(k, **common), decode_failure_prob_rlnc(k, **common)
    assert decoded <= decode_prob(k, r=r, blocking_prob=p) * (1 + 1e-13)
    assert decoded + failed == pytest.approx(1, abs=1e-14)
    # The loss at k + e arrivals is at most q^-e/(q-1).
    assert failed <= decode_failure_prob(k, r=r, blocking_prob=p) + 1 / (size - 1) + 1e-14


def test_rank_failure_without_blocking_is_a_complement():
    """All k + r packets arrive: 1 - Q is 256^-(r+1) (1 + 1/256 + ...) to first order."""
    failed = decode_failure_prob_rlnc(20, r=9, blocking_prob=0)
    series = sum(Fraction(1, 256 ** (9 + i)) for i in range(1, 21))
    assert failed == pytest.approx(float(series), rel=1e-12, abs=0)


def test_with_many_packets_the_counted_case_is_the_binomial_case():
    exact = decode_prob(5, r=3, blocking_prob=0.3)
    errors = [
        abs(decode_prob_blocked_count(5, r=3, blocked_packets=3 * 10**m, total_packets=10 ** (m + 1)) - exact)
        for m in (2, 4, 6)
    ]
    assert errors[2] < 1e-6
    assert errors[0] > 50 * errors[1] > 2500 * errors[2]


def test_fig_7_favours_large_units():
    """The drawn realisation favours k = 2; over all arrivals the probability rises with k."""
    k = np.array([1, 2, 3, 6])
    first = units_decoded_by_first_arrivals_prob(k, r=k, n_units=6 // k)
    np.testing.assert_allclose(first, [64 / 924, 216 / 924, 400 / 924, 1], rtol=1e-15)
    window = window_decode_prob(k, r=k, window_packets=6, blocking_prob=0.5)
    assert window.round(3).tolist() == [0.178, 0.325, 0.431, 0.613]
