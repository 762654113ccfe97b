"""MMPTCP Fig. 1: MPTCP with more and more subflows.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`); 1, 2, 4 and 8 subflows. Goodput is judged on the tree with full
bisection and 128 hosts, completion times on the 4:1 tree with 512, in the order of the caption.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.statements import levels, same_scheme

COUNTS = (1, 2, 4, 8)
FULL, FOUR_TO_ONE = (
    {f"{count} subflows, {ratio}:1": {"subflows": count, "oversubscription": ratio} for count in COUNTS}
    for ratio in (1, 4)
)
SCHEME = "mptcp"

STATEMENTS = {
    "mmptcp-f1a-double": same_scheme([SCHEME], [(list(FULL)[-1], next(iter(FULL)))]),
    "mmptcp-f1a-n": levels([SCHEME], list(FULL)),
    **{f"mmptcp-f1b-{name}": levels([SCHEME], list(FOUR_TO_ONE)) for name in ("mean", "sd", "rto")},
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the mix on the tree of a place; the rate of short flows is a setting."""
    tree = shared.tree(place["oversubscription"])
    return shared.mix(tree, flows_per_s=settings["traffic.flows_per_s"], run_s=settings["run_s"])


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return those of all experiments, and the subflows of the place."""
    return shared.parameters(place, settings, scheme) | {"sharing.subflows": place["subflows"]}


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e01-subflows",
    places=FULL | FOUR_TO_ONE,
    sampled=(*FULL, *FOUR_TO_ONE),
    scenario=scenario,
    statements=STATEMENTS,
    parameters=parameters,
)
