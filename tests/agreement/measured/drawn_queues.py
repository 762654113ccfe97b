r"""Poisson packets at a switch with many equal ports, where DRILL(d, 0) takes the shortest of d queues drawn.

=============================== =============== ======================= =============
Quantity                        Symbol          Column                  Unit
=============================== =============== ======================= =============
wait at the port                :math:`E[W]`    ``wait_services``       service times
waits at all                    :math:`s_1^d`   ``waited_prob``         1
waits more than one, two times  :math:`s_2^d`   ``waited_1_prob``, ...  1
=============================== =============== ======================= =============

All packets have one size, so the service is constant, and the bytes that DRILL compares are numbers of packets. With i
packets at the port a packet waits for more than i - 1 service times and for i at most. Every flow is one packet, so
arrivals do not depend on earlier packets; links of hosts are a thousand times faster than the ports.
"""

import numpy as np

from capsim import ParallelPaths, Poisson, Result, Scenario, simulate
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements._packets import MSS_BYTES, PACKET_BYTES, require_nothing_lost
from capsmodel.papers.measurements.means import batch_columns

__all__ = ["drawn_queue_waits"]

_HOSTS = 8
_RATE_BPS, _FAST_BPS = 1e9, 1e12
_PACKET_BITS = 8 * PACKET_BYTES
_SERVICE_S = _PACKET_BITS / _RATE_BPS
_WARM_UP = 0.1


def _simulated(drawn: int, memories: int, load: float, ports: int, packets: int, seed: int, engine: str) -> Result:
    fabric = ParallelPaths(paths=ports, hosts_per_side=_HOSTS, rate_bps=_RATE_BPS, host_rate_bps=_FAST_BPS, delay_s=0.0)
    arrivals = Poisson(flow_bytes=MSS_BYTES, pairs="sides", flows=packets, flows_per_s=load * ports / _SERVICE_S)
    params: dict[str, dict[str, bool | int | float | str]] = {"balancer": {"samples": drawn, "memories": memories}}
    return simulate(
        Scenario(scheme="drill", fabric=fabric, traffic=(arrivals,), params=params, seed=seed), engine=engine
    )


@measurement("drawn-queue-waits", revision=1)
def drawn_queue_waits(
    drawn: int, *, load: float, ports: int, packets: int, seed: int, memories: int = 0, engine: str = "compiled"
) -> dict[str, float]:
    """Measure how long packets wait at the port that DRILL takes.

    Parameters
    ----------
    drawn, memories : int
        Queues that are drawn for each packet, d of DRILL(d, m), and remembered, m.
    load : float
        Share of time that a port sends, in (0, 1).
    ports, packets : int
        Ports of the switch, and packets over all of them.
    seed : int
        Seed of the run.
    engine : str
        ``compiled`` or ``reference``.

    Returns
    -------
    dict
        The columns above, up to ``waited_2_prob``; with errors by batch means, without the first tenth of the packets.

    Raises
    ------
    ParameterError
        If a packet is lost or sent twice.

    Examples
    --------
    >>> row = drawn_queue_waits(2, load=0.5, ports=20, packets=2000, seed=1, engine="reference")
    >>> 0.2 < row["waited_prob"] < 0.3  # 0.5 squared
    True
    """
    result = _simulated(drawn, memories, load, ports, packets, seed, engine)
    require_nothing_lost(result, load=load)
    flows = result.flows[int(packets * _WARM_UP) :]
    waits = (flows["fct_s"].to_numpy() - _SERVICE_S - 2 * _PACKET_BITS / _FAST_BPS) / _SERVICE_S
    # Waits at the links of hosts last some thousandths of a service time.
    later = {f"waited_{times}_prob": waits > times + 0.01 for times in (1, 2)}
    return batch_columns(wait_services=np.asarray(waits, float), waited_prob=waits > 0.01, **later)
