"""Identities and properties of flow-size distributions: exact rationals, inverses, shares, integrals, samples."""

import csv
import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.checks import ParameterError
from capsmodel.datafiles import data_path
from capsmodel.workloads.catalogue import FlowSizes, PacketSizes, load_workload, workload_names, workload_source

ALL = workload_names()


@st.composite
def distributions(draw):
    """A distribution of 2 to 6 points with whole sizes, steps included, and probabilities in 64ths."""
    count = draw(st.integers(2, 6))
    sizes = sorted(draw(st.lists(st.integers(0, 5000), min_size=count, max_size=count)))
    inner = sorted(draw(st.lists(st.integers(0, 64), min_size=count - 1, max_size=count - 1)))
    values = [*(v / 64 for v in inner), 1.0]
    if sizes[-1] == 0:
        sizes[-1] = 1
    return FlowSizes(sizes, values)


def exact_moment(distribution, order, *, upto=None):
    """E[X**order; X <= upto] in rationals."""
    total = Fraction(0)
    points = [
        (Fraction(float(x)), Fraction(float(f)))
        for x, f in zip(distribution.sizes, distribution.cdf_values, strict=True)
    ]
    for (a, low), (b, high) in itertools.pairwise(points):
        mass, end = high - low, b if upto is None else min(b, Fraction(upto))
        if upto is not None and a > upto:
            continue
        if a == b:
            total += mass * a**order
        else:
            total += mass / (b - a) * (end ** (order + 1) - a ** (order + 1)) / (order + 1)
    return total


class TestMoments:
    def test_published_tables_in_exact_rationals(self, subtests):
        for name in ALL:
            with subtests.test(name=name):
                distribution = load_workload(name)
                values = (distribution.mean_bytes, distribution.second_moment_bytes2, distribution.third_moment_bytes3)
                for order, value in enumerate(values, 1):
                    assert value == pytest.approx(float(exact_moment(distribution, order)), rel=1e-12)

    def test_published_tables_as_printed(self, subtests):
        """In decimals: a mass p beside F = 1 is known to 2**-53 / p, and so are the moments that rest on it."""
        for name in [name for name in ALL if not name.endswith("_pkts")]:
            with subtests.test(name=name):
                printed = list(csv.DictReader(data_path(f"workloads/{name}.csv").read_text().splitlines()))
                size, cdf = printed[0]
                points = [(Fraction(row[size]), Fraction(row[cdf])) for row in printed]
                points = [(points[0][0], Fraction(0)), *points]
                least = min(float(high - low) for (_, low), (_, high) in itertools.pairwise(points) if high > low)
                distribution = load_workload(name)
                for order in (1, 2, 3):
                    exact = sum(
                        (high - low) * sum(a**i * b ** (order - i) for i in range(order + 1)) / (order + 1)
                        for (a, low), (b, high) in itertools.pairwise(points)
                    )
                    found = distribution._moment(order)
                    assert found == pytest.approx(float(exact), rel=max(1e-14, 2**-53 / least))

    @given(distributions(), st.integers(0, 6000))
    def test_byte_share_in_exact_rationals(self, distribution, x):
        expected = exact_moment(distribution, 1, upto=x) / exact_moment(distribution, 1)
        assert distribution.byte_share_below(x) == pytest.approx(float(expected), rel=1e-12, abs=1e-15)

    @given(distributions())
    def test_variance_is_not_negative(self, distribution):
        assert distribution.second_moment_bytes2 >= distribution.mean_bytes**2 * (1 - 1e-12)
        assert distribution.mean_bytes * distribution.third_moment_bytes3 >= distribution.second_moment_bytes2**2 * (
            1 - 1e-12
        )


