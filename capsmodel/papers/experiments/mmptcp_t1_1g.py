"""MMPTCP Table 1, 1 Gbps: MPTCP and MMPTCP on the 4:1 fat-tree of 512 hosts with faster links.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`). "Five times larger" compares two gains and is not judged.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments._mmptcp import CELLS, cells, over

PLACE = "1 Gbps"
RATE_BPS = 1e9

STATEMENTS = {
    **cells("mmptcp-t1-1000", ("MPTCP", "MMPTCP"), CELLS, PLACE),
    "mmptcp-s32-1g": over("mmptcp-s32-1g", [PLACE]),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the mix on the whole tree."""
    return shared.mix(shared.tree(4, rate_bps=RATE_BPS), flows_per_s=256.0, run_s=settings["run_s"])


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e03-t1-1g",
    places={PLACE: {}},
    sampled=(PLACE,),
    scenario=scenario,
    statements=STATEMENTS,
)
