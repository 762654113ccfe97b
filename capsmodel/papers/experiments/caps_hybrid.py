"""CAPS Fig. 23: web search and data mining together on a leaf-spine of 336 hosts, over load.

Chosen: half of the load is of each; load is that of the leaf uplinks, since with equal links the fabric is 1.4:1
oversubscribed; flows arrive for 0.3 s and all are counted. The figure's schemes are those of Fig. 18, which the text
does not name here. Paths that short flows leave unused are not measured.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from capsim import LeafSpine, Poisson, Scenario
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments._caps import adapted, over
from capsmodel.papers.experiments._common import few_flows

LOADS = (0.1, 0.3, 0.5, 0.7, 0.8)
PLACES = {f"load {load:g}": {"load": load} for load in LOADS}
ALL = list(PLACES)
WORKLOADS = ("websearch", "datamining")
ARRIVALS_S = 0.3
_REDUCED_LEAVES = 3
_SMALL = {"leaves": 2, "hosts_per_leaf": 4, "spines": 3}
_SMALL_FLOWS = 40

STATEMENTS = {"caps-f23a": over("caps-f23a", ALL), "caps-f23b": over("caps-f23b", ALL)}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return flows of both workloads, half of the load each."""
    fabric = LeafSpine(leaves=12, hosts_per_leaf=28, spines=20, rate_bps=1e9, delay_s=12.5e-6)
    share = place["load"] / len(WORKLOADS)
    traffic = tuple(
        Poisson(workload=workload, load=share, load_of="leaf-uplinks", duration_s=ARRIVALS_S) for workload in WORKLOADS
    )
    return Scenario(fabric=fabric, traffic=traffic, end_s=1000.0)


def reduced(whole: Scenario) -> Scenario:
    """Return the same on a quarter of the leaves, at the same load."""
    return whole.replace(fabric=msgspec.structs.replace(whole.fabric, leaves=_REDUCED_LEAVES))


def small(whole: Scenario) -> Scenario:
    """Return the same on eight hosts with some dozen flows, none of them long."""
    return few_flows(whole, _SMALL_FLOWS, **_SMALL)


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="caps-e23-hybrid",
    places=PLACES,
    sampled=(ALL[1], ALL[-1]),
    scenario=scenario,
    reduced=reduced,
    small=small,
    statements=STATEMENTS,
    adapted=adapted,
)
