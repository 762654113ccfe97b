"""MMPTCP Fig. 10: Auto Subflow under the random matrix, on the 4:1 fat-tree of 512 hosts.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`); long flows under the random matrix too. The tail is the 99th
percentile. How many subflows there are by distance is the rule itself and not judged.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments._mmptcp import over

PLACE = "random matrix"


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the mix on the whole tree; rate and share of long flows are settings."""
    return shared.mix(
        shared.tree(4),
        flows_per_s=settings["traffic.flows_per_s"],
        run_s=settings["run_s"],
        long_share=settings["long_share"],
        pairs="random",
    )


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e15-autosub",
    places={PLACE: {}},
    sampled=(PLACE,),
    scenario=scenario,
    statements={claim: over(claim, [PLACE]) for claim in ("mmptcp-f10-tail", "mmptcp-f10c-gp")},
)
