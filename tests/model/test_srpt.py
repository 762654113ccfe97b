"""Mean response under SRPT: quadrature in mpmath, exact rationals, orders of arrival, and a simulated queue."""

import heapq
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

from capsmodel.checks import ParameterError
from capsmodel.experiments.agreement import agreement
from capsmodel.papers.measurements.means import batch_columns, mean_in_row
from capsmodel.queueing.mg1 import mg1_mean_wait
from capsmodel.queueing.service import Deterministic, Empirical, Erlang, Exponential, Hyperexponential
from capsmodel.queueing.srpt import srpt_mean_response, srpt_mean_response_of_size

SERVICES = [
    Deterministic(44),
    Empirical((1, 12, 44), (0.5, 0.3, 0.2)),
    Exponential(2.0),
    Erlang(5, 3.0),
    Hyperexponential((0.9, 0.1), (1.0, 20.0)),
]
LOADS = [0.05, 0.5, 0.8, 0.95, 0.99]
STATED_ERROR = 1e-9


def integrals(density, mean, load, points):
    """E[T] of Schrage and Miller's formula with every integral taken numerically, in 20 digits."""
    with mp.workdps(20):
        rate = mp.mpf(load) / mean

        def moment(order, x):
            return mp.quad(lambda t: t**order * density(t), [0, *(p for p in points if p < x), x])

        def response(x):
            square = moment(2, x) + x**2 * (1 - moment(0, x))
            served = mp.quad(lambda t: 1 / (1 - rate * moment(1, t)), [0, x / 2, x])
            return rate * square / (2 * (1 - rate * moment(1, x)) ** 2) + served

        return float(response(points[1]))


def mm1(load):
    """E[T] of M/M/1 with mean service 1, by quadrature of the formula with its elementary integrals."""
    rate = mp.mpf(load)

    def busy(x):
        return 1 - rate * (1 - mp.exp(-x) * (1 + x))

    def of_size(x):
        square = 2 - 2 * mp.exp(-x) * (1 + x)
        return rate * square / (2 * busy(x) ** 2)

    return float(mp.quad(lambda x: mp.exp(-x) * (of_size(x) + 1 / busy(x)), [0, 1, 2, 4, 8, 16, 32, 64]))


@pytest.mark.parametrize("load", LOADS)
def test_mm1_by_quadrature(load):
    assert srpt_mean_response(load, service=Exponential(1.0)) == pytest.approx(mm1(load), rel=STATED_ERROR)
    assert srpt_mean_response(load, service=Exponential(3.0)) == pytest.approx(3 * mm1(load), rel=STATED_ERROR)


@pytest.mark.parametrize(
    ("service", "density"),
    [
        (Erlang(3, 3.0), lambda t: t**2 * mp.exp(-t) / 2),
        (Hyperexponential((0.5, 0.5), (1.0, 5.0)), lambda t: (mp.exp(-t) + mp.exp(-t / 5) / 5) / 2),
    ],
)
def test_response_of_a_size_from_the_density_alone(service, density):
    value = srpt_mean_response_of_size(4.0, load=0.7, service=service)
    assert value == pytest.approx(integrals(density, service.mean, 0.7, (2, 4)), rel=STATED_ERROR)


@pytest.mark.parametrize("service", [*SERVICES[2:4], Hyperexponential((0.5, 0.5), (1.0, 3.0))])
def test_the_mean_is_over_the_responses_of_all_sizes(service):
    """By Gauss-Laguerre nodes."""
    nodes, weights = np.polynomial.laguerre.laggauss(120)
    scale = service.second_moment / service.mean
    found = srpt_mean_response_of_size(nodes * scale, load=0.6, service=service)
    mean = np.sum(weights * np.exp(nodes) * service.density(nodes * scale) * found) * scale
    assert mean == pytest.approx(srpt_mean_response(0.6, service=service), rel=1e-6)


@pytest.mark.parametrize("load", LOADS)
def test_one_size_is_order_of_arrival(load):
    wait = mg1_mean_wait(load, mean_service=44, second_moment_service=44**2)
    assert srpt_mean_response(load, service=Deterministic(44)) == pytest.approx(44 + wait, rel=1e-14)


def test_two_sizes_in_rationals():
    """Jobs of 1 and 3, equally frequent, load 1/2, so one in 4: the wait of 1 is for what is left of 3 up to 1."""
    rate = Fraction(1, 4)
    short = rate * (Fraction(1, 2) + Fraction(1, 2)) / (2 * (1 - rate / 2)) + 1
    long = rate * 5 / (2 * (1 - 2 * rate) * (1 - rate / 2)) + 1 + 2 / (1 - rate / 2)
    service = Empirical((3, 1), (0.5, 0.5))
    found = srpt_mean_response_of_size([1, 3], load=0.5, service=service)
    assert found.tolist() == pytest.approx([float(short), float(long)], rel=1e-14)
    assert srpt_mean_response(0.5, service=service) == pytest.approx(float((short + long) / 2), rel=1e-14)


