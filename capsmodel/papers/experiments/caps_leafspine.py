"""CAPS Fig. 17: schemes over load on a leaf-spine of 864 hosts.

Chosen: the preset ``caps-leaf-spine``: load is that of the leaf uplinks, since with equal links the fabric is 3:1
oversubscribed; 10 000 flows of either workload, of which those of the first 0.2 s are not counted (0.02 s with links of
10 Gbps, in which as many come): more seeds are run where they are too few. Claims without a load are judged at all of
them, from 0.1 to 0.8. "Significantly" is a tenth, as everywhere. Freeway is left out of the headline, as the text says.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from capsim import Poisson, Scenario, load_scenario
from capsmodel.experiments.words import SIGNIFICANTLY
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments._caps import NAMES, adapted, over
from capsmodel.papers.statements import same_scheme

LOADS = (0.1, 0.3, 0.5, 0.7, 0.8)
WORKLOADS = ("websearch", "datamining")
FLOWS = 10_000
PLACES = {
    f"{workload} {load:g}": {"workload": workload, "load": load, "flows": FLOWS}
    for workload in WORKLOADS
    for load in LOADS
}
WEB, DATA = ([name for name, place in PLACES.items() if place["workload"] == workload] for workload in WORKLOADS)
SAMPLED = tuple(name for name, place in PLACES.items() if place["load"] in (0.3, 0.8))
_RATE_BPS = 1e9
"""At which the preset's warm-up is meant."""
_REDUCED_LEAVES, _REDUCED_FLOWS = 8, {"websearch": 2500, "datamining": 1200}
"""As in the figure caps-fig17: all hosts and paths of a leaf, a third of the leaves."""
_SMALL = {"leaves": 2, "hosts_per_leaf": 6, "spines": 3}
_SMALL_FLOWS = 100

_PANELS = {"a": WEB, "b": WEB, "c": WEB, "d": DATA, "e": DATA, "f": DATA}
_BETTER = ("best", "freeway", "dark", "ecmppq", "rpspq")
SIZES = {"best": SIGNIFICANTLY[0], "caps": SIGNIFICANTLY[1]}
"""Of "significantly" for completion times and throughput: at most, and at least."""
_LONG = ("rps", "presto", "caps", "ecmppq", "rpspq", "dark")

STATEMENTS = {
    "caps-abs-afct": over("caps-abs-afct", [*WEB, *DATA]),
    **{f"caps-f17a-{name}": over(f"caps-f17a-{name}", WEB[1:]) for name in ("ecmp", "rps", "presto", "repflow")},
    **{
        f"caps-f17{panel}-{name}": over(f"caps-f17{panel}-{name}", places, size=SIZES.get(name))
        for panel, places in _PANELS.items()
        for name in (_LONG if panel in "cf" else _BETTER)
    },
    "caps-f17-dm-ws": same_scheme(NAMES.values(), zip(DATA, WEB, strict=True)),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the flows of a place on the whole fabric."""
    base = load_scenario("caps-leaf-spine")
    traffic = Poisson(**place, load_of="leaf-uplinks")
    warm_up_s = base.warm_up_s * _RATE_BPS / settings["fabric.rate_bps"]
    return base.replace(traffic=(traffic,), warm_up_s=warm_up_s, end_s=1000.0)


def reduced(whole: Scenario) -> Scenario:
    """Return the same on 8 of the 24 leaves, with fewer flows."""
    (traffic,) = whole.traffic
    assert isinstance(traffic, Poisson)
    assert traffic.workload is not None
    return whole.replace(
        fabric=msgspec.structs.replace(whole.fabric, leaves=_REDUCED_LEAVES),
        traffic=(msgspec.structs.replace(traffic, flows=_REDUCED_FLOWS[traffic.workload]),),
    )


def small(whole: Scenario) -> Scenario:
    """Return the same on 12 hosts with a hundred flows, all of them counted."""
    (traffic,) = whole.traffic
    return whole.replace(
        fabric=msgspec.structs.replace(whole.fabric, **_SMALL),
        traffic=(msgspec.structs.replace(traffic, flows=_SMALL_FLOWS),),
        warm_up_s=0.0,
    )


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="caps-e19-leafspine",
    places=PLACES,
    sampled=SAMPLED,
    scenario=scenario,
    reduced=reduced,
    small=small,
    statements=STATEMENTS,
    adapted=adapted,
)
