"""Flows of one host that sends in turns, simulated so that its NIC is the only queue.

============================ ======== ======================= ==== ====================
Quantity                     Symbol   Name                    Unit Equation
============================ ======== ======================= ==== ====================
time that a flow needs alone x        `alone_s`               s    of all its packets
completion time over it      T / x    `slowdown_N`            1    M/G/1 under PS
============================ ======== ======================= ==== ====================

The NIC is a thousand times slower than the other links, which have no delay. It keeps all packets, windows hold whole
flows and timers never fire, so that a flow has all its packets at the NIC when it begins. The more packets a flow
has, the closer are turns of a packet to processor sharing.
"""

from collections.abc import Sequence

import numpy as np

from capsim import Dumbbell, LinkChange, Poisson, Result, Scenario, simulate
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements._packets import MSS_BYTES, PACKET_BYTES, require_nothing_lost
from capsmodel.papers.measurements.means import batch_columns

__all__ = ["processor_sharing"]

_RATE_BPS, _FAST_BPS = 1e9, 1e12
_PACKET_S = 8 * PACKET_BYTES / _RATE_BPS
_WARM_UP = 0.05
_NEVER_S = 4000.0
_WINDOW_BYTES = 2**30


def _simulated(segments: Sequence[int], *, nic: str, load: float, flows: int, seed: int) -> Result:
    per_s = load / (sum(segments) * _PACKET_S)
    traffic = tuple(
        Poisson(flow_bytes=count * MSS_BYTES, pairs="sides", flows=flows // len(segments), flows_per_s=per_s)
        for count in segments
    )
    slow = LinkChange(between=("host0", "left"), rate_bps=_RATE_BPS)
    fabric = Dumbbell(hosts_per_side=1, rate_bps=_FAST_BPS, delay_s=0.0, links=(slow,))
    window = {"initial_window_packets": max(segments), "max_window_bytes": _WINDOW_BYTES}
    params: dict[str, dict[str, bool | int | float | str]] = {
        "transport": {**window, "min_rto_s": _NEVER_S, "max_rto_s": _NEVER_S, "initial_rto_s": _NEVER_S}
    }
    scenario = Scenario(fabric=fabric, traffic=traffic, seed=seed, scheme="ecmp", params=params, end_s=_NEVER_S)
    return simulate(scenario.replace(nic=nic))


@measurement("processor-sharing", revision=1)
def processor_sharing(segments: Sequence[int], *, nic: str, load: float, flows: int, seed: int) -> dict[str, float]:
    """Measure the slowdown of flows of equally frequent sizes at the NIC of one host, size by size.

    Parameters
    ----------
    segments : sequence of int
        Sizes, in full segments.
    nic : str
        As in a scenario.
    load : float
        Share of time that the NIC sends, in (0, 1).
    flows : int
        Flows of all sizes together.
    seed : int
        Seed of the run.

    Returns
    -------
    dict
        `slowdown_N`, the mean of the completion time over the time alone of flows of N segments; with errors by batch
        means.

    Raises
    ------
    ParameterError
        If a packet is lost or sent twice.
    """
    result = _simulated(segments, nic=nic, load=load, flows=flows, seed=seed)
    require_nothing_lost(result, load=load)
    counted = result.flows[int(len(result.flows) * _WARM_UP) :]
    columns: dict[str, float] = {}
    for count in segments:
        of_size = counted[counted["flow_bytes"] == count * MSS_BYTES]
        slowdown = np.asarray(of_size["fct_s"] / (count * _PACKET_S), float)
        columns |= batch_columns(**{f"slowdown_{count}": slowdown})
    return columns
