"""The types of results: numbers in, a number out; arrays in, an array out.

`assert_type` is what mypy reads (``make types``); the tests ask the same of the values. Functions say so by two
overloads that repeat their parameters: `ParamSpec` keeps names but cannot narrow types; a protocol that takes ``*args``
and ``**kwargs`` takes misspelt names; a constrained type variable takes neither lists nor numbers beside arrays.
"""

from typing import TypedDict, assert_type

import numpy as np
import numpy.typing as npt

import capsmodel as cm
from capsmodel.multipath.coded_transport import is_small_flow
from capsmodel.multipath.lia import lia_alpha
from capsmodel.workloads.sizes import SizeDistribution

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Fabric(TypedDict):
    rtt_short_s: float
    rtt_long_s: float
    packet_bytes: float
    rate_bps: float


FABRIC = Fabric(rtt_short_s=1e-4, rtt_long_s=3e-3, packet_bytes=1500, rate_bps=1e9)


def test_a_closed_form_of_numbers_is_a_number() -> None:
    prob = cm.decode_prob(10, r=2, blocking_prob=0.1)
    assert_type(prob, float)
    assert isinstance(prob, float)
    r = cm.repair_packets(10, blocking_prob=0.1)
    assert_type(r, int)
    assert isinstance(r, int)
    small = is_small_flow(20, n_subflows=4)
    assert_type(small, bool)
    assert isinstance(small, bool)


def test_a_closed_form_of_arrays_is_an_array() -> None:
    prob = cm.decode_prob([10, 20], r=2, blocking_prob=np.array([0.1, 0.2]))
    assert_type(prob, Floats)
    assert prob.dtype == np.float64
    r = cm.repair_packets([10, 20], blocking_prob=0.1)
    assert_type(r, Ints)
    assert r.dtype == np.int64
    small = is_small_flow([20, 21], n_subflows=4)
    assert_type(small, npt.NDArray[np.bool_])
    assert small.dtype == np.bool_


def test_a_list_is_reduced_to_a_number_and_an_array_perhaps() -> None:
    fairness = cm.jain_fairness([1, 1, 0])
    assert_type(fairness, float)
    assert isinstance(fairness, float)
    assert_type(lia_alpha([10, 10], rtts_s=1e-3), float)
    of_array = cm.jain_fairness(np.eye(3))
    assert_type(of_array, float | Floats)
    assert isinstance(of_array, np.ndarray)


def test_the_optimal_unit_has_ints_and_floats_or_arrays_of_them() -> None:
    one = cm.optimal_coding_unit(64, blocking_prob=0.2, **FABRIC)
    assert_type(one.k, int)
    assert_type(one.delay_s, float)
    assert (type(one.k), type(one.delay_s)) == (int, float)
    many = cm.optimal_coding_unit(64, blocking_prob=[0.2, 0.3], **FABRIC)
    assert_type(many.r, Ints)
    assert_type(many.decode_prob, Floats)
    assert many.r.dtype == np.int64
    assert many.decode_prob.dtype == np.float64


def test_whole_sizes_are_ints() -> None:
    sizes = SizeDistribution.uniform(0, 10)
    assert_type(sizes.sample(3, rng=1, whole=True), Ints)
    assert sizes.sample(3, rng=1, whole=True).dtype == np.int64
    assert_type(sizes.sample(3, rng=1), Floats)
    assert sizes.sample(3, rng=1).dtype == np.float64
