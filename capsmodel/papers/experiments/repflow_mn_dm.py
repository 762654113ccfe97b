"""RepFlow Fig. 14: data mining on Mininet, a fat-tree of 16 hosts, over load.

Chosen: as repflow-mn-ws.
"""

from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments import _repflow_mininet as shared
from capsmodel.papers.experiments._repflow import DATA, adapted, over

PLACES = {f"load {load:g}": {"workload": DATA, "load": load} for load in shared.LOADS}

EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="repflow-e11-mn-dm",
    places=PLACES,
    sampled=tuple(f"load {load:g}" for load in shared.SAMPLED_LOADS),
    scenario=shared.scenario,
    small=shared.small,
    statements={claim: over(claim, list(PLACES)) for claim in ("repflow-f14a", "repflow-f14b", "repflow-f14c")},
    adapted=adapted,
)
