"""RepFlow Fig. 13: web search on Mininet, a fat-tree of 16 hosts, over load.

Chosen: packets of the stated rates, delays and buffers in place of Mininet; load is that of the host links; 1000 flows
a run, all of them counted. The tail gain is the 99th percentile of short flows of TCP over that of RepFlow, and is
compared with that of repflow-ns3-ws in the setting of its text. By how much the second copy is late is an input here
and not judged.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import PublishedExperiment, _repflow
from capsmodel.papers.experiments import _repflow_mininet as shared
from capsmodel.papers.experiments._repflow import NAMES, WEB, over
from capsmodel.papers.settings import settings_of
from capsmodel.papers.statements import Comparison, Statement

MININET = {f"load {load:g}": {"workload": WEB, "load": load} for load in shared.LOADS}
NS3 = {
    f"load {load:g}, 1024 hosts": _repflow.PLACES[_repflow.place_name(WEB, load)] | {"ns3": True}
    for load in shared.LOADS
}
ALL = list(MININET)


def smaller_gain() -> Statement:
    """Return the tail gain on Mininet over that on the fabric of 1024 hosts."""
    tcp, repflow = NAMES["TCP"], NAMES["RepFlow"]
    return Statement(
        comparisons=tuple(
            Comparison(here, ((1, (tcp, here)), (-1, (repflow, here)), (-1, (tcp, there)), (1, (repflow, there))))
            for here, there in zip(MININET, NS3, strict=True)
        ),
        column="p99_slowdown_short",
    )


STATEMENTS = {
    **{claim: over(claim, ALL) for claim in ("repflow-f13a", "repflow-f13b", "repflow-f13c")},
    "repflow-s6-tail": smaller_gain(),
}


def _of_ns3() -> dict[str, Any]:
    """Return the settings of repflow-ns3-ws in its text, in which a second copy is not late."""
    return {name: one.values[0] for name, one in settings_of("repflow-e07-ns3-ws").items()}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the flows of a place, on Mininet's fabric or on that of repflow-ns3-ws."""
    return _repflow.scenario(place, _of_ns3()) if "ns3" in place else shared.scenario(place, settings)


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return what repflow-ns3-ws has in place of the settings of Mininet, so that its runs are the same ones."""
    if "ns3" not in place:
        return {}
    window = scenario(place, settings).params["transport"]["initial_window_packets"]
    return _of_ns3() | {"transport.initial_window_packets": window, "replica_delay_s": None}


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="repflow-e10-mn-ws",
    places=MININET | NS3,
    sampled=tuple(f"load {load:g}{fabric}" for load in shared.SAMPLED_LOADS for fabric in ("", ", 1024 hosts")),
    scenario=scenario,
    small=shared.small,
    statements=STATEMENTS,
    parameters=parameters,
    adapted=_repflow.adapted,
)