class TestDistributionFunction:
    @given(distributions(), st.floats(0, 1))
    def test_quantile_is_the_generalised_inverse(self, distribution, q):
        x = distribution.quantile(q)
        assert distribution.cdf(x) >= q - 1e-12
        if x > distribution.quantile(0.0):
            assert distribution.cdf(math.nextafter(x, -math.inf) - 1e-9 * x) <= q + 1e-12

    def test_quantile_of_cdf_returns_the_size(self, subtests):
        for name in ALL:
            with subtests.test(name=name):
                distribution = load_workload(name)
                spread = np.diff(distribution.sizes) > 0
                rising = spread & (np.diff(distribution.cdf_values) > 0)
                inside = (distribution.sizes[:-1][rising] + distribution.sizes[1:][rising]) / 2
                np.testing.assert_allclose(distribution.quantile(distribution.cdf(inside)), inside, rtol=1e-9)

    @given(distributions())
    def test_shares_run_from_nothing_to_all(self, distribution):
        x = np.linspace(-1, 6000, 200)
        for share in (distribution.flow_share_below(x), distribution.byte_share_below(x)):
            assert share[0] == 0
            assert share[-1] == 1
            assert np.all(np.diff(share) >= -1e-15)

    def test_two_points_of_one_size_are_a_step(self):
        distribution = FlowSizes([100, 200, 200, 300], [0, 0.25, 0.75, 1])
        below = math.nextafter(200, 0)
        assert distribution.cdf([below, 200]) == pytest.approx([0.25, 0.75])
        assert distribution.quantile([0.25, 0.5, 0.75]).tolist() == [200, 200, 200]
        assert distribution.byte_share_below(200) - distribution.byte_share_below(below) == pytest.approx(
            100 / distribution.mean_bytes
        )

    def test_first_value_above_zero_is_mass_on_the_first_size(self):
        distribution = FlowSizes([100, 300], [0.5, 1])
        assert distribution.cdf([99, 100]).tolist() == [0, 0.5]
        assert distribution.mean_bytes == 150


class TestExpectation:
    @given(distributions(), st.integers(0, 5000), st.integers(0, 5000))
    def test_neighbouring_intervals_add_up(self, distribution, a, b):
        low, high = min(a, b), max(a, b)
        parts = [
            distribution.expectation(lambda x: np.exp(-x / 1000), above=above, upto=upto)
            for above, upto in ((-1.0, low), (low, high), (high, np.inf))
        ]
        assert sum(parts) == pytest.approx(distribution.expectation(lambda x: np.exp(-x / 1000)), rel=1e-12)

    def test_powers_give_the_moments(self, subtests):
        for name in ALL:
            with subtests.test(name=name):
                distribution = load_workload(name)
                assert distribution.expectation(np.ones_like) == pytest.approx(1, rel=1e-13)
                assert distribution.expectation(lambda x: x) == pytest.approx(distribution.mean_bytes, rel=1e-13)
                share = distribution.expectation(lambda x: x, upto=100_000) / distribution.mean_bytes
                assert share == pytest.approx(distribution.byte_share_below(100_000), rel=1e-12)

    def test_reciprocal_by_logarithms(self, subtests):
        for name in ALL:
            with subtests.test(name=name):
                distribution, cut = load_workload(name), 2000.0
                expected = mp.mpf(0)
                for i in range(distribution.sizes.size - 1):
                    (a, b), mass = (
                        distribution.sizes[i : i + 2],
                        distribution.cdf_values[i + 1] - distribution.cdf_values[i],
                    )
                    if a == b:
                        expected += mp.mpf(mass) / a if a > cut else 0
                    elif b > cut:
                        expected += mp.mpf(mass) / (b - a) * mp.log(mp.mpf(b) / max(a, cut))
                assert distribution.expectation(lambda x: 1 / x, above=cut) == pytest.approx(float(expected), rel=1e-12)

    def test_jumps_are_exact_when_announced(self):
        distribution = PacketSizes.uniform(0, 10)
        assert distribution.expectation(np.ceil, breaks=range(1, 10)) == pytest.approx(5.5, rel=1e-14)


class TestSampling:
    def test_sample_mean(self, subtests):
        cases = ["websearch_dctcp", "fb_webserver_homa", "solar2022", "univ1_benson_pkts"]
        for name in cases:
            with subtests.test(name=name):
                distribution, count = load_workload(name), 50_000
                sample = distribution.sample(count, rng=5236)
                deviation = math.sqrt(distribution.second_moment_bytes2 - distribution.mean_bytes**2)
                # Four checks with fixed seeds; 4 standard errors have a false-alarm level of 6e-5 each.
                assert abs(sample.mean() - distribution.mean_bytes) <= 4 * deviation / math.sqrt(count)

    def test_whole_sizes_are_rounded_up_and_positive(self):
        distribution = FlowSizes.uniform(0, 4)
        sizes = distribution.sample(1000, rng=7, whole=True)
        assert sizes.dtype == np.int64
        np.testing.assert_array_equal(sizes, np.maximum(np.ceil(distribution.sample(1000, rng=7)), 1))
        assert sizes.min() == 1

    @given(distributions())
    def test_their_mean_is_that_of_the_steps_on_whole_numbers(self, distribution):
        by_steps = distribution.in_packets(1, whole=True).mean_packets
        assert distribution.mean_of_whole() == pytest.approx(by_steps, rel=1e-12)
        halved = FlowSizes(distribution.sizes / 2, distribution.cdf_values)
        assert halved.mean_of_whole() == pytest.approx(halved.in_packets(1, whole=True).mean_packets, rel=1e-12)

    def test_same_stream_for_any_split(self):
        distribution = load_workload("datamining")
        generator = np.random.default_rng(3)
        parts = np.concatenate([distribution.sample(10, rng=generator), distribution.sample(5, rng=generator)])
        np.testing.assert_array_equal(parts, distribution.sample(15, rng=3))


