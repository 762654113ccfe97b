"""CAPS Fig. 18: schemes on fat-trees of 4 to 12 pods at a load of 0.3.

Chosen: pairs in different pods, and load is that of the host links, since at full bisection all layers have the same;
2000 flows of the web search and 1000 of data mining, all of them counted. The round trip of 100 us is that of the six
links between pods, there and back. The figure's schemes are those that the text names.
"""

from collections.abc import Mapping
from typing import Any

from capsim import FatTree, Poisson, Scenario
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments._caps import adapted, over
from capsmodel.papers.experiments._common import few_flows

WORKLOADS = {"websearch": 2000, "datamining": 1000}
"""Flows of a run."""
PODS = (4, 8, 12)
LOAD, PROPAGATION_S, LINKS = 0.3, 100e-6, 6
PLACES = {
    f"{workload}, {pods} pods": {"workload": workload, "pods": pods, "flows": flows}
    for workload, flows in WORKLOADS.items()
    for pods in PODS
}
WEB, DATA = ([name for name, place in PLACES.items() if place["workload"] == workload] for workload in WORKLOADS)
_SMALL_FLOWS = 60

STATEMENTS = {
    "caps-f18a": over("caps-f18a", WEB),
    "caps-f18b-rps": over("caps-f18b-rps", WEB),
    "caps-f18b-flow": over("caps-f18b-flow", WEB),
    "caps-f18c": over("caps-f18c", DATA),
    "caps-f18d-rps": over("caps-f18d-rps", DATA),
    "caps-f18d-flow": over("caps-f18d-flow", DATA),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return Poisson flows between pods of a fat-tree, whose paths take 100 us there and back, or one way."""
    links = LINKS if settings["delay_is"] == "one way" else 2 * LINKS
    fabric = FatTree(pods=place["pods"], rate_bps=1e9, delay_s=PROPAGATION_S / links)
    traffic = Poisson(workload=place["workload"], load=LOAD, flows=place["flows"], pairs="other-pod")
    return Scenario(fabric=fabric, traffic=(traffic,), end_s=1000.0)


def small(whole: Scenario) -> Scenario:
    """Return the same on 16 hosts with some dozen flows, none of them long."""
    return few_flows(whole, _SMALL_FLOWS, pods=PODS[0])


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="caps-e20-fattree",
    places=PLACES,
    sampled=(WEB[0], WEB[-1], DATA[0]),
    scenario=scenario,
    small=small,
    statements=STATEMENTS,
    adapted=adapted,
)
