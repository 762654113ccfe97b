"""Identities of RepFlow's completion times: flows of one size by arithmetic, bounds over all distributions, limits."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.checks import ParameterError
from capsmodel.fct.completion import mean_fct, tail_fct
from capsmodel.fct.long_flows import mean_fct_long, tail_fct_long
from capsmodel.fct.replication import (
    effective_load,
    replicated_load,
    replication_break_even_load,
    short_byte_share,
)
from capsmodel.fct.slow_start import rounds
from capsmodel.queueing.mg1 import mg1_wait_quantile
from capsmodel.queueing.service import Deterministic
from capsmodel.workloads.catalogue import FlowSizes, PacketSizes, load_workload

WEB = load_workload("websearch").in_packets(1500)
LOADS = np.arange(1, 9) / 10


# Least and largest reduction over all distributions on 1 to 68 packets, in whole percents (mean, 99th percentile), at
# loads 0.1 to 0.8: worked out from the two extreme sizes without this package.
GAIN_BOUNDS = [
    (8, 20, 17, 81),
    (15, 32, 28, 78),
    (20, 39, 35, 72),
    (25, 43, 39, 67),
    (29, 44, 42, 61),
    (32, 44, 42, 56),
    (33, 42, 41, 49),
    (31, 36, 36, 40),
]


def gain(function, sizes, load, **options):
    """Relative reduction by two copies at the byte share of RepFlow's figures."""
    return 1 - function(load, sizes=sizes, replicas=2, short_byte_share=0.05, **options) / function(
        load, sizes=sizes, **options
    )


class TestRounds:
    @given(st.integers(1, 10**6), st.integers(1, 100))
    def test_whole_rounds_by_counting_windows(self, flow, window):
        sent, count = 0, 0
        while sent < flow:
            sent += window * 2**count
            count += 1
        assert rounds(flow, window_packets=window, rounding="whole") == count

    @given(st.integers(1, 40), st.integers(1, 100))
    def test_filled_windows_are_whole(self, count, window):
        flow = window * (2**count - 1)
        assert rounds(flow, window_packets=window) == pytest.approx(count, rel=1e-14)
        assert rounds(flow, window_packets=window, rounding="whole") == count

    def test_below_one_window(self):
        assert rounds(1) == pytest.approx(math.log2(13 / 12), rel=1e-15)
        assert rounds(1, rounding="whole") == 1
        assert rounds(2.1, window_packets=0.7, rounding="whole") == 2  # 2.1 / 0.7 is 3.0000000000000004


class TestLoads:
    def test_in_exact_rationals(self, subtests):
        for share in [Fraction(0), Fraction(1, 20), Fraction(1, 3)]:
            for replicas in [1, 2, 3, 8]:
                with subtests.test(share=share, replicas=replicas):
                    load = Fraction(2, 7)
                    each = (1 + (replicas - 1) * share) * load
                    options = {"short_byte_share": float(share), "replicas": replicas}
                    assert replicated_load(float(load), **options) == pytest.approx(float(each), rel=1e-14)
                    assert effective_load(float(load), **options) == pytest.approx(float(each**replicas), rel=1e-14)

    @given(st.floats(0.001, 1), st.integers(2, 10))
    def test_break_even_is_the_fixed_point(self, share, replicas):
        load = replication_break_even_load(share, replicas=replicas)
        assert effective_load(load, short_byte_share=share, replicas=replicas) == pytest.approx(load, rel=1e-12)
        assert replicated_load(load, short_byte_share=share, replicas=replicas) < 1

    def test_break_even_of_two_copies(self):
        assert replication_break_even_load(0.05) == pytest.approx(1.05**-2, rel=1e-14)
        assert replication_break_even_load(0) == 1

    def test_byte_share_is_that_of_the_law(self):
        distribution = load_workload("datamining")
        assert short_byte_share(distribution.in_packets(1500), short_packets=50) == pytest.approx(
            distribution.byte_share_below(75_000)
        )


