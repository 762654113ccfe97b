"""Agreement: waits at one port under Poisson packets against M/D/1 and M/G/1.

Every flow is one packet, so the window never holds one back and packets are open-loop. The NIC of host 0 is the queue;
all else is a thousand times faster, so that the completion time is the wait plus known constants. Waits follow one
another closely, so standard errors are of batch means; the first twentieth of each run is warm-up.
"""

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm

from capsim.results import Result
from capsmodel.experiments.measurements.single_port import (
    FAST_BPS,
    HEADER_BYTES,
    RATE_BPS,
    service_law,
    service_s,
    simulated_port,
)
from capsmodel.experiments.measurements.single_port import waits_s as simulated_waits_s
from capsmodel.queueing import mg1_mean_wait, mg1_wait_prob
from capsmodel.service import Deterministic, Empirical

FAMILY_FALSE_ALARM = 1e-3
LOADS, MIXES = (0.5, 0.8), ("M/D/1", "M/G/1")
N_CHECKS = 3 * len(LOADS) * len(MIXES)
Z = float(norm.isf(FAMILY_FALSE_ALARM / (2 * N_CHECKS)))
FLOWS, BATCHES = 250_000, 40
PAYLOADS = {"M/D/1": (1460,), "M/G/1": (100, 1460)}  # equally frequent


def law(mix: str) -> Deterministic | Empirical:
    return service_law(PAYLOADS[mix])


@cache
def run(mix: str, load: float) -> Result:
    return simulated_port(PAYLOADS[mix], load=load, packets=FLOWS, seed=11)


def waits_s(mix: str, load: float) -> npt.NDArray[np.float64]:
    result = run(mix, load)
    assert result.summary.unfinished_flows == result.summary.timeouts == result.summary.packets_dropped == 0
    waits = simulated_waits_s(result)
    assert waits.min() > -1e-9
    return np.maximum(waits, 0.0)


def assert_agrees(samples: npt.NDArray[np.float64], model: float, *, detectable: float) -> None:
    """Two-sided, and powerful enough that a relative error of `detectable` in the model would fail."""
    batches = samples[: len(samples) // BATCHES * BATCHES].reshape(BATCHES, -1).mean(axis=1)
    standard_error = batches.std(ddof=1) / np.sqrt(BATCHES)
    assert Z * standard_error < detectable * model
    assert abs(samples.mean() - model) <= Z * standard_error


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("mix", MIXES)
def test_mean_wait(mix: str, load: float) -> None:
    service = law(mix)
    model_s = mg1_mean_wait(load, mean_service=service.mean, second_moment_service=service.second_moment)
    assert_agrees(waits_s(mix, load), model_s, detectable=0.1)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("mix", MIXES)
def test_probability_of_waiting_at_all(mix: str, load: float) -> None:
    assert_agrees((waits_s(mix, load) > 1e-12).astype(float), load, detectable=0.05)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("mix", MIXES)
def test_tail_of_the_wait(mix: str, load: float) -> None:
    """Half-way between two sums of service times, where the law of a lattice does not jump."""
    threshold_s = 2.5 * service_s(PAYLOADS[mix])[-1] - 1e-9
    model = mg1_wait_prob(threshold_s, load=load, service=law(mix))
    assert_agrees((waits_s(mix, load) > threshold_s).astype(float), model, detectable=0.25)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("mix", MIXES)
def test_mean_queue_obeys_littles_law(mix: str, load: float) -> None:
    """An identity of the counters: packets in the NIC on average = arrival rate times mean time in it."""
    result = run(mix, load)
    nic = result.ports.iloc[int(np.flatnonzero(result.ports["name"] == "host0>left")[0])]
    bits = 8 * (result.flows["flow_bytes"].to_numpy() + HEADER_BYTES)
    in_nic_s = result.flows["fct_s"].to_numpy() - 2 * bits / FAST_BPS
    expected = in_nic_s.sum() / result.resources.simulated_s
    assert nic["mean_queue_packets"] == pytest.approx(expected, rel=1e-6)
    assert nic["utilisation"] == pytest.approx(bits.sum() / RATE_BPS / result.resources.simulated_s, rel=1e-9)
