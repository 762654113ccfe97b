"""Mean response under SRPT: quadrature in mpmath, exact rationals, orders of arrival, and a simulated queue."""

import heapq
from dataclasses import dataclass
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

pytestmark = pytest.mark.agreement

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


@dataclass(frozen=True)
class Lomax:
    """P(S > t) = (1 + t)^-a: a class of one's own with a heavy tail, and infinite variance up to a = 2."""

    a: float

    @property
    def mean(self):
        return 1 / (self.a - 1)

    def density(self, time):
        return self.a * (1 + time) ** (-self.a - 1)

    def survival(self, time):
        return (1 + time) ** -self.a

    def mean_above(self, time):
        return (1 + time) ** -self.a * (time + (1 + time) / (self.a - 1))

    def partial_moment(self, order, upto):
        assert order == 2
        grown = [self.a * np.expm1((power - self.a) * np.log1p(upto)) / (power - self.a) for power in range(3)]
        return grown[2] - 2 * grown[1] + grown[0]


@dataclass(frozen=True)
class Pareto(Lomax):
    """The same tail from 1 on: the density jumps there."""

    @property
    def mean(self):
        return self.a / (self.a - 1)

    def density(self, time):
        return np.where(time < 1, 0.0, self.a * np.maximum(time, 1) ** (-self.a - 1))

    def survival(self, time):
        return np.maximum(time, 1) ** -self.a

    def mean_above(self, time):
        return self.mean * np.maximum(time, 1) ** (1 - self.a)

    def partial_moment(self, order, upto):
        return self.a * (np.maximum(upto, 1) ** (2 - self.a) - 1) / (2 - self.a)


def by_the_tail(load, survival, above, area, bends, mean):
    """E[T] without a density: the wait is the integral of (area of t P(S > t) up to x) dP over the square of 1 - rho.

    `above` is E[S; S > t], and `area` the integral of u P(u) up to t; over the logarithm of the size, in 30 digits.
    """
    with mp.workdps(30):
        load, rate = mp.mpf(load), mp.mpf(load) / mean

        def idle(x):
            return 1 - load + rate * above(x)

        def at(logarithm):
            x = mp.exp(logarithm)
            # By parts: the slope of area / (1 - rho)^2 times P(S > x); (1 - rho)' = -rate x f, taken by a difference.
            density = -mp.diff(survival, x)
            return x * (rate * density * area(x) / idle(x) ** 2 + survival(x) / idle(x))

        return float(mp.quad(at, bends))


HEAVY_BENDS = [-80, -40, -20, -10, -5, -2, 0, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1280]


@pytest.mark.parametrize("load", [0.3, 0.8])
@pytest.mark.parametrize("a", [3.5, 2.5, 1.9, 1.5, 1.1])
def test_heavy_tails(a, load):
    """Far beyond the size at which 1 - P(S <= t) is a rounding error, as at a = 1.1 most of the work is."""
    b = mp.mpf(a)

    def area(x):
        grown = (1 + x) ** (2 - b)
        return (grown - 1) / (2 - b) - ((1 + x) ** (1 - b) - 1) / (1 - b)

    expected = by_the_tail(
        load,
        lambda x: (1 + x) ** -b,
        lambda x: (1 + x) ** -b * (x + (1 + x) / (b - 1)),
        area,
        HEAVY_BENDS,
        1 / (b - 1),
    )
    assert srpt_mean_response(load, service=Lomax(a)) == pytest.approx(expected, rel=STATED_ERROR)


@pytest.mark.parametrize(("a", "expected"), [(2.5, 0.796027), (1.9, 1.325287), (1.5, 2.382588)])
def test_heavy_tails_by_another_program(a, expected):
    assert srpt_mean_response(0.3, service=Lomax(a)) == pytest.approx(expected, abs=6e-7)


@pytest.mark.parametrize("load", [0.3, 0.8, 0.9999])
def test_a_heavy_tail_with_a_jump(load):
    """Jobs of at least 1: by the integral from there on, and one job of 1 that nothing stops before."""
    b = mp.mpf("2.5")
    expected = by_the_tail(
        load,
        lambda x: x**-b,
        lambda x: b / (b - 1) * x ** (1 - b),
        lambda x: mp.mpf(1) / 2 + (x ** (2 - b) - 1) / (2 - b),
        [0, 1, 2, 5, 10, 20, 40, 80, 160, 320],
        b / (b - 1),
    )
    value = srpt_mean_response(load, service=Pareto(2.5))
    assert value == pytest.approx(expected + 1 / (1 - load + load * 1), rel=STATED_ERROR)


@pytest.mark.parametrize(
    ("probs", "means", "expected"),
    [((0.99999, 1e-5), (1.0, 1e5), 2.38217471127), ((1 - 1e-6, 1e-6), (1.0, 1e6), 2.38218504778)],
)
def test_wide_service_by_another_program(probs, means, expected):
    """Load 0.3; one job in a million is a million times as long, and half of the work."""
    value = srpt_mean_response(0.3, service=Hyperexponential(probs, means))
    assert value == pytest.approx(expected, rel=STATED_ERROR)