class TestPackets:
    def test_division_scales_the_moments(self, subtests):
        for name in ALL:
            with subtests.test(name=name):
                distribution = load_workload(name)
                packets = distribution.in_packets(1460)
                assert packets.mean_packets == pytest.approx(distribution.mean_bytes / 1460, rel=1e-13)
                assert packets.third_moment_packets3 == pytest.approx(
                    distribution.third_moment_bytes3 / 1460**3, rel=1e-12
                )

    def test_whole_packets_have_the_law_of_rounded_up_sizes(self, subtests):
        for name in ["websearch", "fb_memcached_cisco", "alistorage2019"]:
            with subtests.test(name=name):
                distribution = load_workload(name)
                packets = distribution.in_packets(1460, whole=True)
                n = np.arange(1, 50)
                np.testing.assert_allclose(packets.cdf(n), distribution.cdf(n * 1460.0), rtol=1e-13)
                np.testing.assert_array_equal(packets.cdf(n + 0.5), packets.cdf(n))
                fraction = distribution.in_packets(1460).mean_packets
                assert fraction < packets.mean_packets < fraction + 1

    def test_packet_tables_return_their_packets(self):
        assert load_workload("datamining").in_packets(1460).mean_packets == pytest.approx(5116.6, abs=0.05)
        assert load_workload("websearch_pfabric_pkts").in_packets(1460).mean_packets == pytest.approx(1141.0, abs=0.05)

    def test_arrival_rate(self):
        distribution = load_workload("websearch")
        assert distribution.arrival_rate_per_s(0.6, rate_bps=1e9) == pytest.approx(0.6e9 / (8 * 1711250), rel=1e-14)
        bare, framed = (distribution.arrival_rate_per_s(0.6, rate_bps=1e9, header_bytes=h) for h in (0, 40))
        assert bare / framed == pytest.approx(1500 / 1460, rel=1e-14)
        assert distribution.arrival_rate_per_s([0.1, 0.8], rate_bps=[[1e9], [1e10]]).shape == (2, 2)


class TestConstructors:
    def test_mixture_by_flows_mixes_moments(self):
        parts = [FlowSizes.fixed(70_000), FlowSizes.uniform(1000, 1_024_000), load_workload("websearch")]
        mixed = FlowSizes.mixture(parts, shares=[1, 2, 1])
        for moment in ("mean_bytes", "second_moment_bytes2", "third_moment_bytes3"):
            expected = np.dot([0.25, 0.5, 0.25], [getattr(part, moment) for part in parts])
            assert getattr(mixed, moment) == pytest.approx(expected, rel=1e-12)
        x = np.array([69_999.5, 70_000, 5e5, 1e7])
        expected = np.dot([0.25, 0.5, 0.25], [part.cdf(x) for part in parts])
        np.testing.assert_allclose(mixed.cdf(x), expected, rtol=1e-12)

    def test_mixture_by_data_halves_the_bytes(self):
        # The docstring's "4.5 web-search flows for each data-mining flow".
        web, mining = load_workload("websearch_pfabric_pkts"), load_workload("datamining")
        mixed = FlowSizes.mixture([web, mining], shares=[0.5, 0.5], by="data")
        web_flows = mining.mean_bytes / (web.mean_bytes + mining.mean_bytes)
        assert web_flows / (1 - web_flows) == pytest.approx(4.5, abs=0.05)
        assert mixed.mean_bytes == pytest.approx(web_flows * web.mean_bytes + (1 - web_flows) * mining.mean_bytes)

    def test_no_distribution(self, subtests):
        cases = [
            (([1, 2], [0, 0.9]), "cdf_values ends at 0.9, but it must end at 1"),
            (([1, 2], [0, 1 - 2e-12]), "cdf_values ends at 0.999999999998, but it must end at 1"),
            (([1, 2], [0, 1.1]), "cdf_values = 1.1, but a probability lies in"),
            (([1, 2, 3], [0, 1.5, 1]), "cdf_values = 1.5, but a probability lies in"),
            (([2, 1], [0, 1]), "sizes falls"),
            (([1, 2, 3], [0.5, 0.2, 1]), "never falls"),
            (([-1, 2], [0, 1]), "sizes = -1"),
            (([0, 0], [0, 1]), "all sizes are 0"),
            (([1, 2], [1]), "one length"),
            (([], []), "empty"),
            (([1, math.nan], [0, 1]), "NaN"),
        ]
        for points, text in cases:
            with subtests.test(points=points, text=text), pytest.raises(ParameterError, match=text):
                FlowSizes(*points)

    def test_a_law_cannot_be_changed(self):
        distribution = FlowSizes.fixed(10)
        with pytest.raises(ValueError, match="read-only"):
            distribution.sizes[0] = 3


