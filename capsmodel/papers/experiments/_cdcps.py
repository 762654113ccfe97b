"""Shared by the experiments of CDCPS over load: fabric with a slow path, loads, names of schemes, small versions."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import msgspec

from capsim import LinkChange, Scenario, load_scenario
from capsim.study.measures import sprayed_run
from capsmodel.papers.experiments import PublishedExperiment, _common
from capsmodel.papers.statements import Statement

NAMES = {"RPS": "rps", "DRILL": "drill", "AG": "ag", "CDCPS": "cdcps"}
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SAMPLED_LOADS = (0.3, 0.6, 0.8)
over, trend = partial(_common.over, names=NAMES), partial(_common.trend, names=NAMES)
WEB, DATA = "websearch", "datamining"
FLOWS = {WEB: 2000, DATA: 1000}
"""Flows of a run: about 3.4 and 7.4 GB."""
LEAVES = 8
"""And as many spines."""
SLOW_LINK_S = 212.5e-6
"""One link that makes a way as slow as the two of the preset do: 200 us more in one direction (Section VI-A)."""
_SMALL_LEAVES, _SMALL, _SMALL_FLOWS = 2, {"hosts_per_leaf": 4, "spines": 2}, 60


def places(workload: str, loads: Sequence[float] = LOADS) -> list[str]:
    """Return the names of the places of a workload."""
    return [f"{workload} {load:g}" for load in loads]


def all_places(workload: str) -> dict[str, dict[str, Any]]:
    """Return the places of a workload by name."""
    return {name: {"workload": workload, "load": load} for name, load in zip(places(workload), LOADS, strict=True)}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return Poisson flows between hosts under different leaves; one of the eight paths of each pair is slow."""
    base = load_scenario("cdcps-asymmetric")
    (traffic,) = base.traffic
    links = base.fabric.links if settings["slow_path"] == "one spine" else _own_slow_paths()
    workload = place["workload"]
    return base.replace(
        fabric=msgspec.structs.replace(base.fabric, links=links),
        traffic=(msgspec.structs.replace(traffic, **place, flows=FLOWS[workload]),),
        end_s=1000.0,
    )


def _own_slow_paths() -> tuple[LinkChange, ...]:
    """Return links by which each leaf has a slow way up of its own, so that pairs of leaves differ in their slow path.

    From leaf i the way over spine i is slow, as many microseconds as over the one slow spine; the acknowledgements of
    leaf i come back over the slow way of the other leaf.
    """
    ends = [(f"leaf{number}", f"spine{number}") for number in range(LEAVES)]
    return tuple(LinkChange(between=between, one_way=True, delay_s=SLOW_LINK_S) for between in ends)


def small(whole: Scenario) -> Scenario:
    """Return the same on eight hosts with some dozen flows, none of them long."""
    return _on_leaves(_common.few_flows(whole, _SMALL_FLOWS, **_SMALL), _SMALL_LEAVES)


def _on_leaves(whole: Scenario, count: int) -> Scenario:
    """Return a scenario with the first leaves alone, and those slow links that they have."""
    there = [f"leaf{number}" for number in range(count)]
    links = tuple(link for link in whole.fabric.links if any(fnmatchcase(leaf, link.between[0]) for leaf in there))
    return whole.replace(fabric=msgspec.structs.replace(whole.fabric, leaves=count, links=links))


def panel(letter: str, workload: str) -> dict[str, Statement]:
    """Return the statements of Fig. 9 about reordering (panel a or b) by claim."""
    at = places(workload)
    return {
        f"cdcps-f9{letter}-zero": trend("CDCPS", at),
        **{f"cdcps-f9{letter}-{name.lower()}": trend(name, at) for name in ("RPS", "DRILL", "AG")},
        f"cdcps-f9{letter}-rpsworst": over(f"cdcps-f9{letter}-rpsworst", at),
    }


over_load = partial(PublishedExperiment, scenario=scenario, small=small, measure=sprayed_run)
