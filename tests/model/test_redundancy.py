"""Repair packets against exact rationals, targets and overhead."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.checks import ParameterError
from capsmodel.coding.decoding import decode_failure_prob, decode_prob
from capsmodel.coding.redundancy import (
    repair_packets,
    repair_packets_for,
    traffic_overhead,
)

EVERY_K = np.arange(1, 4_001)


def test_plain_double_arithmetic_would_err_here(subtests):
    cases = [(21, 0.3, 9), (42, 0.3, 18), (4, 0.2, 1), (10, 4 / 12, 5), (1, 0.0, 0)]
    for k, p, r in cases:
        with subtests.test(k=k, p=p, r=r):
            assert repair_packets(k, blocking_prob=p) == r


def test_counts_of_paths_give_the_exact_ceiling(subtests):
    """Every p = a/b of up to 64 paths and every k up to 4000, against whole-number division."""
    for b in range(1, 65):
        with subtests.test(b=b):
            a = np.arange(b)[:, None]
            exact = -(-EVERY_K * a // (b - a))
            np.testing.assert_array_equal(repair_packets(EVERY_K, blocking_prob=a / b), exact)


@given(st.integers(1, 10**6), st.integers(1, 6), st.data())
def test_decimals_as_typed_give_the_exact_ceiling(k, digits, data):
    a = data.draw(st.integers(0, 10**digits // 2))
    typed = Fraction(a, 10**digits)
    assert repair_packets(k, blocking_prob=float(f"{float(typed):.{digits}f}")) == math.ceil(k * typed / (1 - typed))


@given(st.integers(1, 10**4), st.integers(2, 200_000), st.data())
def test_the_denominators_of_the_docstring_hold(k, b, data):
    p = Fraction(data.draw(st.integers(0, int(b * 0.999))), b)
    assert repair_packets(k, blocking_prob=float(p)) == math.ceil(k * p / (1 - p))


@given(st.integers(1, 10**9), st.fractions(0, 1, max_denominator=10**12).filter(lambda p: p < Fraction(999, 1000)))
def test_fractions_are_decided_exactly(k, p):
    r = repair_packets(k, blocking_prob=p)
    assert isinstance(r, int)
    assert (1 - p) * (k + r) >= k
    assert r == 0 or (1 - p) * (k + r - 1) < k


def test_a_float_just_above_a_whole_number_counts_as_it_and_a_fraction_does_not():
    above = np.nextafter(0.2, 1)
    assert Fraction(above) > Fraction(1, 5)
    assert repair_packets(4, blocking_prob=above) == 1
    assert repair_packets(4, blocking_prob=Fraction(above)) == 2
    assert repair_packets([4, 4], blocking_prob=np.array([Fraction(1, 5), Fraction(above)])).tolist() == [1, 2]
    assert repair_packets(4, blocking_prob=0.2 + 1e-14) == 2  # outside the tolerance


def test_shapes_of_repair_packets():
    assert isinstance(repair_packets(4, blocking_prob=0.2), int)
    assert repair_packets(np.ones((3, 1)), blocking_prob=np.zeros(2)).shape == (3, 2)
    assert repair_packets([], blocking_prob=0.2).shape == (0,)


@given(st.integers(1, 300), st.floats(0, 0.99), st.floats(0, 1 - 1e-9))
def test_target_is_reached_and_not_with_one_packet_less(k, p, target):
    r = repair_packets_for(k, blocking_prob=p, target_prob=target)
    missed = (1 - target) * (1 + 2e-12)
    assert decode_failure_prob(k, r=r, blocking_prob=p) <= missed
    if r > 0:
        assert decode_prob(k, r=r - 1, blocking_prob=p) < target


def test_targets_that_are_met_with_equality_and_targets_near_one():
    exact = [1 - 0.5 ** (r + 1) for r in range(40)]
    assert repair_packets_for(1, blocking_prob=0.5, target_prob=exact).tolist() == list(range(40))
    assert repair_packets_for([1, 5], blocking_prob=0, target_prob=0.9).tolist() == [0, 0]
    assert repair_packets_for(5, blocking_prob=0.3, target_prob=0) == 0
    assert repair_packets_for(10**6, blocking_prob=0.2, target_prob=0.5) == pytest.approx(250_000, abs=2)


@given(st.floats(0, 0.999), st.floats(0, 1000))
def test_overhead_is_the_share_of_repair_packets(p, g):
    per_source = p / (1 - p)
    assert traffic_overhead(p, long_short_ratio=g) == pytest.approx(per_source / (1 + g + per_source), rel=1e-12)


@given(st.integers(1, 50), st.floats(0, 0.9), st.floats(0, 100))
def test_overhead_with_whole_packets_is_larger_and_tends_to_the_formula(k, p, g):
    share = traffic_overhead(p, long_short_ratio=g)
    assert traffic_overhead(p, long_short_ratio=g, k=k) >= share * (1 - 1e-12)
    assert traffic_overhead(p, long_short_ratio=g, k=10**9) == pytest.approx(share, abs=2e-9)


def test_overhead_falls_with_the_share_of_long_flows():
    """The text to caps Fig. 10(a) says that it grows, and stays below 3.5%; both fail from the formula."""
    g = np.arange(9, 100)
    assert np.all(np.diff(traffic_overhead(0.25, long_short_ratio=g)) < 0)
    assert traffic_overhead(0.266, long_short_ratio=9) < 0.035 < traffic_overhead(0.267, long_short_ratio=9)
    assert traffic_overhead(0.35, long_short_ratio=9) == pytest.approx(0.0511, abs=5e-5)


def test_bad_input_is_refused_with_its_value(subtests):
    cases = [
        (lambda: repair_packets(0, blocking_prob=0.1), "k = 0"),
        (lambda: repair_packets(1, blocking_prob=1), "blocking_prob = 1"),
        (lambda: repair_packets(1, blocking_prob=Fraction(3, 2)), "blocking_prob = 1.5"),
        (lambda: repair_packets(10**6, blocking_prob=1 - 2**-50), "2.53"),
        (lambda: repair_packets_for(1, blocking_prob=0.1, target_prob=1), "target_prob = 1"),
        (lambda: traffic_overhead(0.1, long_short_ratio=-1), "long_short_ratio = -1"),
    ]
    for call, text in cases:
        with subtests.test(call=call, text=text), pytest.raises(ParameterError, match=text):
            call()
