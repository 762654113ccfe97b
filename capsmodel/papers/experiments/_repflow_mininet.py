"""Shared by RepFlow's two experiments on Mininet: fabric, loads, flows, and their small version.

A fat-tree of four pods with links of 20 Mbps and 1 ms each way, 50 packets of buffer at each port, for hosts as for
switches. NewReno; the second copy of a short flow starts when its thread does, `replica_delay_s` after the first.
"""

from collections.abc import Mapping
from typing import Any

from capsim import FatTree, Poisson, Scenario
from capsmodel.papers.experiments._common import few_flows

LOADS = (0.1, 0.2, 0.3, 0.4, 0.5)
SAMPLED_LOADS = (0.1, 0.3, 0.5)
PODS, RATE_BPS, DELAY_S, BUFFER_PACKETS = 4, 20e6, 1e-3, 50
FLOWS = 1000
"""Of a run."""
_SMALL_FLOWS = 60


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return Poisson flows between random hosts."""
    fabric = FatTree(
        pods=PODS,
        rate_bps=RATE_BPS,
        delay_s=DELAY_S,
        buffer_packets=BUFFER_PACKETS,
        host_buffer_packets=BUFFER_PACKETS,
    )
    traffic = Poisson(workload=place["workload"], load=place["load"], flows=FLOWS)
    return Scenario(fabric=fabric, traffic=(traffic,), end_s=4500.0)


def small(whole: Scenario) -> Scenario:
    """Return the same with some dozen flows, none of them long, on 16 hosts also where it is on more."""
    return few_flows(whole, _SMALL_FLOWS, pods=PODS)
