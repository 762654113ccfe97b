"""Shared by the experiments of RepFlow: completion times in its unit, fat-tree, loads, names, and a small version.

A completion time of this paper is one over the best possible without contention (Section IV-A, "throughout this
paper"), which here is that on the idle fabric; the setting `fct_is` has it in seconds too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from capsim import Poisson, Scenario, load_scenario
from capsmodel.papers.experiments import PublishedExperiment, _common
from capsmodel.papers.index import read_claims
from capsmodel.papers.metric_columns import COLUMNS
from capsmodel.papers.statements import Statement

NAMES = {
    "TCP": "ecmp",
    "RepFlow": "repflow",
    "DCTCP": "dctcp",
    "RepFlow-DCTCP": "repflow_dctcp",
    "pFabric": "pfabric",
}
IN_SECONDS = {
    "mean_slowdown_short": "mean_fct_short_s",
    "p99_slowdown_short": "p99_fct_short_s",
    "mean_slowdown_long": "mean_fct_long_s",
    "mean_slowdown": "mean_fct_s",
}
"""Columns of completion times in seconds, by those of times over the best possible."""
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SAMPLED_LOADS = (0.2, 0.5, 0.8)
WEB, DATA = "websearch", "datamining"
INITIAL_WINDOW_BYTES = 12 * 1024
TRAFFIC_S = 0.5
"""Section V-A: half a second of traffic in each run."""
_REDUCED_PODS = 8
_SMALL_PODS, _SMALL_FLOWS = 4, 60


def over(claim_id: str, at: Sequence[str]) -> Statement:
    """Return the comparison that a claim names, at some places, with its column, which `adapted` looks up."""
    return _common.over(claim_id, at, names=NAMES, column=COLUMNS[read_claims()[claim_id].metric])


def adapted(statement: Statement, settings: Mapping[str, Any]) -> Statement:
    """Return the statement about completion times in the unit of the setting."""
    return replace(statement, column=IN_SECONDS[statement.column]) if settings["fct_is"] == "seconds" else statement


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
    PublishedExperiment,
    places=PLACES,
    sampled=SAMPLED,
    scenario=scenario,
    reduced=reduced,
    small=small,
    adapted=adapted,
)
