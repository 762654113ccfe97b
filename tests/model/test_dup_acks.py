"""Identity and property tests of duplicate ACKs and of the rules that count on them."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from capsmodel.checks import ParameterError
from capsmodel.reordering.dup_acks import (
    dup_ack_threshold_fat_tree,
    dup_ack_threshold_leaf_spine,
    duplicate_acks_prob,
    limited_transmit_segments,
    packets_before_first_loss,
)
from capsmodel.reordering.probability import reordering_prob

RTOL = 1e-12


def duplicate_acks(paths: tuple[str, ...]) -> int:
    """Play the arrivals to a receiver that acknowledges every packet; count acknowledgements that repeat."""
    arrivals = [i for i, path in enumerate(paths) if path == "g"] + [i for i, path in enumerate(paths) if path == "b"]
    held: set[int] = set()
    expected = repeats = 0
    for number in arrivals:
        held.add(number)
        before = expected
        while expected in held:
            expected += 1
        repeats += expected == before
    return repeats


def test_duplicate_acks_equal_the_enumeration_of_all_paths(subtests: pytest.Subtests) -> None:
    cases = [Fraction(1, 10**6), Fraction(1, 8), Fraction(1, 2), Fraction(5, 8), Fraction(999, 1000)]
    for size in [1, 2, 5, 9]:
        for bad in cases:
            with subtests.test(size=size, bad=bad):
                tail = [Fraction(0)] * (size + 2)
                exact = Fraction(bad)
                for paths in product("gb", repeat=size):
                    weight = exact ** paths.count("b") * (1 - exact) ** paths.count("g")
                    for d in range(duplicate_acks(paths) + 1):
                        tail[d] += weight
                ours = duplicate_acks_prob(np.arange(size + 2), flow_packets=size, congested_prob=bad)
                np.testing.assert_allclose(ours, [float(p) for p in tail], rtol=RTOL, atol=0)


def test_one_duplicate_ack_is_reordering(subtests: pytest.Subtests) -> None:
    for size in [2, 64, 10**4, 10**9]:
        for bad in [1e-9, 1e-3, 0.3, 0.5, 0.6, 0.999, 1 - 1e-9]:
            with subtests.test(size=size, bad=bad):
                ours = duplicate_acks_prob(1, flow_packets=size, congested_prob=bad)
                assert ours == pytest.approx(reordering_prob(size, congested_prob=bad), rel=RTOL, abs=0)


@pytest.mark.parametrize(
    ("acks", "size", "bad"),
    [
        *product([3, 19], [64], [0.01, 0.49, 0.51, 0.9]),
        *((100, 300, 0.01), (100, 300, 0.51), (299, 300, 0.49), (299, 300, 0.9)),
    ],
)
def test_many_duplicate_acks_equal_mpmath(acks: int, size: int, bad: float) -> None:
    # By the last packet of the flow: A(S, d) = P_g A(S-1, d-1) + P_b A(S-1, d), A(S, 0) = 1 - P_g^S.
    with mp.workdps(60):
        b, g = mpf(bad), 1 - mpf(bad)
        row = [mpf(0)] * (acks + 1)
        for step in range(1, size + 1):
            row = [1 - g**step] + [g * row[d - 1] + b * row[d] for d in range(1, acks + 1)]
        expected = float(row[acks])
    ours = duplicate_acks_prob(acks, flow_packets=size, congested_prob=bad)
    assert ours == pytest.approx(expected, rel=RTOL, abs=0)


@given(st.integers(1, 40), st.integers(1, 10**6), st.floats(0, 1))
def test_more_duplicate_acks_are_less_likely(acks: int, size: int, bad: float) -> None:
    more, fewer = duplicate_acks_prob([acks + 1, acks], flow_packets=size, congested_prob=bad)
    assert 0 <= more <= fewer * (1 + RTOL) <= 1 + 1e-9


def test_edges_of_duplicate_acks() -> None:
    assert duplicate_acks_prob(0, flow_packets=1, congested_prob=0.0) == 1.0
    np.testing.assert_array_equal(duplicate_acks_prob([3, 4], flow_packets=3, congested_prob=0.5), [0.0, 0.0])
    with pytest.raises(ParameterError):
        duplicate_acks_prob(-1, flow_packets=3, congested_prob=0.5)


def test_thresholds_of_fabrics() -> None:
    np.testing.assert_array_equal(dup_ack_threshold_leaf_spine([4, 16], same_leaf=[[False], [True]]), [[7, 19], [3, 3]])
    np.testing.assert_array_equal(dup_ack_threshold_fat_tree([4, 8, 16]), [7, 19, 67])
    assert dup_ack_threshold_fat_tree(16, max_paths=16) == 19
    assert limited_transmit_segments(3) == 2
    for wrong in (3, 0, 7):
        with pytest.raises(ParameterError, match="pods"):
            dup_ack_threshold_fat_tree(wrong)
    with pytest.raises(ParameterError, match="location"):
        dup_ack_threshold_fat_tree(8, location="rack")
    with pytest.raises(ParameterError, match="max_paths"):
        dup_ack_threshold_fat_tree(8, max_paths=0)


def test_packets_before_the_first_loss_equal_exact_rationals(subtests: pytest.Subtests) -> None:
    for loss in [1e-9, 1e-3, 0.3, 1.0]:
        for n_paths in [1, 2, 40]:
            with subtests.test(loss=loss, n_paths=n_paths):
                exact = 1 / (1 - (1 - Fraction(loss)) ** n_paths)
                assert packets_before_first_loss(n_paths, loss_prob=loss) == pytest.approx(
                    float(exact), rel=RTOL, abs=0
                )


def test_without_loss_the_first_loss_never_comes() -> None:
    assert packets_before_first_loss(4, loss_prob=0.0) == np.inf
