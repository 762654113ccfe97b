"""Poisson packets at one port, simulated so that the completion time is the wait plus known constants.

==================== ====== ================== ==== ====================
Quantity             Symbol Name               Unit Equation
==================== ====== ================== ==== ====================
wait at the port     W      `waits_s`          s    M/G/1, caps and repflow's queue
==================== ====== ================== ==== ====================

Every flow is one packet, so the window never holds one back and packets are open-loop. The NIC of host 0 is the queue;
all else is a thousand times faster.
"""

import numpy as np
import numpy.typing as npt

from capsim.fabric.kinds import Dumbbell
from capsim.fabric.traffic import Poisson
from capsim.fabric.wiring import LinkChange
from capsim.results import Result
from capsim.scenario import Scenario
from capsim.simulate import simulate
from capsmodel.service import Deterministic, Empirical

RATE_BPS, FAST_BPS, HEADER_BYTES = 1e9, 1e12, 40


def service_s(payload_bytes: tuple[int, ...]) -> tuple[float, ...]:
    """Return the time to send a packet of each payload at the port, in seconds."""
    return tuple(8 * (payload + HEADER_BYTES) / RATE_BPS for payload in payload_bytes)


def service_law(payload_bytes: tuple[int, ...]) -> Deterministic | Empirical:
    """Return the law of the service time, in seconds, of packets whose payloads are equally frequent."""
    times = service_s(payload_bytes)
    return Deterministic(times[0]) if len(times) == 1 else Empirical(times, (1 / len(times),) * len(times))


def simulated_port(payload_bytes: tuple[int, ...], *, load: float, packets: int, seed: int) -> Result:
    """Simulate Poisson packets of equally frequent payloads at one port.

    Parameters
    ----------
    payload_bytes : tuple of int
        Payloads, at most one segment each, in bytes.
    load : float
        Share of time that the port sends, in (0, 1).
    packets : int
        Packets of all payloads together.
    seed : int
        Seed of the run.
    """
    sizes = len(payload_bytes)
    per_s = load / service_law(payload_bytes).mean / sizes
    slow = LinkChange(between=("host0", "left"), one_way=True, rate_bps=RATE_BPS)
    traffic = tuple(
        Poisson(flow_bytes=size, pairs="sides", flows=packets // sizes, flows_per_s=per_s) for size in payload_bytes
    )
    fabric = Dumbbell(hosts_per_side=1, rate_bps=FAST_BPS, delay_s=0.0, links=(slow,))
    return simulate(Scenario(fabric=fabric, traffic=traffic, seed=seed))


def waits_s(result: Result, *, warm_up_ratio: float = 0.05) -> npt.NDArray[np.float64]:
    """Return the packets' waits at the port in the order of arrival, in seconds, without the warm-up."""
    flows = result.flows[int(len(result.flows) * warm_up_ratio) :]
    bits = 8 * (flows["flow_bytes"].to_numpy() + HEADER_BYTES)
    return np.asarray(flows["fct_s"].to_numpy() - bits / RATE_BPS - 2 * bits / FAST_BPS, np.float64)
