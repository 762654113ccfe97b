"""MMPTCP Table 5 and Fig. 5: Limited Transmit on the 2:1 fat-tree of 256 hosts, 135 of them with long flows.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`).
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments._mmptcp import CELLS, cells, over
from capsmodel.papers.statements import levels

PLACE = "135 long flows"
LONG_SHARE = 135 / 256

STATEMENTS = {
    **cells("mmptcp-t5", ("MMPTCP",), CELLS, PLACE),
    **{f"mmptcp-t5-lt-{cell}": levels([shared.NAMES["MMPTCP_LT"]], [PLACE]) for cell in CELLS},
    **{f"mmptcp-{name}": over(f"mmptcp-{name}", [PLACE]) for name in ("s36-fct", "s36-sd", "s36-gp", "f5-fr", "f5-to")},
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the mix on the whole tree."""
    return shared.mix(shared.tree(2), flows_per_s=256.0, run_s=settings["run_s"], long_share=LONG_SHARE)


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e08-lt",
    places={PLACE: {}},
    sampled=(PLACE,),
    scenario=scenario,
    statements=STATEMENTS,
)
