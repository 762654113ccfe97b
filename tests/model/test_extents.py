"""Extents of reordering over paths of two speeds: enumeration of all paths, the limit of one, refusals."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from capsmodel.checks import ParameterError
from capsmodel.reordering.dup_acks import duplicate_acks_prob
from capsmodel.reordering.extents import expected_late_packets
from capsmodel.reordering.probability import expected_overtaken_packets


def extents(paths: tuple[str, ...]) -> list[int]:
    """Return the extents of the reordered packets by the definition of RFC 4737, from the order of arrival."""
    arrivals = [i for i, path in enumerate(paths) if path == "g"] + [i for i, path in enumerate(paths) if path == "b"]
    found = []
    for place, number in enumerate(arrivals):
        earlier = [before for before in range(place) if arrivals[before] > number]
        if earlier:
            found.append(place - earlier[0])
    return found


def test_late_packets_equal_the_enumeration_of_all_paths(subtests):
    for size in [1, 2, 5, 9]:
        for bad in [Fraction(1, 8), Fraction(1, 2), Fraction(9, 10)]:
            with subtests.test(size=size, bad=bad):
                exact = [Fraction(0)] * (size + 2)
                for paths in product("gb", repeat=size):
                    weight = bad ** paths.count("b") * (1 - bad) ** paths.count("g")
                    for extent in extents(paths):
                        for least in range(extent + 1):
                            exact[least] += weight
                found = expected_late_packets(np.arange(1, size + 2), flow_packets=size, congested_prob=float(bad))
                np.testing.assert_allclose(found, [float(mean) for mean in exact[1:]], rtol=1e-12)


def test_an_extent_of_one_is_any_overtaking(subtests):
    for size in [1, 30, 400]:
        for bad in [0.0, 1e-6, 0.3, 0.99, 1.0]:
            with subtests.test(size=size, bad=bad):
                expected = expected_overtaken_packets(size, congested_prob=bad)
                assert expected_late_packets(1, flow_packets=size, congested_prob=bad) == pytest.approx(
                    expected, rel=1e-9
                )


@pytest.mark.parametrize("bad", [0.05, 0.4, 0.8])
def test_at_least_as_many_as_flows_with_so_many_duplicate_acks(bad):
    least = np.arange(1, 30)
    flows = duplicate_acks_prob(least, flow_packets=30, congested_prob=bad)
    assert np.all(expected_late_packets(least, flow_packets=30, congested_prob=bad) >= flows * (1 - 1e-12))


def test_refusals():
    for setting in ({"min_extent": 0, "flow_packets": 5}, {"min_extent": 1, "flow_packets": 2001}):
        with pytest.raises(ParameterError):
            expected_late_packets(**setting, congested_prob=0.5)
