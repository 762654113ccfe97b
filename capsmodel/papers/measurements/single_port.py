"""Poisson packets at one port, simulated so that the completion time is the wait plus known constants.

============================ ====== ======================= ==== ====================
Quantity                     Symbol Name                    Unit Equation
============================ ====== ======================= ==== ====================
wait at the port             W      `waits_s`               s    M/G/1, repflow Eq. 4
its mean and its tail        --     `port_waits`            s, 1 M/G/1
packets for a given error    n      `sufficient_packets`    1    see there
============================ ====== ======================= ==== ====================

Every flow is one packet, so no packet waits for the window and arrivals do not depend on earlier packets. The NIC of
host 0 is the queue; all other links are a thousand times faster.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np
import numpy.typing as npt
import scipy  # scipy.stats is loaded at its first use: it takes a third of the import of capsim

from capsim import Dumbbell, LinkChange, Poisson, Result, Scenario, simulate
from capsmodel.experiments.agreement import LEVEL, sufficient_standard_error
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements._packets import HEADER_BYTES, require_nothing_lost
from capsmodel.papers.measurements.means import BATCHES, batch_columns
from capsmodel.queueing.mg1 import mg1_mean_wait, mg1_second_moment_wait
from capsmodel.queueing.service import Deterministic, Empirical

__all__ = [
    "long_wait_s",
    "port_waits",
    "service_distribution",
    "simulated_port",
    "sufficient_packets",
    "wait_variance",
    "waits_s",
]

_WARM_UP = 0.05
RATE_BPS, FAST_BPS = 1e9, 1e12


def service_s(payload_bytes: Sequence[int]) -> tuple[float, ...]:
    """Return the time to send a packet of each payload at the port, in seconds."""
    return tuple(8 * (payload + HEADER_BYTES) / RATE_BPS for payload in payload_bytes)


def service_distribution(payload_bytes: Sequence[int]) -> Deterministic | Empirical:
    """Return the distribution of the service time, in seconds, of packets whose payloads are equally frequent."""
    times = service_s(payload_bytes)
    return Deterministic(times[0]) if len(times) == 1 else Empirical(times, (1 / len(times),) * len(times))


def simulated_port(
    payload_bytes: Sequence[int], *, load: float, packets: int, seed: int, engine: str = "compiled"
) -> Result:
    """Simulate Poisson packets of equally frequent payloads at one port.

    Parameters
    ----------
    payload_bytes : sequence of int
        Payloads, at most one segment each, in bytes.
    load : float
        Share of time that the port sends, in (0, 1).
    packets : int
        Packets of all payloads together.
    seed : int
        Seed of the run.
    engine : str
        ``compiled`` or ``reference``.
    """
    sizes = len(payload_bytes)
    per_s = load / service_distribution(payload_bytes).mean / sizes
    slow = LinkChange(between=("host0", "left"), one_way=True, rate_bps=RATE_BPS)
    traffic = tuple(
        Poisson(flow_bytes=size, pairs="sides", flows=packets // sizes, flows_per_s=per_s) for size in payload_bytes
    )
    fabric = Dumbbell(hosts_per_side=1, rate_bps=FAST_BPS, delay_s=0.0, links=(slow,))
    return simulate(Scenario(fabric=fabric, traffic=traffic, seed=seed), engine=engine, progress=None)


def waits_s(result: Result) -> npt.NDArray[np.float64]:
    """Return the packets' waits at the port in the order of arrival, in seconds, without the warm-up."""
    flows = result.flows[int(len(result.flows) * _WARM_UP) :]
    bits = 8 * (flows["flow_bytes"].to_numpy() + HEADER_BYTES)
    return np.asarray(flows["fct_s"].to_numpy() - bits / RATE_BPS - 2 * bits / FAST_BPS, np.float64)


