"""CAPS Fig. 24: what coding adds to the traffic, in units of ten packets with a fixed number of repair packets.

Chosen: leaf-spines of 12 spines; load is that of the leaf uplinks; flows arrive for 0.1 s. Repair packets are r = 5
throughout, the most of the figure, at loads of 0.3 and 0.8, and the overhead is their share of all data packets that
are sent. Effective utilisation (Fig. 25) is not measured: over which time it is taken is not said.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from capsim import LeafSpine, Poisson, Scenario
from capsim.study.measures import coded_run
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments._caps import adapted
from capsmodel.papers.experiments._common import few_flows
from capsmodel.papers.statements import levels

K, R = 10, 5
LOADS = (0.3, 0.8)
WEB, DATA = ([f"{workload} {load:g}" for load in LOADS] for workload in ("websearch", "datamining"))
PLACES = {name: {"workload": name.split()[0], "load": float(name.split()[1])} for name in (*WEB, *DATA)}
LEAVES_AND_HOSTS = {"336": (12, 28), "864": (24, 36)}
"""Leaves, and hosts of each."""
ARRIVALS_S, NEVER_S = 0.1, 1e6
_REDUCED_LEAVES = 3
_SMALL = {"leaves": 2, "hosts_per_leaf": 4, "spines": 3}
_SMALL_FLOWS = 40

STATEMENTS = {
    "caps-f24-web": levels(["caps"], WEB, column="repair_share"),
    "caps-f24-data": levels(["caps"], DATA, column="repair_share"),
    "caps-f25-over": levels(["caps"], [*WEB, *DATA], column="repair_share"),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the flows of a place on a leaf-spine of 12 spines."""
    leaves, hosts = LEAVES_AND_HOSTS[settings["hosts_share"]]
    fabric = LeafSpine(leaves=leaves, hosts_per_leaf=hosts, spines=12, delay_s=12.5e-6)
    traffic = Poisson(**place, load_of="leaf-uplinks", duration_s=ARRIVALS_S)
    return Scenario(fabric=fabric, traffic=(traffic,), end_s=1000.0)


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return units of ten packets with r repair packets, of a blocking probability that is never updated.

    The sender derives r = ceil(k p / (1 - p)); this p gives it, whatever the rounding.
    """
    return {
        "layer.unit_size": "fixed",
        "layer.fixed_packets": K,
        "layer.initial_blocking_prob": (R - 0.5) / (K + R - 0.5),
        "layer.sampling_s": NEVER_S,
    }


def reduced(whole: Scenario) -> Scenario:
    """Return the same on a quarter or an eighth of the leaves, at the same load."""
    return whole.replace(fabric=msgspec.structs.replace(whole.fabric, leaves=_REDUCED_LEAVES))


def small(whole: Scenario) -> Scenario:
    """Return the same on eight hosts with some dozen flows, none of them long."""
    return few_flows(whole, _SMALL_FLOWS, **_SMALL)


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="caps-e24-overhead-sim",
    places=PLACES,
    sampled=(WEB[0], DATA[-1]),
    scenario=scenario,
    reduced=reduced,
    small=small,
    statements=STATEMENTS,
    adapted=adapted,
    measure=coded_run,
    parameters=parameters,
)
