"""Identities of the shortest of several independent waits."""

import numpy as np
import pytest
from scipy.integrate import simpson

from capsmodel.checks import ParameterError
from capsmodel.fct.replication import mean_shortest_wait
from capsmodel.queueing.mg1 import mg1_mean_wait, mg1_wait_prob
from capsmodel.queueing.service import Deterministic, Empirical

pytestmark = pytest.mark.agreement

LOADS = np.array([1e-6, 0.01, 0.1, 0.3, 0.5, 0.8, 0.95, 0.999, 0.9999, 1 - 1e-6, 1 - 1e-9])
FIXED, MIXED, UNEVEN = Deterministic(44.0), Empirical((12.0, 44.0), (0.2, 0.8)), Empirical((1, 44), (0.75, 0.25))


@pytest.mark.parametrize("service", [FIXED, MIXED, UNEVEN])
def test_one_queue_is_pollaczek_and_khinchine(service):
    exact = mg1_mean_wait(LOADS, mean_service=service.mean, second_moment_service=service.second_moment)
    assert mean_shortest_wait(LOADS, service=service, replicas=1) == pytest.approx(exact, rel=1e-12)


def test_two_queues_of_fixed_service_have_a_closed_form():
    exact = 44 * LOADS**2 * (4 - LOADS) / (12 * (1 - LOADS))
    assert mean_shortest_wait(LOADS, service=FIXED) == pytest.approx(exact, rel=1e-12)
    usual = LOADS <= 0.999  # nearer to 1 the square of the load, a float64, is another load
    loads, exact = LOADS[usual], exact[usual]
    virtual = mg1_mean_wait(loads**2, mean_service=44, second_moment_service=44**2)
    assert virtual / exact == pytest.approx(6 / (6 - (1 - loads) * (2 - loads)), rel=1e-12)


@pytest.mark.parametrize("replicas", [2, 3])
def test_mixed_service_by_another_integration(replicas):
    grid = np.linspace(0, 800, 200 * 40 + 1)  # 40 intervals between neighbouring kinks
    other = simpson(mg1_wait_prob(grid, load=0.4, service=MIXED) ** replicas, x=grid)
    assert mean_shortest_wait(0.4, service=MIXED, replicas=replicas) == pytest.approx(other, rel=1e-8)


def test_shapes_and_edges():
    assert type(mean_shortest_wait(0.5, service=FIXED)) is float
    assert mean_shortest_wait(np.full((2, 3), 0.5), service=FIXED).shape == (2, 3)
    assert mean_shortest_wait(0.0, service=FIXED) == 0
    with pytest.raises(ParameterError, match="load = 1"):
        mean_shortest_wait(1.0, service=FIXED)
    with pytest.raises(ParameterError, match="replicas = 0"):
        mean_shortest_wait(0.5, service=FIXED, replicas=0)