def test_a_size_between_two_atoms():
    """A job of 2 waits for all of 1 and for what is left of 3 up to 2; later ones of 1 go before it."""
    rate = Fraction(1, 4)
    wait = rate * (Fraction(1, 2) + Fraction(1, 2) * 4) / (2 * (1 - rate / 2) ** 2)
    value = srpt_mean_response_of_size(2, load=0.5, service=Empirical((1, 3), (0.5, 0.5)))
    assert value == pytest.approx(float(wait + 1 + 1 / (1 - rate / 2)), rel=1e-14)


@pytest.mark.parametrize("service", SERVICES)
def test_never_longer_than_in_order_of_arrival(service):
    loads = np.array([0.0, *LOADS, 0.999])
    moments = {"mean_service": service.mean, "second_moment_service": service.second_moment}
    in_order = service.mean + mg1_mean_wait(loads, **moments)
    found = srpt_mean_response(loads, service=service)
    assert (found <= in_order * (1 + STATED_ERROR)).all()
    assert found[0] == pytest.approx(service.mean, rel=STATED_ERROR)
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("service", SERVICES)
def test_the_smallest_jobs_do_not_wait(service):
    small = 1e-6 * service.mean
    assert srpt_mean_response_of_size(small, load=0.9, service=service) == pytest.approx(small, rel=1e-4)


@pytest.mark.parametrize("service", SERVICES)
def test_parts_of_moments(service):
    whole = [service.partial_moment(order, np.array([0.0, np.inf])) for order in range(3)]
    expected = [[0, 1], [0, service.mean], [0, service.second_moment]]
    np.testing.assert_allclose(whole, expected, rtol=1e-14)


@pytest.mark.parametrize("service", SERVICES[2:])
def test_the_density_is_that_of_the_moments(service):
    edges = np.array([0.5, 1.5, 4.0, 20.0])
    for first, last in pairwise(edges):
        nodes, weights = np.polynomial.legendre.leggauss(60)
        times = (first + last) / 2 + (last - first) / 2 * nodes
        part = (last - first) / 2 * np.sum(weights * times * service.density(times))
        between = np.diff(service.partial_moment(1, np.array([first, last])))[0]
        assert part == pytest.approx(between, rel=1e-12)


def simulated(sizes, gaps):
    """Return the response time of each job of a queue that always serves the one with the least left."""
    responses, waiting, now = np.empty(len(sizes)), [], 0.0
    for job, arrival in enumerate(np.cumsum(gaps)):
        while waiting and now + waiting[0][0] <= arrival:
            left, done = heapq.heappop(waiting)
            now += left
            responses[done] += now
        if waiting:
            left, served = waiting[0]
            heapq.heapreplace(waiting, (left - (arrival - now), served))
        now = arrival
        responses[job] = -arrival
        heapq.heappush(waiting, (sizes[job], job))
    for left, done in sorted(waiting):
        now += left
        responses[done] += now
    return responses


@pytest.mark.parametrize("service", SERVICES[1:])
def test_simulated_queue(service):
    load, jobs, rng = 0.7, 100_000, np.random.default_rng(5)
    sizes = service.sample(jobs, rng=rng)
    responses = simulated(sizes, rng.exponential(service.mean / load, jobs))
    model = srpt_mean_response(load, service=service)
    verdict = agreement(model, mean_in_row(batch_columns(found=responses[2000:]), "found"), detect=0.2 * model)
    assert verdict, verdict


def test_scalars_give_floats_and_arrays_broadcast():
    assert isinstance(srpt_mean_response(0.5, service=Exponential(1.0)), float)
    assert isinstance(srpt_mean_response_of_size(1, load=0.5, service=Deterministic(1)), float)
    for service in SERVICES:
        table = srpt_mean_response_of_size([[1.0, 30.0]], load=[[0.2], [0.9]], service=service)
        one_by_one = [
            [srpt_mean_response_of_size(x, load=load, service=service) for x in (1, 30)] for load in (0.2, 0.9)
        ]
        np.testing.assert_allclose(table, one_by_one, rtol=1e-10)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: srpt_mean_response(1.0, service=Exponential(1.0)), "load = 1, but it must lie in [0, 1)"),
        (
            lambda: srpt_mean_response_of_size(0, load=0.5, service=Exponential(1.0)),
            "size = 0, but it must be finite and above 0",
        ),
        (
            lambda: srpt_mean_response(0.5, service=44),
            "service is a int, but it must be a distribution, as in Exponential(2.0)",
        ),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(ParameterError) as caught:
        call()
    assert str(caught.value) == text