@pytest.mark.parametrize("load", [0.3, 0.9, 0.9999])
def test_wide_service_by_quadrature(load):
    p, m = (mp.mpf(1 - 1e-6), mp.mpf(1e-6)), (mp.mpf(1), mp.mpf(1e6))
    both = list(zip(p, m, strict=True))
    expected = by_the_tail(
        load,
        lambda x: mp.fsum(a * mp.exp(-x / b) for a, b in both),
        lambda x: mp.fsum(a * (x + b) * mp.exp(-x / b) for a, b in both),
        lambda x: mp.fsum(a * b * (b - (b + x) * mp.exp(-x / b)) for a, b in both),
        [-60, -30, -10, -4, -2, 0, 1, 2, 3, 4, 8, 11, 13, 14, 15, 16, 17, 18, 19],
        mp.fsum(a * b for a, b in both),
    )
    value = srpt_mean_response(load, service=Hyperexponential(tuple(map(float, p)), (1.0, 1e6)))
    assert value == pytest.approx(expected, rel=STATED_ERROR)


@pytest.mark.parametrize("service", [Lomax(1.5), Hyperexponential((1 - 1e-6, 1e-6), (1.0, 1e6))])
def test_the_time_in_service_of_a_large_job(service):
    """What short jobs take from it happens in the first millionth of its size."""
    size, load = 1e7, 0.8
    rate = load / service.mean
    edges = np.concatenate([[0.0], np.geomspace(1e-9, size, 4000)])
    nodes, weights = np.polynomial.legendre.leggauss(10)
    half = np.diff(edges)[:, None] / 2
    times = edges[:-1, None] + half * (1 + nodes)
    served = np.sum(half * weights / (1 - load + rate * service.mean_above(times)))
    idle = 1 - load + rate * service.mean_above(size)
    wait = rate * (service.partial_moment(2, size) + size**2 * service.survival(size)) / (2 * idle**2)
    assert srpt_mean_response_of_size(size, load=load, service=service) == pytest.approx(wait + served, rel=1e-10)


def test_load_near_1_is_no_reason_to_refuse():
    """1 - rho(t) is 1 - rho plus the work above t, which has all its digits."""
    loads = 1 - 10.0 ** -np.arange(1, 16)
    found = srpt_mean_response(loads, service=Exponential(1.0))
    assert (np.diff(np.log(found)) > 0).all()
    for load, value in zip(loads[[5, 8]], found[[5, 8]], strict=True):
        expected = by_the_tail(
            load,
            lambda x: mp.exp(-x),
            lambda x: (1 + x) * mp.exp(-x),
            lambda x: 1 - (1 + x) * mp.exp(-x),
            [-40, -20, -5, -2, 0, 1, 2, 2.5, 3, 3.5, 4, 5, 6],
            mp.mpf(1),
        )
        assert value == pytest.approx(expected, rel=STATED_ERROR)


def test_a_rare_large_atom():
    """Probabilities that add up to 1 but for rounding: what is above the largest job is nothing, not that rounding."""
    probs, times = (0.7, 0.2, 0.1 - 1e-13, 1e-13), (1.0, 2.0, 3.0, 1e9)
    p, t = [Fraction(one) for one in probs], [Fraction(one) for one in times]
    mean = sum(a * b for a, b in zip(p, t, strict=True))
    load = Fraction(1, 2)
    rate, square = load / mean, sum(a * b**2 for a, b in zip(p, t, strict=True))
    idle = [1 - load + rate * sum(a * b for a, b in zip(p[i:], t[i:], strict=True)) for i in range(5)]
    served = sum((b - a) / c for a, b, c in zip([Fraction(0), *t], t, idle, strict=False))
    expected = rate * square / (2 * idle[4] * idle[3]) + served
    value = srpt_mean_response_of_size(1e9, load=0.5, service=Empirical(times, probs))
    assert value == pytest.approx(float(expected), rel=1e-13)


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


@pytest.mark.parametrize("service", SERVICES)
def test_what_is_above_is_the_rest(service):
    """Below and above add up to the whole, jobs of that very size being below."""
    at = np.array([0.0, 0.5, 1.0, 5.0, 44.0, 50.0])
    np.testing.assert_allclose(service.survival(at) + service.partial_moment(0, at), 1, rtol=1e-14)
    np.testing.assert_allclose(service.mean_above(at) + service.partial_moment(1, at), service.mean, rtol=1e-14)
    assert service.survival(np.array(1e6)) == service.mean_above(np.array(1e6)) == 0 or service == SERVICES[-1]


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


def test_rough_functions_are_named_and_not_the_load():
    with pytest.raises(
        ParameterError, match=r"^the integrals over the sizes of a Cancelling are off by a share of .*e-"
    ):
        srpt_mean_response(0.5, service=Cancelling(2.5))


class WithoutSurvival:
    mean, density, partial_moment = 1.0, None, None


class Cancelling(Lomax):
    """Of which the survival function has half of its digits."""

    def survival(self, time):
        return np.round((1 + time) ** -self.a, 8)


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
        (
            lambda: srpt_mean_response(0.5, service=WithoutSurvival()),
            "service is a WithoutSurvival without survival, mean_above: see SizedService",
        ),
        (
            lambda: srpt_mean_response(0.5, service=Lomax(1.05)),
            "service is too wide: above 1e+150 times its mean there is more than 2e-12 of the work, "
            "which counts at this load",
        ),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(ParameterError) as caught:
        call()
    assert str(caught.value) == text
