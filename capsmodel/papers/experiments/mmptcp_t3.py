"""MMPTCP Table 3: schemes at 2560 short flows a second on the 4:1 fat-tree of 512 hosts.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`). Goodput is the mean of long flows.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments._mmptcp import CELLS, cells, over

PLACE = "2560 flows a second"
AT = [PLACE]

STATEMENTS = {
    **cells("mmptcp-t3", ("PS", "PS_TCP", "TCP", "MMPTCP", "MPTCP"), CELLS, PLACE),
    **{f"mmptcp-s33-{name}": over(f"mmptcp-s33-{name}", AT, gap=True) for name in ("pstcp-gp", "pstcp-util")},
    **{
        f"mmptcp-s33-{name}": over(f"mmptcp-s33-{name}", AT)
        for name in ("pstcp-fct", "best-gp", "tcp-gp3", "tcp-loss3", "mm-fct3", "mm-sd3", "mm-util3")
    },
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the mix on the whole tree."""
    return shared.mix(shared.tree(4), run_s=settings["run_s"], **place)


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e05-t3",
    places={PLACE: {"flows_per_s": 2560.0}},
    sampled=(PLACE,),
    scenario=scenario,
    statements=STATEMENTS,
)