class TestShortFlows:
    @given(st.floats(1, 68), st.floats(0, 0.95), st.sampled_from(["fractional", "whole"]))
    def test_one_size_by_hand(self, flow, load, rounding):
        distribution = PacketSizes.fixed(flow)
        wait = load * 44 / (2 * (1 - load))
        windows = rounds(flow, rounding=rounding)
        assert mean_fct(load, sizes=distribution, rounding=rounding) == pytest.approx(
            windows * wait / flow + 1, rel=1e-12
        )
        tail = ((windows - 1) * wait + 2 * math.log(10) * wait) / flow + 1
        assert tail_fct(load, sizes=distribution, rounding=rounding) == pytest.approx(tail, rel=1e-12)

    @pytest.mark.parametrize("quantile", [0.9, 0.99, 0.999])
    def test_exact_tail_puts_one_round_at_the_exact_quantile(self, quantile):
        distribution, load = PacketSizes.fixed(36), 0.6
        wait = mg1_wait_quantile(quantile, load=load, service=Deterministic(44))
        expected = (0.6 * 44 / 0.8 + wait) / 36 + 1
        assert tail_fct(load, sizes=distribution, quantile=quantile, tail="exact") == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("rounding", ["fractional", "whole"])
    def test_law_of_two_sizes_averages(self, rounding):
        parts = [PacketSizes.fixed(5), PacketSizes.fixed(60), PacketSizes.fixed(5000)]
        distribution = PacketSizes.mixture(parts, shares=[0.6, 0.2, 0.2])
        for function in (mean_fct, tail_fct):
            expected = np.dot([0.75, 0.25], [function(0.7, sizes=part, rounding=rounding) for part in parts[:2]])
            assert function(0.7, sizes=distribution, rounding=rounding) == pytest.approx(expected, rel=1e-12)

    def test_whole_packets_need_no_least_size(self):
        whole = load_workload("websearch").in_packets(1500, whole=True)
        for least in (1e-9, 1.0):
            assert mean_fct(0.5, sizes=whole, smallest_packets=least) == pytest.approx(
                mean_fct(0.5, sizes=whole), rel=1e-13
            )

    def test_printed_integral_from_zero(self):
        """The mean integrand tends to 1/(k ln 2) at size 0; the tail's diverges like ln(1/size)."""
        mean = [mean_fct(0.5, sizes=WEB, smallest_packets=least) for least in (1, 1e-3, 1e-6, 1e-9)]
        assert mean[2] == pytest.approx(mean[3], rel=1e-8)
        assert mean[0] == pytest.approx(mean[3], rel=2e-3)
        tail = [tail_fct(0.5, sizes=WEB, smallest_packets=least) for least in (1e-3, 1e-6, 1e-9)]
        density = WEB.cdf(1) / WEB.cdf(68)
        per_decade = (2 * math.log(10) - 1) * 22 * density * math.log(1e3)
        assert tail[1] - tail[0] == pytest.approx(per_decade, rel=1e-3)
        assert tail[2] - tail[1] == pytest.approx(per_decade, rel=1e-3)

    def test_no_load_means_no_wait(self):
        for function in (mean_fct, tail_fct, mean_fct_long, tail_fct_long):
            assert function(0.0, sizes=WEB, replicas=2) == 1


class TestReplication:
    def test_bounds_are_those_of_the_extreme_sizes(self, subtests):
        for index in range(8):
            with subtests.test(index=index):
                load, (mean_low, mean_high, tail_low, tail_high) = LOADS[index], GAIN_BOUNDS[index]
                one, most = PacketSizes.fixed(1), PacketSizes.fixed(68)
                assert 100 * gain(mean_fct, most, load) == pytest.approx(mean_low, abs=0.5)
                assert 100 * gain(mean_fct, one, load) == pytest.approx(mean_high, abs=0.5)
                assert 100 * gain(tail_fct, most, load) == pytest.approx(tail_low, abs=0.5)
                assert 100 * gain(tail_fct, one, load) == pytest.approx(tail_high, abs=0.5)

    @given(
        st.lists(st.tuples(st.floats(1, 68), st.floats(0.01, 1)), min_size=1, max_size=4),
        st.floats(0.01, 0.94),
    )
    def test_no_law_gains_more_than_the_bound(self, parts, load):
        distribution = PacketSizes.mixture([PacketSizes.fixed(x) for x, _ in parts], shares=[w for _, w in parts])
        low, high = (gain(mean_fct, PacketSizes.fixed(x), load) for x in (68, 1))
        assert min(low, high) - 1e-12 <= gain(mean_fct, distribution, load) <= max(low, high) + 1e-12
        assert gain(mean_fct, distribution, load) < 0.4475

    def test_largest_mean_gain(self):
        load = np.linspace(0.01, 0.9, 8901)
        gains = gain(mean_fct, PacketSizes.fixed(1), load)
        assert gains.max() == pytest.approx(0.447, abs=0.0005)
        assert load[np.argmax(gains)] == pytest.approx(0.55, abs=0.01)

    def test_helps_up_to_the_break_even_load_and_not_beyond(self, subtests):
        for tail in ["effective_bandwidth", "exact"]:
            for rounding in ["fractional", "whole"]:
                with subtests.test(tail=tail, rounding=rounding):
                    edge = replication_break_even_load(0.05)
                    for function, options in ((mean_fct, {}), (tail_fct, {"tail": tail})):
                        below, above = gain(
                            function, WEB, np.array([edge - 1e-3, edge + 1e-3]), rounding=rounding, **options
                        )
                        assert below > 0 > above

    def test_more_copies_help_at_low_load_and_overload_sooner(self):
        share = 0.05
        fct = [mean_fct(0.3, sizes=WEB, replicas=n, short_byte_share=share) for n in (1, 2, 3, 4)]
        assert all(later < earlier for earlier, later in itertools.pairwise(fct))
        for n in (2, 3, 4):
            limit = 1 / (1 + (n - 1) * share)
            for function in (mean_fct, tail_fct, mean_fct_long, tail_fct_long):
                values = function([limit - 1e-6, limit + 1e-6], sizes=WEB, replicas=n, short_byte_share=share)
                assert np.isfinite(values).tolist() == [True, False]

    def test_default_share_is_that_of_the_law(self):
        share = short_byte_share(WEB)
        for function in (mean_fct, tail_fct, mean_fct_long, tail_fct_long):
            expected = function(LOADS, sizes=WEB, replicas=2, short_byte_share=share)
            np.testing.assert_array_equal(function(LOADS, sizes=WEB, replicas=2), expected)


