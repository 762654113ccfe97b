"""Flows under pFabric at one link, simulated so that the link is the only queue.

============================ ======== ======================= ==== ====================
Quantity                     Symbol   Name                    Unit Equation
============================ ======== ======================= ==== ====================
time that a flow needs alone x        `flow_service`          s    of all its packets
completion time              T        `response_s`            s    M/G/1 under SRPT
over the time alone          T / x    `slowdown`              1    M/G/1 under SRPT
============================ ======== ======================= ==== ====================

All hosts of one side send to the other; the link between them is a thousand times slower than the rest and has no
delay. Ports keep all packets and timers never fire, so that a flow always has packets at the link: what is left of a
queue is one that serves the flow with the least left, but for the packet being sent, which is finished first.
"""

from collections.abc import Sequence

import numpy as np

from capsim import Dumbbell, LinkChange, Poisson, Result, Scenario, simulate
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements._packets import MSS_BYTES, PACKET_BYTES, require_nothing_lost
from capsmodel.papers.measurements.means import batch_columns
from capsmodel.queueing.service import Empirical

__all__ = ["flow_service", "shortest_remaining"]

_RATE_BPS, _FAST_BPS = 1e9, 1e12
_PACKET_BITS = 8 * PACKET_BYTES
_WARM_UP = 0.05
_NEVER_S = 4000.0
_BUFFER_BYTES = 2**40


def flow_service(segments: Sequence[int]) -> Empirical:
    """Return the distribution of the time that flows of equally frequent sizes need at the link, in seconds."""
    packet_s = _PACKET_BITS / _RATE_BPS
    return Empirical(tuple(count * packet_s for count in segments), (1 / len(segments),) * len(segments))


def _simulated(segments: Sequence[int], *, load: float, flows: int, seed: int) -> Result:
    per_s = load / flow_service(segments).mean / len(segments)
    slow = LinkChange(between=("left", "right"), rate_bps=_RATE_BPS)
    traffic = tuple(
        Poisson(flow_bytes=count * MSS_BYTES, pairs="sides", flows=flows // len(segments), flows_per_s=per_s)
        for count in segments
    )
    fabric = Dumbbell(hosts_per_side=8, rate_bps=_FAST_BPS, delay_s=0.0, links=(slow,))
    params: dict[str, dict[str, bool | int | float | str]] = {
        "transport": {"rto_s": _NEVER_S},
        "queue": {"buffer_bytes": _BUFFER_BYTES},
    }
    scenario = Scenario(fabric=fabric, traffic=traffic, seed=seed, scheme="pfabric", params=params, end_s=_NEVER_S)
    return simulate(scenario)


@measurement("shortest-remaining", revision=1)
def shortest_remaining(segments: Sequence[int], *, load: float, flows: int, seed: int) -> dict[str, float]:
    """Measure the completion times of flows of equally frequent sizes under pFabric at one link.

    Parameters
    ----------
    segments : sequence of int
        Sizes, in full segments.
    load : float
        Share of time that the link sends, in (0, 1).
    flows : int
        Flows of all sizes together.
    seed : int
        Seed of the run.

    Returns
    -------
    dict
        `response_s`, the mean completion time, and `slowdown`, the mean of the completion time over the time that a
        flow needs alone; with errors by batch means.

    Raises
    ------
    ParameterError
        If a packet is lost or sent twice.
    """
    result = _simulated(segments, load=load, flows=flows, seed=seed)
    require_nothing_lost(result, load=load)
    counted = result.flows[int(len(result.flows) * _WARM_UP) :]
    response_s = counted["fct_s"].to_numpy()
    alone_s = counted["flow_bytes"].to_numpy() / MSS_BYTES * _PACKET_BITS / _RATE_BPS
    return batch_columns(response_s=np.asarray(response_s, float), slowdown=response_s / alone_s)
