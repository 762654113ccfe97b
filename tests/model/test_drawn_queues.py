"""Shortest of a few drawn queues: balance in exact rationals, M/D/1 as one drawn queue, limits, refusals."""

from fractions import Fraction

import numpy as np
import pytest

from capsmodel.checks import ParameterError
from capsmodel.queueing.drawn_queues import _next_tail, drawn_queues_mean_wait, drawn_queues_tail
from capsmodel.queueing.mg1 import mg1_mean_wait


def test_exponential_service_balances_in_exact_rationals(subtests):
    for load in [Fraction(1, 8), Fraction(1, 2), Fraction(7, 8)]:
        for drawn in [1, 2, 3, 7]:
            with subtests.test(load=load, drawn=drawn):
                exact = [Fraction(1), load]
                while len(exact) < 5:
                    exact.append(exact[-1] - load * (exact[-2] ** drawn - exact[-1] ** drawn))
                found = drawn_queues_tail(np.arange(5), load=float(load), drawn=drawn)
                np.testing.assert_allclose(found, [float(share) for share in exact], rtol=1e-12)


def test_one_drawn_queue_of_exponential_service_is_mm1(subtests):
    for load in [0.1, 0.5, 0.9]:
        with subtests.test(load=load):
            model = mg1_mean_wait(load, mean_service=1.0, second_moment_service=2.0)
            assert drawn_queues_mean_wait(load, drawn=1) == pytest.approx(model, rel=1e-12)


@pytest.mark.parametrize("service", ["exponential", "constant"])
@pytest.mark.parametrize("drawn", [2, 3, 16])
def test_the_mean_wait_is_that_of_the_tail_by_little(drawn, service):
    shares = drawn_queues_tail(np.arange(1, 40), load=0.9, drawn=drawn, service=service)
    wait = drawn_queues_mean_wait(0.9, drawn=drawn, service=service)
    assert wait == pytest.approx(shares.sum() / 0.9 - 1, rel=1e-9)


def test_a_queue_whose_arrivals_do_not_depend_on_it_is_md1():
    """P(N = n) of M/D/1 at load 0.3, as the alternating sum of Erlang."""
    load = Fraction(3, 10)
    exp = Fraction(np.exp(0.3).item())
    factorial = [Fraction(1)]
    for number in range(1, 12):
        factorial.append(factorial[-1] * number)

    def term(k, n):
        whole = (-1) ** (n - k) * exp**k
        return whole * ((k * load) ** (n - k) / factorial[n - k] + (k * load) ** (n - k - 1) / factorial[n - k - 1])

    probs = [1 - load, (1 - load) * (exp - 1)]
    probs += [(1 - load) * (exp**n + sum(term(k, n) for k in range(1, n))) for n in range(2, 8)]
    found = _next_tail(0.3 ** np.arange(40.0), 0.3, 1)
    np.testing.assert_allclose(-np.diff(found)[:8], [float(prob) for prob in probs], rtol=1e-9)


@pytest.mark.parametrize("drawn", [2, 5])
def test_constant_service_keeps_the_load_and_is_a_fixed_point(drawn):
    shares = drawn_queues_tail(np.arange(20), load=0.8, drawn=drawn, service="constant")
    assert shares[:2] == pytest.approx([1, 0.8], abs=1e-12)
    np.testing.assert_allclose(_next_tail(shares, 0.8, drawn), shares, atol=1e-11)


def test_order_of_waits():
    """More choices wait less, and constant service less than exponential."""
    loads = [0.3, 0.7, 0.95]
    waits = [drawn_queues_mean_wait(loads, drawn=d, service=s) for s in ("exponential", "constant") for d in (2, 4)]
    two, four, two_constant, four_constant = waits
    assert np.all(four < two)
    assert np.all(four_constant < two_constant)
    assert np.all(two_constant < two)


def test_no_load_no_wait():
    assert [drawn_queues_mean_wait(0, drawn=2, service=s) for s in ("exponential", "constant")] == [0, 0]
    assert drawn_queues_tail([0, 1], load=0, drawn=2, service="constant").tolist() == [1, 0]


def test_refusals(subtests):
    cases = [
        ({"load": 0.5, "drawn": 0}, "drawn"),
        ({"load": 0.5, "drawn": 1001}, "at most 1000"),
        ({"load": 1.0, "drawn": 2}, "load"),
        ({"load": 0.5, "drawn": 2, "service": "uniform"}, "service"),
        ({"load": 0.5, "drawn": 1, "service": "constant"}, "M/D/1"),
        ({"load": 0.995, "drawn": 2, "service": "constant"}, "0.99"),
    ]
    for setting, told in cases:
        with subtests.test(setting=setting, told=told):
            with pytest.raises(ParameterError, match=told):
                drawn_queues_tail(1, **setting)
            with pytest.raises(ParameterError, match=told):
                drawn_queues_mean_wait(**setting)
