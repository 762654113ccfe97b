"""Rates of the exact waits: distinct loads (or waits) a second on one core."""

import numpy as np
import pytest

from capsmodel.fct.completion import tail_fct
from capsmodel.queueing.mg1 import mg1_wait_prob, mg1_wait_quantile
from capsmodel.queueing.service import Deterministic, Empirical, Erlang
from capsmodel.workloads.catalogue import load_workload

LOADS = np.linspace(0.01, 0.99, 1000)
SERVICES = {
    "deterministic": Deterministic(44),
    "two atoms": Empirical((11, 44), (0.75, 0.25)),
    "erlang": Erlang(4, 44),
}

pytestmark = pytest.mark.bench


def print_rate(benchmark, what, count):
    print(f"\n{what}: {count / benchmark.stats['mean']:,.0f} a second")


@pytest.mark.parametrize("kind", SERVICES)
def test_quantile_rate(benchmark, kind):
    benchmark(mg1_wait_quantile, 0.99, load=LOADS, service=SERVICES[kind])
    print_rate(benchmark, f"99th percentiles of the wait, {kind}", LOADS.size)


@pytest.mark.parametrize("kind", SERVICES)
def test_probability_rate(benchmark, kind):
    benchmark(mg1_wait_prob, np.linspace(0, 2000, 1000), load=0.8, service=SERVICES[kind])
    print_rate(benchmark, f"tails of the wait at one load, {kind}", 1000)


def test_tail_fct_rate(benchmark):
    sizes = load_workload("websearch").in_packets(1500)
    benchmark(tail_fct, LOADS, sizes=sizes, replicas=2, tail="exact")
    print_rate(benchmark, "exact tail completion times", LOADS.size)