class TestLongFlows:
    @given(st.floats(0, 0.99))
    def test_mean_depends_on_the_load_alone(self, load):
        for distribution in (WEB, PacketSizes.fixed(100), PacketSizes.uniform(69, 1e6)):
            assert mean_fct_long(load, sizes=distribution) == pytest.approx(load / (2 * (1 - load)) + 1, rel=1e-12)

    def test_harm_by_replication(self):
        """Eq. 8 over Eq. 7: 0.7, 3.5, 20.8 and 74.4% longer at load 0.2, 0.5, 0.8, 0.9 and share 0.05."""
        load = np.array([0.2, 0.5, 0.8, 0.9])
        ratio = mean_fct_long(load, sizes=WEB, replicas=2, short_byte_share=0.05) / mean_fct_long(load, sizes=WEB)
        np.testing.assert_allclose(100 * (ratio - 1), [0.7, 3.5, 20.8, 74.4], atol=0.05)

    def test_whole_bursts_by_hand(self):
        distribution = PacketSizes.mixture([PacketSizes.fixed(88), PacketSizes.fixed(100)], shares=[1, 1])
        expected = 22 * (2 / 88 + 3 / 100) / 2 + 1
        assert mean_fct_long(0.5, sizes=distribution, rounding="whole") == pytest.approx(expected, rel=1e-12)

    def test_tail_by_hand(self):
        distribution = PacketSizes.fixed(440)
        expected = 1.5 + (2 * math.log(10) - 1) * 22 / 440
        assert tail_fct_long(0.5, sizes=distribution) == pytest.approx(expected, rel=1e-12)
        exact = 1.5 + (mg1_wait_quantile(0.99, load=0.5, service=Deterministic(44)) - 22) / 440
        assert tail_fct_long(0.5, sizes=distribution, tail="exact") == pytest.approx(exact, rel=1e-12)

    def test_border_belongs_to_the_short_flows(self):
        threshold = PacketSizes.fixed(68)
        assert mean_fct(0.5, sizes=threshold) > 1
        with pytest.raises(ParameterError, match="no flow above 68"):
            mean_fct_long(0.5, sizes=threshold)


class TestShapesAndErrors:
    def test_scalar_and_array(self, subtests):
        for function in [mean_fct, tail_fct, mean_fct_long, tail_fct_long]:
            with subtests.test(function=function):
                assert type(function(0.5, sizes=WEB)) is float
                assert function(np.full((3, 2), 0.5), sizes=WEB).shape == (3, 2)

    def test_bad_input(self, subtests):
        cases = [
            (lambda: mean_fct(0.5, sizes=load_workload("websearch")), "must be in packets"),
            (lambda: mean_fct(1.0, sizes=WEB), "load = 1"),
            (lambda: mean_fct(0.5, sizes=WEB, replicas=0), "replicas = 0"),
            (lambda: mean_fct(0.5, sizes=WEB, rounding="up"), "rounding = 'up'"),
            (lambda: tail_fct(0.5, sizes=WEB, tail="normal"), "tail = 'normal'"),
            (lambda: tail_fct(0.5, sizes=WEB, quantile=1), "quantile = 1"),
            (lambda: mean_fct(0.5, sizes=WEB, smallest_packets=0), "smallest_packets = 0"),
            (lambda: mean_fct(0.5, sizes=PacketSizes.fixed(100)), "no flow above 0 and up to 68"),
            (lambda: mean_fct(0.5, sizes=WEB, short_byte_share=1.5), "short_byte_share = 1.5"),
            (lambda: replication_break_even_load(0.1, replicas=1), "replicas = 1"),
            (lambda: rounds(0), "flow_packets = 0"),
            (lambda: short_byte_share(FlowSizes.fixed(3)), "FlowSizes"),
        ]
        for call, text in cases:
            with subtests.test(call=call, text=text), pytest.raises(ParameterError, match=text):
                call()