@measurement("port-waits", revision=1)
def port_waits(payload_bytes: Sequence[int], *, load: float, packets: int, seed: int) -> dict[str, float]:
    """Measure the waits of :func:`simulated_port`.

    Parameters
    ----------
    payload_bytes, load, packets, seed
        As :func:`simulated_port`.

    Returns
    -------
    dict
        `wait_s`, the mean; `waited_prob`, the share with a wait above 0; `long_wait_prob`, the share that waits longer
        than two and a half of the longest packets; each with its error by batch means.

    Raises
    ------
    ParameterError
        If a packet is lost or sent twice.

    Notes
    -----
    The last threshold lies half-way between sums of service times, where the distribution function, that of a lattice,
    does not jump.
    """
    result = simulated_port(payload_bytes, load=load, packets=packets, seed=seed)
    require_nothing_lost(result, load=load)
    # Completion times are known to the picosecond, sums of them to less.
    waits = np.where(waits_s(result) > 1e-12, waits_s(result), 0.0)
    return batch_columns(wait_s=waits, waited_prob=waits > 0, long_wait_prob=waits > long_wait_s(payload_bytes))


def long_wait_s(payload_bytes: Sequence[int]) -> float:
    """Return the threshold of `long_wait_prob`, in seconds."""
    return 2.5 * max(service_s(payload_bytes)) - 1e-9


def wait_variance(load: float, *, service: Deterministic | Empirical) -> float:
    r"""Return n times the variance of the mean of n successive M/G/1 waits, for n large, in the unit of time squared.

    Parameters
    ----------
    load : float
        Load ρ, in [0, 1).
    service : Deterministic or Empirical
        Distribution of the service time.

    Notes
    -----
    For the virtual wait V the function :math:`h(v)=v^2/(2(1-\rho))` solves Poisson's equation, so the waits
    that Poisson arrivals see add up to a martingale whose step is
    :math:`\lambda(h(V+S)-h(V))+V-E[W]=V(1+aS)+aS^2/2-E[W]`, :math:`a=\lambda/(1-\rho)`; the variance is the mean
    square of a step. For packets of one size it is :math:`E[W^2]/(1-\rho)^2`.

    Examples
    --------
    >>> second = mg1_second_moment_wait(0.5, mean_service=1, second_moment_service=1, third_moment_service=1)
    >>> round(wait_variance(0.5, service=Deterministic(1)) / second, 9)
    4.0
    """
    moments = {"mean_service": service.mean, "second_moment_service": service.second_moment}
    mean = mg1_mean_wait(load, **moments)
    second = mg1_second_moment_wait(load, third_moment_service=service.third_moment, **moments)
    times, probs = service.atoms
    a = load / service.mean / (1 - load)
    slope, step = 1 + a * times, a * times**2 / 2 - mean
    return float(probs @ (second * slope**2 + 2 * mean * slope * step + step**2))


def sufficient_packets(payload_bytes: Sequence[int], *, load: float, detect_ratio: float) -> int:
    """Return how many packets :func:`port_waits` needs so that an error of the mean wait is found, known beforehand.

    Parameters
    ----------
    payload_bytes, load
        As :func:`simulated_port`.
    detect_ratio : float
        Error to be found over the mean wait, above 0.

    Returns
    -------
    int
        Packets with the warm-up. They also suffice when the measured standard error is by chance too large, at the
        level of :func:`~capsmodel.experiments.agreement.agreement`.

    Examples
    --------
    >>> [sufficient_packets((1460,), load=load, detect_ratio=0.1) for load in (0.3, 0.8)]
    [149098, 833814]
    """
    service, freedom = service_distribution(payload_bytes), BATCHES - 1
    mean_s = mg1_mean_wait(load, mean_service=service.mean, second_moment_service=service.second_moment)
    error_s = sufficient_standard_error(detect_ratio * mean_s, degrees_of_freedom=freedom)
    too_large = scipy.stats.chi2.isf(LEVEL, freedom) / freedom
    return ceil(wait_variance(load, service=service) / error_s**2 * too_large / (1 - _WARM_UP))
