"""MMPTCP Fig. 7: switching thresholds, all flows with the sizes of a production data centre.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`), on the fat-tree with full bisection, as in the other
experiment of Section 3.7; thresholds of 100, 256, 512 and 1024 KB; no other flows. The points of the sizes, in
packets, are those of the authors' public ns-3 code. The tail is the 99th percentile.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Poisson, Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments import mmptcp_thr_uniform
from capsmodel.papers.statements import levels

PACKET_BYTES = 1400
SIZES = (
    (1, 0.5), (2, 0.6), (3, 0.7), (5, 0.75), (7, 0.8), (40, 0.8125), (72, 0.825), (137, 0.85), (267, 0.9), (1187, 0.95),
    (2107, 1.0),
)  # fmt: skip
"""Packets, and the share of flows with at most so many."""
PLACES = mmptcp_thr_uniform.PLACES


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return flows between all hosts; rate and pods are settings."""
    traffic = Poisson(
        pairs="permutation",
        common_partners=True,
        flows_per_s=settings["traffic.flows_per_s"],
        duration_s=settings["run_s"],
        flow_bytes_cdf=tuple((float(PACKET_BYTES * packets), share) for packets, share in SIZES),
    )
    tree = shared.tree(1, pods=settings["fabric.pods"])
    return shared.on_tree(tree, (traffic,), end_s=settings["run_s"] + shared.DRAIN_S)


EXPERIMENT = shared.experiment(
    reduced=None,  # all settings at the scale of the paper
    module=__name__,
    about=__doc__,
    id="mmptcp-e10-thr-benson",
    places=PLACES,
    sampled=tuple(PLACES),
    scenario=scenario,
    statements={"mmptcp-f7-tail": levels(["mmptcp"], list(PLACES))},
    parameters=mmptcp_thr_uniform.parameters,
)