class TestMeasured:
    @given(st.lists(st.integers(0, 5000), min_size=1, max_size=40).filter(any))
    def test_moments_are_those_of_the_sample(self, sizes):
        """In exact rationals. Catches lines between the sorted sizes, whose mean is short by (max - min)/(2n)."""
        found = PacketSizes.measured(sizes)
        moments = (found.mean_packets, found.second_moment_packets2, found.third_moment_packets3)
        for order, moment in enumerate(moments, 1):
            exact = Fraction(sum(size**order for size in sizes), len(sizes))
            assert moment == pytest.approx(float(exact), rel=1e-12)

    @given(st.lists(st.integers(0, 5000), min_size=1, max_size=40).filter(any), st.integers(-1, 5001))
    def test_it_is_the_empirical_distribution_function(self, sizes, x):
        """And its inverse is the nearest rank, so that nothing is drawn that was not measured."""
        found, count = FlowSizes.measured(sizes), len(sizes)
        assert found.cdf(x) == pytest.approx(sum(size <= x for size in sizes) / count, abs=1e-15)
        middles = (np.arange(count) + 0.5) / count
        assert found.quantile(middles).tolist() == sorted(sizes)
        assert set(found.sample(50, rng=1).tolist()) <= set(map(float, sizes))

    def test_a_heavy_tail_keeps_its_mean_and_its_wait(self):
        """One flow in a hundred has a thousand packets: Pollaczek-Khinchine by hand at load 0.5 is 455 packet times."""
        found = PacketSizes.measured([1] * 99 + [1000])
        assert found.mean_packets == pytest.approx(10.99, rel=1e-12)
        assert found.second_moment_packets2 == pytest.approx(10000.99, rel=1e-12)
        wait = 0.5 / found.mean_packets * found.second_moment_packets2 / (2 * (1 - 0.5))
        assert round(wait, 1) == 455.0

    def test_sizes_that_were_not_measured_are_refused(self):
        for sizes, told in (([], "sizes is empty"), ([3, -1], "sizes = -1"), ([0, 0], "all sizes are 0")):
            with pytest.raises(ParameterError, match=told):
                FlowSizes.measured(sizes)


class TestSumsThatMissOne:
    """A distribution function made by cumsum ends within rounding of 1, on either side."""

    def test_random_histograms_are_taken(self):
        missed = 0
        for seed in range(200):
            weights = np.random.default_rng(seed).random(50)
            sums = np.cumsum(weights / weights.sum())
            missed += sums[-1] != 1
            found = FlowSizes(np.arange(1, 51), sums)
            assert found.cdf_values[-1] == 1
            middles = [Fraction(1), *(Fraction(2 * x + 1, 2) for x in range(1, 50))]
            exact = sum(Fraction(weight) * at for weight, at in zip(weights, middles, strict=True)) / sum(
                map(Fraction, weights)
            )
            assert found.mean_bytes == pytest.approx(float(exact), rel=1e-12)
        assert missed > 50  # the check sees both kinds

    def test_what_misses_one_is_one(self, subtests):
        """Also where classes without flows follow, which would get what is missing."""
        for end in [1 - 1e-16, 1 + 3e-16, 1 - 9e-13, 1 + 9e-13]:
            with subtests.test(end=end):
                for kind in (FlowSizes, PacketSizes):
                    found = kind([1, 2, 3, 9], [0.5, 0.75, end, end])
                    assert found.cdf_values.tolist() == [0, 0.5, 0.75, 1, 1]
                    assert found.quantile(1.0) == 3


class TestNames:
    def test_every_file_has_an_entry_and_loads(self):
        assert len(ALL) == 21
        for name in ALL:
            source = workload_source(name)
            assert source.title
            assert source.caution
            assert "/" in source.source
            assert load_workload(name).name == name
            assert (source.unit == "packets") == (source.mss_bytes is not None)

    def test_aliases(self):
        assert load_workload("websearch").name == "websearch_dctcp"
        assert load_workload("datamining").name == "datamining_pfabric_pkts"

    def test_unknown_name_suggests_near_ones(self):
        with pytest.raises(ParameterError, match=r"'websaerch'.*websearch"):
            load_workload("websaerch")

    def test_too_many_whole_packets(self):
        with pytest.raises(ParameterError, match="give at least 200"):
            load_workload("datamining_vl2").in_packets(1, whole=True)
