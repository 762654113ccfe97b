"""RepFlow Fig. 8 and 10-12: completion times under the web search on a fat-tree of 1024 hosts.

Chosen: loads are those of host links; at full bisection all links have the same. Short flows are those up to 100 KB,
all others are long, as the text divides them. Flows that start in the half second are followed to their end. Claims
about both workloads are judged at the loads of both, "most loads" at all of them. A gain is a ratio: the metric without
replication over that with it.
"""

import numpy as np

from capsmodel.fct.long_flows import mean_fct_long
from capsmodel.papers.closed_forms.repflow import REPLICATED, web_search
from capsmodel.papers.experiments import _repflow as shared
from capsmodel.papers.experiments._repflow import DATA, LOADS, NAMES, WEB, over, places
from capsmodel.papers.statements import Comparison, Statement, same_scheme

ALL = places(WEB)
LOW, HIGH = places(WEB, LOADS[:3]), places(WEB, LOADS[3:])
BOTH = [*ALL, *places(DATA)]


def gain(column: str) -> Statement:
    """Return how many times TCP's metric is RepFlow's, over the load of each workload."""
    return Statement(
        comparisons=tuple(
            Comparison(place, ((1, ("ecmp", place)), (-1, ("repflow", place))), series=workload)
            for workload in (WEB, DATA)
            for place in places(workload)
        ),
        column=column,
    )


def gain_on_dctcp() -> Statement:
    """Return the gain on DCTCP over the gain on TCP, in the mean of short flows."""
    signs = ((1, "dctcp"), (-1, "repflow_dctcp"), (-1, "ecmp"), (1, "repflow"))
    return Statement(
        comparisons=tuple(Comparison(place, tuple((sign, (name, place)) for sign, name in signs)) for place in BOTH),
        column="mean_slowdown_short",
        note="a gain is the mean time of short flows without replication over that with it",
    )


def over_model() -> Statement:
    """Return the growth of long flows' mean time by replication, over the one that the model of Section IV predicts."""
    sizes, loads = web_search(), np.array(LOADS)
    predicted = mean_fct_long(loads, sizes=sizes, **REPLICATED) / mean_fct_long(loads, sizes=sizes)
    return Statement(
        comparisons=tuple(
            Comparison(place, ((1, ("repflow", place)), (-1, ("ecmp", place))), added=-float(np.log(ratio)))
            for place, ratio in zip(ALL, predicted, strict=True)
        ),
        column="mean_slowdown_long",
    )


STATEMENTS = {
    **{claim: over(claim, BOTH) for claim in ("repflow-abs-mean", "repflow-abs-tail")},
    "repflow-f8c": over("repflow-f8c", ALL),
    "repflow-f8a": over("repflow-f8a", HIGH),
    "repflow-f8b-low": over("repflow-f8b-low", LOW),
    "repflow-f8b-high": over("repflow-f8b-high", HIGH),
    "repflow-s5c-tail": gain("p99_slowdown_short"),
    "repflow-s5c-mean": gain("mean_slowdown_short"),
    "repflow-s5c-long": same_scheme(
        NAMES.values(), zip(places(DATA), places(WEB), strict=True), column="mean_slowdown_long"
    ),
    "repflow-s5c-model": over_model(),
    "repflow-s5d-less": gain_on_dctcp(),
    **{
        claim: over(claim, ALL)
        for claim in (
            "repflow-s5d-web-dctcp",
            "repflow-f10-web",
            *(f"repflow-f11-web-{name}" for name in ("dctcp", "repflow-dctcp", "pfabric", "rep", "near")),
            "repflow-s5d-web-pf",
        )
    },
    **{claim: over(claim, BOTH) for claim in ("repflow-f12-tcp", "repflow-f12-dctcp", "repflow-f12-pf")},
}

EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="repflow-e07-ns3-ws",
    statements=STATEMENTS,
)
