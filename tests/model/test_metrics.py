"""Identities and properties of the measures: exact rationals, packet-by-packet counts, definitions at the edges."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.checks import ParameterError
from capsmodel.metrics import (
    goodput_bps,
    ideal_fct_s,
    jain_fairness,
    offered_load,
    percentile,
    reorder_density,
    reorder_ratio,
    slowdown,
    throughput_bps,
)
from capsmodel.workloads.catalogue import load_workload

orders = st.lists(st.integers(1, 30), max_size=40)


class TestIdealTime:
    def test_one_packet_pays_every_hop(self):
        value = ideal_fct_s(1000, rate_bps=1e9, n_hops=4, propagation_s=2e-6, header_bytes=40)
        assert value == pytest.approx(2e-6 + 4 * 1040 * 8e-9, rel=1e-14)

    @given(st.integers(1, 100_000), st.integers(1, 6))
    def test_bounds(self, flow, hops):
        value = ideal_fct_s(flow, rate_bps=1e9, n_hops=hops)
        assert flow * 8e-9 <= value * (1 + 1e-12)
        assert value <= (flow + (hops - 1) * 1460) * 8e-9 * (1 + 1e-12)

    def test_slowdown_of_the_ideal_is_one(self):
        ideal = ideal_fct_s([1, 1460, 10**9], rate_bps=1e10, n_hops=4)
        assert slowdown(ideal, ideal_fct_s=ideal).tolist() == [1, 1, 1]


class TestPercentile:
    @given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(0, 100))
    def test_is_the_least_value_that_covers_the_share(self, values, hundredths):
        found = percentile(values, q=hundredths / 100)
        share = Fraction(hundredths, 100)
        assert found in values
        assert Fraction(sum(v <= found for v in values), len(values)) >= share
        assert Fraction(sum(v < found for v in values), len(values)) < share or found == min(values)

    def test_whole_ranks_of_a_hundred(self, subtests):
        for hundredths in range(1, 101):
            with subtests.test(hundredths=hundredths):
                assert percentile(np.arange(1, 101), q=hundredths / 100) == hundredths

    def test_ends_and_shapes(self):
        values = np.arange(24).reshape(2, 3, 4)
        assert percentile(values, q=[0, 0.5, 1]).shape == (3, 2, 3)
        np.testing.assert_array_equal(percentile(values, q=[0, 1])[1], values.max(axis=-1))
        assert type(percentile([3, 1, 2], q=0.5)) is float

    def test_commutes_with_increasing_maps(self):
        values = np.random.default_rng(1).pareto(1.1, 99)
        assert percentile(np.log(values), q=0.99) == math.log(percentile(values, q=0.99))

    def test_agrees_with_the_quantile_of_a_law(self):
        distribution = load_workload("websearch")
        sample = distribution.quantile((np.arange(1, 1001)) / 1000)
        for q in (0.1, 0.5, 0.99):
            assert percentile(sample, q=q) == pytest.approx(distribution.quantile(q), rel=1e-12)


class TestRates:
    def test_goodput_and_throughput_count_eight_bits(self):
        assert goodput_bps(125, duration_s=1e-6) == pytest.approx(1e9, rel=1e-15)
        assert throughput_bps([0, 125], duration_s=1e-6).tolist() == [0, pytest.approx(1e9, rel=1e-15)]

    def test_offered_load_inverts_the_arrival_rate(self):
        distribution, load = load_workload("websearch"), np.arange(1, 10) / 10
        rate = distribution.arrival_rate_per_s(load, rate_bps=1e10)
        np.testing.assert_allclose(
            offered_load(rate, mean_bytes=distribution.mean_bytes, rate_bps=1e10), load, rtol=1e-14
        )


class TestFairness:
    @given(st.lists(st.integers(0, 1000), min_size=1, max_size=20).filter(any))
    def test_in_exact_rationals(self, shares):
        expected = Fraction(sum(shares) ** 2, len(shares) * sum(x * x for x in shares))
        assert jain_fairness(shares) == pytest.approx(float(expected), rel=1e-12)

    def test_edges(self):
        assert jain_fairness([0, 0, 0]) == 1
        assert jain_fairness([1e-200, 1e-200]) == 1
        assert jain_fairness([1e200, 0, 0, 0]) == 0.25
        assert jain_fairness([[1, 1], [1, 0]]).tolist() == [1, 0.5]


class TestReordering:
    @given(orders)
    def test_ratio_by_definition(self, arrivals):
        seen, late = [], 0
        for number in arrivals:
            if number not in seen:
                late += any(number < other for other in seen)
                seen.append(number)
        assert reorder_ratio(arrivals) == (late / len(seen) if seen else 0)

    @given(orders, st.integers(0, 40))
    def test_density_is_a_distribution(self, arrivals, threshold):
        result = reorder_density(arrivals, threshold_packets=threshold)
        assert result.density.sum() == pytest.approx(1 if arrivals else 0)
        assert np.all(result.displacement <= threshold)
        assert np.all(np.diff(result.displacement) > 0)

    @given(st.permutations(range(1, 16)))
    def test_displacements_of_a_permutation_add_to_nothing(self, arrivals):
        result = reorder_density(arrivals, threshold_packets=15)
        assert np.dot(result.displacement, result.density) == pytest.approx(0, abs=1e-12)
        expected = np.arange(1, 16) - np.array(arrivals)
        values, counts = np.unique(expected, return_counts=True)
        np.testing.assert_array_equal(result.displacement, values)
        np.testing.assert_allclose(result.density, counts / 15)

    @given(orders, st.integers(0, 40))
    def test_duplicates_leave_no_trace(self, arrivals, threshold):
        once, twice = (
            reorder_density(order, threshold_packets=threshold)
            for order in (list(dict.fromkeys(arrivals)), arrivals * 2)
        )
        np.testing.assert_array_equal(once.displacement, twice.displacement)
        np.testing.assert_array_equal(once.density, twice.density)

    def test_lost_numbers_are_passed_over(self):
        # 3 is lost: its index is skipped and the packets behind it are in place.
        assert reorder_density([1, 2, 4, 5, 6]).displacement.tolist() == [0]
        # 2 comes twice; the second does not count.
        assert reorder_density([1, 2, 2, 3]).density.tolist() == [1]

    def test_late_beyond_the_threshold_is_lost(self):
        order = [2, 3, 4, 5, 1]
        deep, shallow = (reorder_density(order, threshold_packets=t) for t in (4, 3))
        assert deep.displacement.tolist() == [-1, 4]
        np.testing.assert_allclose(deep.density, [0.8, 0.2])
        assert shallow.displacement.tolist() == [0]
        # 2 never comes, so 1 gets index 3: two places late.
        assert reorder_density([3, 1], threshold_packets=2).displacement.tolist() == [-2, 2]
        assert reorder_density([3, 1], threshold_packets=1).displacement.tolist() == [-2]

    def test_first_number(self):
        assert reorder_density([0, 1, 2], first=0).displacement.tolist() == [0]


class TestErrors:
    def test_bad_input(self, subtests):
        cases = [
            (lambda: ideal_fct_s(0, rate_bps=1e9), "flow_bytes = 0"),
            (lambda: ideal_fct_s(1, rate_bps=0), "rate_bps = 0"),
            (lambda: slowdown(1, ideal_fct_s=0), "ideal_fct_s = 0"),
            (lambda: percentile([], q=0.5), "values is empty"),
            (lambda: percentile([1, math.nan], q=0.5), "NaN"),
            (lambda: percentile([1], q=99), "q = 99"),
            (lambda: goodput_bps(1, duration_s=0), "duration_s = 0"),
            (lambda: jain_fairness([1, -1]), "shares = -1"),
            (lambda: jain_fairness([]), "shares is empty"),
            (lambda: reorder_ratio([1.5]), "arrivals = 1.5"),
            (lambda: reorder_ratio([[1, 2]]), "one list"),
            (lambda: reorder_density([0]), "lower first"),
        ]
        for call, text in cases:
            with subtests.test(call=call, text=text), pytest.raises(ParameterError, match=text):
                call()
