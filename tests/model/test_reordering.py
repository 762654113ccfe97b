"""Identity and property tests of the reordering model against enumeration, exact rationals and mpmath."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from capsmodel.checks import ParameterError
from capsmodel.reordering.probability import (
    asymmetry_degree,
    expected_overtaken_packets,
    in_order_prob,
    out_of_order_degree,
    overtaking_packets,
    reordering_prob,
)

RTOL = 1e-12
PROBS = [1e-300, 1e-12, 1e-9, 1e-3, 0.1, 0.3, 0.4999999, np.nextafter(0.5, 0), 0.5, np.nextafter(0.5, 1), 0.50001, 0.7]
PROBS += [0.999, 1 - 1e-9, 1 - 2.0**-53]


def enumerated(size: int, bad: Fraction) -> tuple[Fraction, Fraction]:
    """Reordering probability and mean number of overtaken packets over all path strings."""
    prob = mean = Fraction(0)
    for paths in product("gb", repeat=size):
        weight = bad ** paths.count("b") * (1 - bad) ** paths.count("g")
        overtaken = sum(path == "b" and "g" in paths[i + 1 :] for i, path in enumerate(paths))
        prob += weight * (overtaken > 0)
        mean += weight * overtaken
    return prob, mean


def test_small_flows_equal_the_enumeration_of_all_paths(subtests: pytest.Subtests) -> None:
    for size, bad in product([1, 2, 3, 6, 9], PROBS):
        with subtests.test(size=size, bad=bad):
            prob, mean = enumerated(size, Fraction(bad))
            assert reordering_prob(size, congested_prob=bad) == pytest.approx(float(prob), rel=RTOL, abs=0)
            assert expected_overtaken_packets(size, congested_prob=bad) == pytest.approx(float(mean), rel=RTOL, abs=0)
            assert in_order_prob(size, congested_prob=bad) == pytest.approx(float(1 - prob), rel=RTOL, abs=0)


def test_large_flows_equal_mpmath(subtests: pytest.Subtests) -> None:
    for size, bad in product([64, 10**4, 10**6, 10**9], [*PROBS, 1e-6, 0.49999999999]):
        with subtests.test(size=size, bad=bad), mp.workdps(400):
            b, g = mpf(bad), 1 - mpf(bad)
            order = (size + 1) * b**size if g == b else (g ** (size + 1) - b ** (size + 1)) / (g - b)
            overtaken = b * (size * g - 1 + b**size) / g
            assert reordering_prob(size, congested_prob=bad) == pytest.approx(float(1 - order), rel=RTOL, abs=0)
            assert in_order_prob(size, congested_prob=bad) == pytest.approx(float(order), rel=RTOL, abs=1e-300)
            assert expected_overtaken_packets(size, congested_prob=bad) == pytest.approx(
                float(overtaken), rel=RTOL, abs=0
            )


def test_a_flow_on_one_class_of_paths_is_never_reordered() -> None:
    np.testing.assert_array_equal(reordering_prob([1, 2, 10**9], congested_prob=[[0.0], [1.0]]), np.zeros((2, 3)))
    np.testing.assert_array_equal(expected_overtaken_packets([1, 2], congested_prob=[[0.0], [1.0]]), np.zeros((2, 2)))
    np.testing.assert_array_equal(in_order_prob([1, 2, 10**9], congested_prob=[[0.0], [1.0]]), np.ones((2, 3)))


@given(st.integers(2, 10**6), st.floats(0, 1))
def test_reordering_is_symmetric_peaks_at_one_half_and_grows_with_the_flow(size: int, bad: float) -> None:
    prob = reordering_prob(size, congested_prob=bad)
    assert 0 <= prob <= reordering_prob(size, congested_prob=0.5) * (1 + RTOL)
    if bad >= 0.5:  # 1 - bad is exact
        assert prob == reordering_prob(size, congested_prob=1 - bad)
    assert prob <= reordering_prob(size + 1, congested_prob=bad) * (1 + RTOL)
    assert prob + in_order_prob(size, congested_prob=bad) == pytest.approx(1, rel=RTOL)


def naive_degree(order: tuple[int, ...]) -> int:
    """Deliver in order, one arrival at a time."""
    held: set[int] = set()
    expected, degree = min(order), 0
    for number in order:
        degree = max(degree, number - expected)
        held.add(number)
        while expected in held:
            expected += 1
    return degree


def test_out_of_order_degree_of_every_order_of_six_packets() -> None:
    for order in permutations(range(4, 10)):
        assert out_of_order_degree(order) == naive_degree(order)
        for packet in order:
            ahead = sum(other > packet for other in order[: order.index(packet)])
            assert overtaking_packets(order, packet=packet) == ahead


def test_an_arrival_order_with_gaps_or_repeats_is_refused(subtests: pytest.Subtests) -> None:
    for order in [[], [1, 1, 2], [1, 3], [[1, 2]], ["a"]]:
        with subtests.test(order=order), pytest.raises(ParameterError, match="arrival_order"):
            out_of_order_degree(order)


def test_a_packet_outside_the_flow_is_refused() -> None:
    with pytest.raises(ParameterError, match="packet = 9"):
        overtaking_packets([1, 2, 3], packet=9)


def test_reordering_refuses_values_outside_the_model(subtests: pytest.Subtests) -> None:
    cases = [(0, 0.5), (1.5, 0.5), (3, -0.1), (3, 1.1), (3, float("nan"))]
    for size, bad in cases:
        with subtests.test(size=size, bad=bad):
            for quantity in (reordering_prob, in_order_prob, expected_overtaken_packets):
                with pytest.raises(ParameterError):
                    quantity(size, congested_prob=bad)


def test_asymmetry_degree_runs_over_the_last_axis() -> None:
    np.testing.assert_array_equal(asymmetry_degree([[1.0, 3.0], [2.0, 2.0]]), [3.0, 1.0])
    with pytest.raises(ParameterError):
        asymmetry_degree([0.0, 1.0])
