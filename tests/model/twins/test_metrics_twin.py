"""Second implementations of the measures: every packet sent over every hop, every displacement counted one by one."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.metrics import ideal_fct_s, reorder_density
from capsmodel.workloads.catalogue import load_workload, workload_names


def last_bit_in_byte_times(flow, mss, header, hops):
    """Store and forward packet by packet; the unit of time is one byte on a link."""
    packets = [min(mss, flow - sent) + header for sent in range(0, flow, mss)]
    free = [0] * hops
    ready = 0
    for packet in packets:
        ready = 0
        for hop in range(hops):
            free[hop] = max(free[hop], ready) + packet
            ready = free[hop]
    return ready


@given(st.integers(1, 3000), st.integers(1, 200), st.integers(0, 60), st.integers(1, 6))
def test_ideal_time_packet_by_packet(flow, mss, header, hops):
    value = ideal_fct_s(flow, rate_bps=8.0, n_hops=hops, mss_bytes=mss, header_bytes=header)
    assert value == pytest.approx(last_bit_in_byte_times(flow, mss, header, hops), rel=1e-14)


@given(st.lists(st.integers(1, 25), min_size=1, max_size=25, unique=True))
def test_reorder_density_without_a_threshold(arrivals):
    """Receive indices are the numbers that came, in rising order; nothing is out of reach."""
    counts = {}
    for index, number in zip(sorted(arrivals), arrivals, strict=True):
        counts[index - number] = counts.get(index - number, 0) + 1
    result = reorder_density(arrivals, threshold_packets=25)
    expected = {value: count / len(arrivals) for value, count in counts.items()}
    assert dict(zip(result.displacement.tolist(), result.density.tolist(), strict=True)) == pytest.approx(expected)


def test_quantiles_of_workloads_by_scanning_the_table(subtests):
    for name in workload_names():
        with subtests.test(name=name):
            distribution = load_workload(name)
            points = list(zip(distribution.sizes.tolist(), distribution.cdf_values.tolist(), strict=True))
            for q in (0.001, 0.01, 0.15, 0.5, 0.85, 0.99, 0.9999):
                for (a, below), (b, upto) in itertools.pairwise(points):
                    if below < q <= upto:
                        expected = a + (b - a) * (q - below) / (upto - below)
                        break
                assert distribution.quantile(q) == pytest.approx(expected, rel=1e-12)
