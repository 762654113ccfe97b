"""RepFlow Fig. 9-12: completion times under data mining on a fat-tree of 1024 hosts.

Chosen: as repflow-ns3-ws.
"""

from capsmodel.papers.experiments import _repflow as shared
from capsmodel.papers.experiments._repflow import DATA, NAMES, WEB, over, places
from capsmodel.papers.statements import same_scheme

ALL = places(DATA)

STATEMENTS = {
    **{
        claim: over(claim, ALL)
        for claim in (
            "repflow-f9",
            "repflow-f9-tail",
            "repflow-f9c",
            "repflow-s5d-data-dctcp",
            "repflow-f10-data",
            *(f"repflow-f11-data-{name}" for name in ("dctcp", "repflow-dctcp", "pfabric", "rep", "near")),
            "repflow-s5d-data-pf",
            "repflow-f10b-pf",
        )
    },
    "repflow-s5d-dmws": same_scheme(
        NAMES.values(), zip(places(DATA), places(WEB), strict=True), column="mean_slowdown_short"
    ),
}

EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="repflow-e08-ns3-dm",
    statements=STATEMENTS,
)
