"""Second implementation of the exact waits, by other roads than the package takes."""

import math

import numpy as np
import pytest

from capsmodel.queueing.mg1 import mg1_wait_prob, priority_mean_waits
from capsmodel.queueing.service import Deterministic, Empirical, Erlang, Exponential, Hyperexponential


def md1_by_queue_length(wait, load):
    """P(W > wait) in M/D/1, unit service, from the number of customers (Franx 2001), loops only.

    The number at departures solves the balance across each cut; a customer waits at most kD - u iff at most
    k - 1 - j were waiting, where j arrivals came in u.
    """
    longest = int(wait) + 2
    arrive = [math.exp(-load) * load**i / math.factorial(i) for i in range(longest + 60)]
    above = [math.fsum(arrive[i + 1 :]) for i in range(longest + 1)]
    number = [1 - load]
    for level in range(longest):
        up = number[0] * above[level] + math.fsum(number[i] * above[level + 1 - i] for i in range(1, level + 1))
        number.append(up / arrive[0])
    waiting_at_most = [math.fsum(number[: i + 2]) for i in range(longest)]
    k = int(wait) + 1
    mean = load * (k - wait)
    at_most = math.fsum(waiting_at_most[k - 1 - j] * math.exp(-mean) * mean**j / math.factorial(j) for j in range(k))
    return 1 - at_most


def test_md1_from_the_queue_length(subtests):
    for wait in [0, 0.5, 1, 3.75, 12.5, 50.25]:
        for load in [0.1, 0.5, 0.9, 0.99]:
            with subtests.test(wait=wait, load=load):
                # The twin forms 1 - P, so it is right to rounding of 1.
                assert mg1_wait_prob(44 * wait, load=load, service=Deterministic(44)) == pytest.approx(
                    md1_by_queue_length(wait, load), rel=0, abs=2e-14
                )


def residual_tails(service, x):
    """P(S > x)/E[S], the density of the residual life."""
    if isinstance(service, Erlang):
        steps = x * service.phases / service.mean
        return sum(np.exp(-steps) * steps**i / math.factorial(i) for i in range(service.phases)) / service.mean
    return sum(p * np.exp(-x / m) for p, m in zip(service.probs, service.means, strict=True)) / service.mean


@pytest.mark.parametrize(
    "service", [Exponential(2.0), Erlang(4, 2.0), Hyperexponential((0.8, 0.2), (1.0, 6.0))], ids=["M", "E", "H"]
)
@pytest.mark.parametrize("load", [0.2, 0.7, 0.95])
def test_density_laws_by_the_volterra_equation(service, load):
    """P(W > t) = rho (tail of R)(t) + rho * integral of r(x) P(W > t - x): trapezoid rule with one extrapolation."""

    def solve(count):
        x = np.linspace(0, 12.0, count + 1)
        step = x[1]
        density = residual_tails(service, x)
        total = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * step)])
        tail = np.empty(count + 1)
        tail[0] = load
        for i in range(1, count + 1):
            inner = density[1:i] @ tail[i - 1 : 0 : -1] + density[i] * tail[0] / 2
            tail[i] = load * (1 - total[i] + step * inner) / (1 - load * step * density[0] / 2)
        return tail

    coarse, middle, fine = solve(600), solve(1200)[::2], solve(2400)[::4]
    first, second = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
    expected = (16 * second - first) / 15
    value = mg1_wait_prob(np.linspace(0, 12.0, 601), load=load, service=service)
    # Romberg error of the twin (step 0.02, third level).
    np.testing.assert_allclose(value, expected, rtol=0, atol=4e-9)


def virtual_work_tail(wait, load, times, probs, steps):
    """P(W > wait) for atoms by stepping F' = rate (F - sum of p F(t - b)) with Runge-Kutta; `steps` a unit of time."""
    rate, step = load / np.dot(times, probs), 1 / steps
    # Values at half steps let the delayed terms be looked up exactly at all three stages.
    values = np.zeros(2 * round(wait * steps) + 1)
    values[0] = 1 - load

    def delayed(half, before):
        """Sum of p F(t - b) at t = half * step/2; `before` takes the left limit where F jumps, at 0."""
        back = [half - round(2 * b * steps) for b in times]
        return sum(p * values[i] for p, i in zip(probs, back, strict=True) if i > 0 or (i == 0 and not before))

    for i in range(0, len(values) - 2, 2):
        known = [delayed(i, False), delayed(i + 1, False), delayed(i + 2, True)]
        slope = [rate * (values[i] - known[0])]
        for stage, (size, term) in enumerate(((0.5, 1), (0.5, 1), (1.0, 2))):
            slope.append(rate * (values[i] + size * step * slope[stage] - known[term]))
        values[i + 2] = values[i] + step / 6 * (slope[0] + 2 * slope[1] + 2 * slope[2] + slope[3])
        # Cubic Hermite value half-way, of fourth order like the step.
        values[i + 1] = (values[i] + values[i + 2]) / 2 + step / 8 * (slope[0] - rate * (values[i + 2] - known[2]))
    return 1 - values[-1]


def test_atoms_by_integrating_the_delay_equation(subtests):
    for wait in [0.75, 1, 2.5, 6, 9.5]:
        for load in [0.3, 0.8]:
            with subtests.test(wait=wait, load=load):
                times, probs = (1.0, 2.5), (0.7, 0.3)
                value = mg1_wait_prob(wait, load=load, service=Empirical(times, probs))
                # Error of the twin: fourth order in a step of 1/200, growing like exp(rate t).
                assert value == pytest.approx(virtual_work_tail(wait, load, times, probs, 200), rel=0, abs=1e-9)


def test_cobham_by_adding_up_delays():
    """Each class: work in progress, work of its betters found waiting, and work of its betters arriving meanwhile."""
    loads, means, seconds = (0.2, 0.1, 0.4), (1.0, 3.0, 2.0), (1.5, 9.0, 12.0)
    residual = sum(r * s / m for r, s, m in zip(loads, seconds, means, strict=True)) / 2
    waits = []
    for p in range(3):
        found = residual + sum(loads[i] * waits[i] for i in range(p))
        # W = found + load_p W + (sum of better loads) W
        waits.append(found / (1 - loads[p] - sum(loads[:p])))
    value = priority_mean_waits(loads, mean_services=means, second_moments_service=seconds)
    np.testing.assert_allclose(value, waits, rtol=1e-12)
