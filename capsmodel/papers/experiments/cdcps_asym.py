"""CDCPS Fig. 3: what a slower path does to spraying, over the ratio of the round trips.

Chosen: the preset ``cdcps-fat-tree``: the path over core 0 is the slow one, and the ratio is that of propagation alone.
All flows are counted, also those within a pod, which take no slow path. "Events" are runs of more than three duplicate
acknowledgements that reordering made and no loss, over all data packets. The window is the mean over every twentieth
flow of its mean while it lasts, sampled each 0.1 ms.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from capsim import LinkChange, Probes, Scenario, load_scenario
from capsim.study.measures import sprayed_run
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments._cdcps import trend

DEGREES = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
PLACES = {f"degree {degree:g}": {"degree": degree} for degree in DEGREES}
ALL = list(PLACES)
ROUND_TRIP_S, LINKS, UPPER_LINKS = 100e-6, 12, 4
"""Of a path between pods, there and back: propagation, all links, and those between aggregation and core switches."""
FLOWS, _SMALL_FLOWS = 1000, 40
_EVERY, _PROBE_PERIOD_S = 20, 1e-4

STATEMENTS = {
    "cdcps-f3a": trend("RPS", ALL),
    "cdcps-f3b": trend("RPS", ALL, column="cwnd_packets"),
    "cdcps-f3c": trend("RPS", ALL),
    "cdcps-f3d": trend("RPS", ALL),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the flows with one path slower by the degree of asymmetry."""
    base = load_scenario("cdcps-fat-tree")
    slow_s = ROUND_TRIP_S / LINKS + (place["degree"] - 1) * ROUND_TRIP_S / UPPER_LINKS
    fabric = msgspec.structs.replace(base.fabric, links=(LinkChange(between=("agg*", "core0"), delay_s=slow_s),))
    return _with_flows(base.replace(fabric=fabric, end_s=1000.0), FLOWS)


def _with_flows(whole: Scenario, count: int) -> Scenario:
    (traffic,) = whole.traffic
    fields, flows = ("sub.cwnd_bytes", "sub.inflation_bytes"), tuple(range(0, count, _EVERY))
    return whole.replace(
        traffic=(msgspec.structs.replace(traffic, flows=count),),
        probes=Probes(period_s=_PROBE_PERIOD_S, fields=fields, flows=flows),
    )


def small(whole: Scenario) -> Scenario:
    """Return the same with a few flows."""
    return _with_flows(whole, _SMALL_FLOWS)


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="cdcps-e01-asym",
    places=PLACES,
    sampled=(ALL[0], ALL[2], ALL[-1]),
    scenario=scenario,
    small=small,
    statements=STATEMENTS,
    measure=sprayed_run,
)
