"""What the experiments of RepFlow on its fat-tree share: fabric, loads, names of schemes, and their small version."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from capsim import Poisson, Scenario, load_scenario
from capsmodel.papers.experiments import PublishedExperiment, _common

NAMES = {
    "TCP": "ecmp",
    "RepFlow": "repflow",
    "DCTCP": "dctcp",
    "RepFlow-DCTCP": "repflow_dctcp",
    "pFabric": "pfabric",
}
over = partial(_common.over, names=NAMES)
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SAMPLED_LOADS = (0.2, 0.5, 0.8)
WEB, DATA = "websearch", "datamining"
INITIAL_WINDOW_BYTES = 12 * 1024
TRAFFIC_S = 0.5
"""Section V-A: half a second of traffic in each run."""
_REDUCED_PODS = 8
_SMALL_PODS, _SMALL_FLOWS = 4, 60


def place_name(workload: str, load: float) -> str:
    """Return the name of a place."""
    return f"{workload} {load:g}"


def places(workload: str, loads: Sequence[float] = LOADS) -> list[str]:
    """Return the names of the places of a workload."""
    return [place_name(workload, load) for load in loads]


PLACES = {
    place_name(workload, load): {"workload": workload, "load": load} for workload in (WEB, DATA) for load in LOADS
}
"""All places, by name. Equal runs of two experiments are one run."""
SAMPLED = (*places(WEB, SAMPLED_LOADS), *places(DATA, SAMPLED_LOADS))


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return half a second of traffic on the fat-tree of 16 pods; the initial window stays 12 KB with any MSS."""
    base = load_scenario("repflow-fat-tree")
    mss_bytes = settings["mss_bytes"]
    window = {"mss_bytes": mss_bytes, "initial_window_packets": INITIAL_WINDOW_BYTES // mss_bytes}
    return base.replace(
        traffic=(Poisson(workload=place["workload"], load=place["load"], duration_s=TRAFFIC_S),),
        params={"transport": window},
        end_s=1000.0,
    )


def reduced(whole: Scenario) -> Scenario:
    """Return the same on 128 hosts: an eighth of the flows, at the same load."""
    return whole.replace(fabric=msgspec.structs.replace(whole.fabric, pods=_REDUCED_PODS))


def small(whole: Scenario) -> Scenario:
    """Return the same on 16 hosts with some dozen flows."""
    (traffic,) = whole.traffic
    return whole.replace(
        fabric=msgspec.structs.replace(whole.fabric, pods=_SMALL_PODS),
        traffic=(msgspec.structs.replace(traffic, flows=_SMALL_FLOWS, duration_s=None),),
    )


experiment = partial(
    PublishedExperiment, places=PLACES, sampled=SAMPLED, scenario=scenario, reduced=reduced, small=small
)
